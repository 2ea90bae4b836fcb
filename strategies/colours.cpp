// SPDX-License-Identifier: Apache-2.0
#include "strategies/colours.hpp"

#include <algorithm>
#include <span>

namespace strategies {
namespace {

using Colour = Colours::Colour;

// Numbers equal keys alike, in order of first appearance. Open addressing over one arena.
class Numbering {
 public:
  explicit Numbering(std::size_t most) {
    std::size_t size = 16;
    while (size < 2 * most) size *= 2;
    slots_.assign(size, none);
  }

  Colour operator()(std::span<const std::uint64_t> key) {
    std::uint64_t hash = key.size();
    for (const auto word : key) {
      hash = (hash ^ word) * 0x9e3779b97f4a7c15;
      hash ^= hash >> 29;
    }
    for (auto slot = hash & (slots_.size() - 1);; slot = (slot + 1) & (slots_.size() - 1)) {
      if (slots_[slot] == none) {
        slots_[slot] = static_cast<Colour>(ends_.size());
        words_.insert(words_.end(), key.begin(), key.end());
        ends_.push_back(words_.size());
        return slots_[slot];
      }
      if (std::ranges::equal(key, key_of(slots_[slot]))) return slots_[slot];
    }
  }
  std::size_t size() const { return ends_.size(); }

 private:
  static constexpr Colour none = 0xffffffffu;
  std::span<const std::uint64_t> key_of(Colour colour) const {
    const std::size_t begin = colour == 0 ? 0 : ends_[colour - 1];
    return {words_.data() + begin, ends_[colour] - begin};
  }
  std::vector<Colour> slots_;
  std::vector<std::uint64_t> words_;
  std::vector<std::size_t> ends_;
};

}  // namespace

Colours::Vertex Colours::add(std::initializer_list<std::uint64_t> key) {
  keys_.insert(keys_.end(), key.begin(), key.end());
  key_ends_.push_back(static_cast<std::uint32_t>(keys_.size()));
  return static_cast<Vertex>(key_ends_.size() - 1);
}

void Colours::join(Vertex a, Vertex b, std::uint32_t forth, std::uint32_t back) {
  edges_.push_back({a, b, forth});
  edges_.push_back({b, a, back});
}

std::vector<Colour> Colours::stable() const {
  const auto count = key_ends_.size();
  std::vector<std::uint32_t> first(count + 1, 0);
  for (const auto& edge : edges_) ++first[edge.from + 1];
  for (std::size_t v = 0; v < count; ++v) first[v + 1] += first[v];
  std::vector<std::pair<std::uint32_t, Vertex>> neighbours(edges_.size());
  auto place = first;
  for (const auto& edge : edges_) neighbours[place[edge.from]++] = {edge.kind, edge.to};

  std::vector<Colour> colours(count), refined(count);
  std::size_t known = 0;
  {
    Numbering numbering(count);
    for (std::size_t v = 0; v < count; ++v) {
      const std::size_t begin = v == 0 ? 0 : key_ends_[v - 1];
      colours[v] = numbering({keys_.data() + begin, key_ends_[v] - begin});
    }
    known = numbering.size();
  }
  std::vector<std::uint64_t> key;
  for (;;) {
    Numbering numbering(count);
    for (std::size_t v = 0; v < count; ++v) {
      const std::span edges(neighbours.begin() + first[v], neighbours.begin() + first[v + 1]);
      key.resize(1 + edges.size());
      key.front() = colours[v];
      std::ranges::transform(edges, key.begin() + 1, [&](const auto& edge) {
        return std::uint64_t{edge.first} << 32 | colours[edge.second];
      });
      std::sort(key.begin() + 1, key.end());
      refined[v] = numbering(key);
    }
    colours.swap(refined);
    if (numbering.size() == known) return colours;
    known = numbering.size();
  }
}

}  // namespace strategies

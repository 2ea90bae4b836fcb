// SPDX-License-Identifier: Apache-2.0
// Equal paths have one number (private to flows.cpp).
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/flows/flow.hpp"

namespace sim {

// uses: by link, none twice.
inline std::uint64_t path_hash(std::span<const LinkUse> uses, std::int64_t cap) {
  const auto mix = [](std::uint64_t hash, std::uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;  // 2^64 over the golden ratio
    return hash ^ (hash >> 29);
  };
  auto hash = mix(uses.size(), static_cast<std::uint64_t>(cap));
  for (const auto& use : uses) hash = mix(hash, (std::uint64_t{use.link} << 32) | use.times);
  return hash;
}

// A hash table of numbers, which are given in order of first sight.
class PathTable {
 public:
  // The number of the path with this hash for which same(number) holds; a new one if there is none.
  template <class Same>
  std::uint32_t number(std::uint64_t hash, Same same) {
    if (2 * hashes_.size() >= slots_.size()) make_room(2 * hashes_.size());
    auto slot = hash & (slots_.size() - 1);
    for (; slots_[slot] != vacant; slot = (slot + 1) & (slots_.size() - 1))
      if (hashes_[slots_[slot]] == hash && same(slots_[slot])) return slots_[slot];
    slots_[slot] = static_cast<std::uint32_t>(hashes_.size());
    hashes_.push_back(hash);
    return slots_[slot];
  }

  // Makes room for at least `numbers` more numbers.
  void make_room(std::size_t numbers) {
    numbers = std::max(numbers, hashes_.size());
    hashes_.reserve(numbers);
    slots_.assign(std::bit_ceil(std::max<std::size_t>(64, 2 * numbers + 1)), vacant);
    for (std::size_t p = 0; p < hashes_.size(); ++p) {
      auto slot = hashes_[p] & (slots_.size() - 1);
      while (slots_[slot] != vacant) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = static_cast<std::uint32_t>(p);
    }
  }

 private:
  static constexpr std::uint32_t vacant = 0xffffffffu;

  std::vector<std::uint64_t> hashes_;  // by number
  std::vector<std::uint32_t> slots_;   // open addressing; a power of two
};

}  // namespace sim

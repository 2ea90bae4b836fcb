// SPDX-License-Identifier: Apache-2.0
#include "search/solvers/frontier.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>

namespace search {

namespace {

Price together(const Price& a, const Price& b) {
  return {a.kept + b.kept, a.forward + b.forward, a.backward + b.backward, a.weight + b.weight,
          std::max(a.transient, b.transient)};
}

constexpr std::array<std::int64_t Price::*, 4> beside_kept{&Price::forward, &Price::backward,
                                                           &Price::weight, &Price::transient};

// The coordinates that differ at all, beside `kept`.
template <class Candidates>
std::vector<std::int64_t Price::*> differing(const Candidates& candidates) {
  std::vector<std::int64_t Price::*> found;
  for (const auto coordinate : beside_kept)
    if (std::ranges::any_of(candidates, [&](const auto& candidate) {
          return candidate.price.*coordinate != candidates.front().price.*coordinate;
        }))
      found.push_back(coordinate);
  return found;
}

// The lower left border of points in the plane: x ascending, y descending.
class Staircase {
 public:
  // Whether a point before is nowhere above (x, y).
  bool covers(std::int64_t x, std::int64_t y) const {
    const auto above = std::ranges::upper_bound(steps_, x, {}, &Step::x);
    return above != steps_.begin() && std::prev(above)->y <= y;
  }
  // Takes (x, y) in; false if it is covered.
  bool take(std::int64_t x, std::int64_t y) {
    if (covers(x, y)) return false;
    const auto first = std::ranges::lower_bound(steps_, x, {}, &Step::x);
    const auto last = std::find_if(first, steps_.end(), [y](const Step& s) { return s.y < y; });
    steps_.insert(steps_.erase(first, last), {x, y});
    return true;
  }

 private:
  struct Step {
    std::int64_t x, y;
  };
  std::vector<Step> steps_;
};

// One staircase for each value of a third coordinate, of which there are few.
class Staircases {
 public:
  bool take(std::int64_t level, std::int64_t x, std::int64_t y) {
    for (const auto& [lower, stairs] : levels_) {
      if (lower > level) break;
      if (stairs.covers(x, y)) return false;
    }
    return levels_[level].take(x, y);
  }

 private:
  std::map<std::int64_t, Staircase> levels_;
};

// Puts the coordinate with the fewest values first of three.
template <class Candidates>
void begin_with_fewest_values(const Candidates& candidates,
                              std::vector<std::int64_t Price::*>& three) {
  const auto values = [&](std::int64_t Price::*coordinate) {
    std::set<std::int64_t> all;
    for (const auto& candidate : candidates) all.insert(candidate.price.*coordinate);
    return all.size();
  };
  std::ranges::stable_sort(three, {}, values);
}

}  // namespace

// Keeps the points that no other is no_worse than. In ascending order only a point before can be no
// worse: `kept` needs no comparison.
void Frontiers::prune(std::vector<Candidate>& sorted) const {
  if (sorted.empty()) return;
  auto differ = differing(sorted);
  std::size_t size = 0;
  const auto keep_if = [&](auto stays) {
    for (const auto& candidate : sorted) {
      if (stop_ != nullptr && stop_->load(std::memory_order_relaxed)) throw Stopped{};
      if (stays(candidate.price)) sorted[size++] = candidate;
    }
  };
  Staircase stairs;
  Staircases levels;
  switch (differ.size()) {
    case 0:
      size = 1;
      break;
    case 1:
      keep_if([&](const Price& price) {
        return size == 0 || price.*differ[0] < sorted[size - 1].price.*differ[0];
      });
      break;
    case 2:
      keep_if([&](const Price& price) { return stairs.take(price.*differ[0], price.*differ[1]); });
      break;
    case 3:
      begin_with_fewest_values(sorted, differ);
      keep_if([&](const Price& price) {
        return levels.take(price.*differ[0], price.*differ[1], price.*differ[2]);
      });
      break;
    default:
      keep_if([&](const Price& price) {
        return std::none_of(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(size),
                            [&](const Candidate& other) { return no_worse(other.price, price); });
      });
  }
  sorted.resize(size);
}

// Sums of the points begin … end − 1 of the shorter list, each with every point of the longer: runs
// that are in order already, merged two and two, and pruned before they grow.
std::vector<Frontiers::Candidate> Frontiers::sums(std::span<const Price> longer,
                                                  std::span<const Price> shorter, std::size_t begin,
                                                  std::size_t end) const {
  std::vector<Candidate> result;
  if (end - begin == 1) {
    result.reserve(longer.size());
    for (std::uint32_t i = 0; i < longer.size(); ++i)
      result.push_back(
          {together(longer[i], shorter[begin]), {i, static_cast<std::uint32_t>(begin)}});
    return result;
  }
  const auto middle = begin + (end - begin) / 2;
  const auto low = sums(longer, shorter, begin, middle), high = sums(longer, shorter, middle, end);
  result.reserve(low.size() + high.size());
  std::ranges::merge(low, high, std::back_inserter(result), {}, &Candidate::price,
                     &Candidate::price);
  prune(result);
  return result;
}

FrontierId Frontiers::add(Node node, std::vector<Candidate> pruned) {
  for (const auto& candidate : pruned) {
    node.points.push_back(candidate.price);
    node.origins.push_back(candidate.origin);
  }
  node.backward_only = std::ranges::all_of(node.points, [&](const Price& price) {
    const auto& first = node.points.front();
    return price.forward == first.forward && price.weight == first.weight &&
           price.transient == first.transient;
  });
  nodes_.push_back(std::move(node));
  return FrontierId(nodes_.size() - 1);
}

FrontierId Frontiers::of(std::span<const Price> options, int layers) {
  std::vector<Candidate> candidates;
  for (std::uint32_t i = 0; i < options.size(); ++i) candidates.push_back({options[i], {i, 0}});
  std::ranges::stable_sort(candidates, {}, &Candidate::price);
  prune(candidates);
  return add({.layers = layers}, std::move(candidates));
}

FrontierId Frontiers::nothing() {
  Node none{.kind = Kind::either};
  none.points.push_back({});
  none.origins.push_back({});
  nodes_.push_back(std::move(none));
  return FrontierId(nodes_.size() - 1);
}

FrontierId Frontiers::sum(FrontierId first, FrontierId second) {
  const auto a = points(first), b = points(second);
  std::vector<Candidate> candidates;
  if (!a.empty() && !b.empty()) {
    const bool turned = a.size() < b.size();
    candidates = turned ? sums(b, a, 0, a.size()) : sums(a, b, 0, b.size());
    if (turned)
      for (auto& candidate : candidates) std::swap(candidate.origin.first, candidate.origin.second);
    prune(candidates);
  }
  return add({.kind = Kind::sum, .parts = {first, second}}, std::move(candidates));
}

FrontierId Frontiers::either(std::span<const FrontierId> ways) {
  std::vector<Candidate> candidates;
  for (std::uint32_t way = 0; way < ways.size(); ++way) {
    const auto list = points(ways[way]);
    for (std::uint32_t i = 0; i < list.size(); ++i) candidates.push_back({list[i], {way, i}});
  }
  std::ranges::stable_sort(candidates, {}, &Candidate::price);
  prune(candidates);
  return add({.kind = Kind::either, .parts = {ways.begin(), ways.end()}}, std::move(candidates));
}

std::size_t Frontiers::within(FrontierId id, ByteCount kept) const {
  const auto list = points(id);
  return static_cast<std::size_t>(std::ranges::upper_bound(list, kept, {}, &Price::kept) -
                                  list.begin());
}

std::vector<Choice> Frontiers::choices(FrontierId id, std::size_t point) const {
  std::vector<Choice> result;
  struct Visit {
    FrontierId id;
    std::size_t point;
  };
  for (std::vector<Visit> open{{id, point}}; !open.empty();) {
    const auto visit = open.back();
    open.pop_back();
    const auto& at = node(visit.id);
    const auto origin = at.origins[visit.point];
    switch (at.kind) {
      case Kind::options:
        result.push_back({at.layers, static_cast<int>(origin.first)});
        break;
      case Kind::sum:
        open.push_back({at.parts[1], origin.second});
        open.push_back({at.parts[0], origin.first});
        break;
      case Kind::either:
        if (!at.parts.empty()) open.push_back({at.parts[origin.first], origin.second});
        break;
    }
  }
  return result;
}

}  // namespace search

// SPDX-License-Identifier: Apache-2.0
// Links in the order in which rising water reaches them (private to water_levels.hpp).
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

namespace sim {

// A radix heap (Ahuja, Mehlhorn, Orlin and Tarjan, 1990): the water never falls, so an entry waits
// with those whose level first differs from the water's in the same bit, unsorted until the water
// comes near. Adding is O(1), and entries that were overtaken by a sooner one cost almost nothing.
// Equal levels leave in an order that depends only on the calls made.
class RisingQueue {
 public:
  using Level = std::int64_t;  // >= 0
  static constexpr Level never = std::numeric_limits<Level>::max();
  struct Entry {
    Level level;
    std::uint32_t link;
  };

  Level water() const { return water_; }
  // Adds an entry. `level` is not before water().
  void add(Level level, std::uint32_t link) {
    const auto b = bucket(level);
    buckets_[b].push_back({level, link});
    soonest_[b] = std::min(soonest_[b], level);
    filled_ |= std::uint64_t{1} << b;
  }
  // The level of the soonest entry; `never` without entries.
  Level next() const { return filled_ == 0 ? never : soonest_[first()]; }

  // Takes the next entry for which valid(entry) holds, and raises the water to it. Entries that are
  // no longer valid disappear. False, and the water at zero, when there is none.
  template <class Valid>
  bool take(Entry& entry, Valid valid) {
    while (filled_ != 0) {
      auto& bucket = buckets_[first()];
      if (first() > 0) {
        spread(bucket, valid);
        continue;
      }
      entry = bucket.back();
      bucket.pop_back();
      if (bucket.empty()) forget(0);
      if (valid(entry)) return true;
    }
    water_ = 0;
    return false;
  }

 private:
  std::size_t first() const { return static_cast<std::size_t>(std::countr_zero(filled_)); }
  std::size_t bucket(Level level) const {
    return static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(level ^ water_)));
  }
  void forget(std::size_t b) {
    filled_ &= ~(std::uint64_t{1} << b);
    soonest_[b] = never;
  }

  // Raises the water to the bucket's first valid entry; the others move to nearer buckets.
  template <class Valid>
  void spread(std::vector<Entry>& bucket, Valid valid) {
    std::erase_if(bucket, [&](const Entry& entry) { return !valid(entry); });
    forget(first());
    if (bucket.empty()) return;
    water_ = std::ranges::min_element(bucket, {}, &Entry::level)->level;
    for (const auto& entry : bucket) add(entry.level, entry.link);
    bucket.clear();
  }

  static std::array<Level, 64> all_never() {
    std::array<Level, 64> levels;
    levels.fill(never);
    return levels;
  }

  Level water_ = 0;
  std::uint64_t filled_ = 0;  // bit b: bucket b has entries
  std::array<std::vector<Entry>, 64> buckets_;
  std::array<Level, 64> soonest_ = all_never();
};

}  // namespace sim

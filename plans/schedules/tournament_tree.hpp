// SPDX-License-Identifier: Apache-2.0
// Private to the room: the least of a few values that change one at a time.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace strategies {

// A tournament tree: leaves in pairs, each pair's lesser value above it, up to the least of all in
// [1].
class TournamentTree {
 public:
  explicit TournamentTree(std::size_t size)
      : leaves_(std::bit_ceil(size)),
        least_(2 * leaves_, std::numeric_limits<std::int64_t>::max()) {
    for (std::size_t i = 0; i < size; ++i) set(i, 0);
  }
  std::int64_t operator[](std::size_t i) const { return least_[leaves_ + i]; }
  std::int64_t least() const { return least_[1]; }
  // The position of the least value, the first one among equals. O(log size)
  std::size_t first() const {
    std::size_t node = 1;
    while (node < leaves_) node = 2 * node + (least_[2 * node] == least_[node] ? 0 : 1);
    return node - leaves_;
  }
  // O(log size).
  void set(std::size_t i, std::int64_t value) {
    auto node = leaves_ + i;
    for (least_[node] = value; node > 1;) {
      node /= 2;
      const auto least = std::min(least_[2 * node], least_[2 * node + 1]);
      if (least_[node] == least) return;  // nor does anything above it change
      least_[node] = least;
    }
  }

 private:
  std::size_t leaves_;
  std::vector<std::int64_t> least_;
};

}  // namespace strategies

// SPDX-License-Identifier: Apache-2.0
// Private to the room: how long an order takes.
#pragma once
#include <compare>

#include "plans/zero_bubble_line.hpp"

namespace strategies {

// Of an order played as soon as possible: of all stages, which begin and end together; of the
// longest stage, each on its own; and the sum of all stages' ends. Less is what takes less in sum
// of the first two.
struct Length {
  std::int64_t makespan = 0, span = 0, ends = 0;
  auto operator<=>(const Length& other) const {
    const auto sum = makespan + span, others = other.makespan + other.span;
    if (sum != others) return sum <=> others;
    return makespan != other.makespan ? makespan <=> other.makespan : ends <=> other.ends;
  }
  bool operator==(const Length&) const = default;
};

// The order has split backwards. `never` if its stages wait for ever. O(slots).
Length length_of(const LineInput& input, const Order& order);

}  // namespace strategies

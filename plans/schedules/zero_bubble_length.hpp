// SPDX-License-Identifier: Apache-2.0
// Private to the room: how long an order takes.
#pragma once
#include <compare>

#include "plans/schedules/zero_bubble_line.hpp"

namespace strategies {

// The length of an order whose passes run as soon as possible: of all stages together, from the
// first begin to the last end; of the longest stage on its own; and the sum of all stages' ends. An
// order is less than another if the sum of its first two lengths is smaller.
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

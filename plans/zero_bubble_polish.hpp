// SPDX-License-Identifier: Apache-2.0
// Private to the room: small changes of an order that is good already.
#pragma once
#include "plans/zero_bubble_length.hpp"

namespace strategies {

// Swaps neighbouring passes of a stage while that makes the order shorter, memory allows it and at
// most `tries` orders have been played. O(tries * slots).
Length polish(const LineInput& input, Order& order, int tries);

}  // namespace strategies

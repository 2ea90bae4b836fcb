// SPDX-License-Identifier: Apache-2.0
#include "plans/zero_bubble_polish.hpp"

namespace strategies {

namespace {

// Whether a stage may run `second` before `first`, its neighbour: microbatches stay in turn, and
// nothing runs before what it needs.
bool may_swap(const Slot& first, const Slot& second) {
  return first.chunk != second.chunk ||
         (first.pass != second.pass && first.microbatch != second.microbatch);
}

}  // namespace

Length polish(const LineInput& input, Order& order, int tries) {
  auto length = length_of(input, order);
  for (bool better = true; better;) {
    better = false;
    for (auto& slots : order)
      for (std::size_t i = slots.size(); i-- > 1;) {
        if (!may_swap(slots[i - 1], slots[i])) continue;
        if (tries-- <= 0) return length;
        std::swap(slots[i - 1], slots[i]);
        const auto swapped = peak_in_flight(slots, 1) > input.limit ? Length{never, never, never}
                                                                    : length_of(input, order);
        if (swapped < length) {
          length = swapped;
          better = true;
        } else {
          std::swap(slots[i - 1], slots[i]);
        }
      }
  }
  return length;
}

}  // namespace strategies

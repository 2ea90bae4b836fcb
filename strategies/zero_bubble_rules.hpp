// SPDX-License-Identifier: Apache-2.0
// Private to the room: the rules by which a zero-bubble schedule is built.
#pragma once
#include <optional>
#include <vector>

#include "strategies/zero_bubble_line.hpp"

namespace strategies {

// Rules of thumb for playing a line in time order (after Qi et al. 2023, section 3.1): backwards as
// soon as they can, forwards as far as memory goes, weight passes where a device would else idle or
// where memory must be freed.
struct Greed {
  // Where several passes of a stage are ready: backwards before forwards, the later chunk before
  // the earlier; whichever of forward and backward did not run last; the backward of chunk 0, which
  // completes a microbatch, first; or the forward of chunk 1 before the backwards, or between them.
  enum class First { backward, alternate, completion, later_forward, later_chunk };
  First first = First::backward;
  double delay = 0;      // a weight pass may hold up what comes next by this share of itself
  double lookahead = 0;  // a forward waits for a backward that comes within this share of itself
  int backlog = 0;       // waiting weight passes that go before forwards; 0: none do
  // Until its first backward, a stage leaves room for the forwards of chunk 1 that come before it.
  bool leave_room = false;
  double taper = 0;  // forwards of chunk 0 ahead on the last stage: (1 − taper) of the limit
};

// Nothing if the stages wait for ever under these rules.
Order greedy(const LineInput& input, const Greed& rules);

// A building block (Qi et al. 2024): the times of one microbatch's passes on every stage, repeated
// every six units, where every pass takes one unit. `spacing`: units between neighbouring stages,
// for the passes F0, F1, B1, B0 of the two chunks; `turn`: idle units before F1, B1 and B0 begin. A
// pass that meets another one of the period is moved back. Weight passes take what is left.
struct Block {
  std::array<int, 4> spacing{};
  std::array<int, 3> turn{};
};

// The order of the repeated block. O(passes · log).
Order repeat(const LineInput& input, const Block& block);

// Keeps the forwards and backwards of an order, and sees anew when weight passes run: as in Greed.
// With `reserve`, first forwards run early in gaps that are long enough, as long as memory for so
// many chunks is left over. Nothing if the stages wait for ever.
Order refill(const LineInput& input, const Order& order, double delay, std::optional<int> reserve);

}  // namespace strategies

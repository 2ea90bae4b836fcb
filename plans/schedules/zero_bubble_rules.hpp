// SPDX-License-Identifier: Apache-2.0
// Private to the room: the rules by which a zero-bubble schedule is built.
#pragma once
#include <vector>

#include "plans/schedules/zero_bubble_line.hpp"

namespace strategies {

// Rules of thumb for playing a line in time order (after Qi et al. 2023, section 3.1): backwards as
// soon as they can, forwards as far as memory goes, weight passes where a device would else idle or
// where memory must be freed.
struct Greed {
  // The rule that chooses among several passes of a stage that are ready: backwards before
  // forwards, the later chunk before the earlier; whichever of forward and backward did not run
  // last; the backward of chunk 0, which completes a microbatch, first; or the forward of chunk 1
  // before the backwards, or between them.
  enum class First { backward, alternate, completion, later_forward, later_chunk };
  First first = First::backward;
  double delay = 0;      // a weight pass may hold up what comes next by this share of itself
  double lookahead = 0;  // a forward waits for a backward that comes within this share of itself
  int backlog = 0;       // waiting weight passes that go before forwards; 0: none do
  // Until its first backward, a stage leaves room for the forwards of chunk 1 that come before it.
  bool leave_room = false;
  double taper = 0;  // forwards of chunk 0 ahead on the last stage: (1 − taper) of the limit
};

// An order by these rules; empty if the stages would wait for ever under them.
Order greedy(const LineInput& input, const Greed& rules);

// Keeps the forwards and backwards of an order; weight passes run where a stage would else idle or
// has no memory. Nothing if the stages wait for ever.
Order refill(const LineInput& input, const Order& order);

// The settings by which an order is tightened.
struct Tightening {
  double delay = 0;  // as in Greed
  // Forwards of chunk 0 that run early leave room for those of chunk 1 that come before a stage's
  // first backward.
  bool leave_room = false;
  // A stage that would idle for longer, in all, than any stage has so far runs a weight pass first
  // and is late: gaps cost nothing where another stage's are longer (after the bubbles that Qi et
  // al. 2024 approve of when they place ZB-V's passes greedily).
  bool share_gaps = false;
  // Weight passes make way for what is ready even while a stage's memory is full.
  bool when_full = false;
};

// Keeps an order but moves what memory allows, stage by stage: weight passes into gaps and behind
// what is ready, forwards and backwards into earlier gaps that are long enough. Nothing if the
// order is empty or the stages wait for ever.
Order tighten(const LineInput& input, const Order& order, const Tightening& rules);

}  // namespace strategies

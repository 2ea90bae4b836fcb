// SPDX-License-Identifier: Apache-2.0
// The critical path, from its end to its begin. Private to the room.
#pragma once
#include <cstdint>
#include <vector>

#include "sim/measures.hpp"
#include "sim/spans.hpp"

namespace sim {

// What is known of each event once all are replayed.
struct Replayed {
  std::vector<std::uint32_t> op_of;
  std::vector<EventId> before;       // on its lane
  std::vector<const Spent*> inside;  // what a pass did between its start and end
};

// A run whose time is measured. `recurrence`: of what the program leaves out; null: nothing.
struct Run {
  const Program& program;
  const Trace& played;
  const Recurrence* recurrence;
  Period period;
};

// Takes `by` from what was spent: from the host first, then from activities in their order.
void shorten(Spent& spent, Picoseconds by);

// From the last event of the longest span back to the begin of its actor: fills in the critical
// path of `result`, that of `waits` if there are any, and which actor ends last. O(events of the
// path)
void walk_back(const Run& run, const Spans& spans, const Replayed& events, Waits* waits,
               Measures& result);

}  // namespace sim

// SPDX-License-Identifier: Apache-2.0
// The critical path, from its end to its begin. Private to the room.
#pragma once
#include <cstdint>
#include <vector>

#include "sim/measures.hpp"
#include "sim/spans.hpp"

namespace sim {

// Facts about each event once all are replayed.
struct Replayed {
  std::vector<std::uint32_t> op_of;
  std::vector<EventId> before;       // on its lane
  std::vector<const Spent*> inside;  // what a pass did between its start and end
};

// A run whose time is measured. `recurrence` is that of the periods that are left out; null: there
// are none.
struct Run {
  const Program& program;
  const Trace& played;
  const Recurrence* recurrence;
  Period period;
};

// Takes `by` from what was spent: from the host first, then from activities in their order.
void shorten(Spent& spent, Picoseconds by);

// Walks from the last event of the longest span back to the begin of its actor, and writes the
// critical path into `result` and, if there are any, `waits`, and the actor that ends last.
// O(events of the path)
void walk_back(const Run& run, const Spans& spans, const Replayed& events, Waits* waits,
               Measures& result);

}  // namespace sim

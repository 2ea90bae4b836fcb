// SPDX-License-Identifier: Apache-2.0
// The numbers of stages, chunks and microbatches that a schedule takes.
#pragma once
#include <cstdint>

#include "plans/schedules/schedule_layout.hpp"

namespace strategies {

// DualPipe pairs the stages from both ends and feeds half of the microbatches from each.
inline bool takes_stages(ScheduleKind schedule, std::int64_t stages) {
  return schedule != ScheduleKind::dualpipe || stages % 2 == 0;
}

// DualPipe and its half, dualpipe-v, fill both directions before they pair passes.
inline std::int64_t least_microbatches(ScheduleKind schedule, std::int64_t stages) {
  const bool both_ways = schedule == ScheduleKind::dualpipe || schedule == ScheduleKind::dualpipe_v;
  return both_ways ? 2 * stages : 1;
}
inline bool takes_odd_microbatches(ScheduleKind schedule) {
  return schedule != ScheduleKind::dualpipe;
}
inline bool takes_microbatches(ScheduleKind schedule, std::int64_t stages,
                               std::int64_t microbatches) {
  return microbatches >= least_microbatches(schedule, stages) &&
         (takes_odd_microbatches(schedule) || microbatches % 2 == 0);
}

// The model goes down the ranks and up again: two chunks per rank by nature.
inline bool has_two_chunks(ScheduleKind schedule) {
  return layout_of(schedule, 1, 1).kind == Layout::Kind::v;
}
inline bool takes_chunks(ScheduleKind schedule, std::int64_t chunks) {
  if (has_two_chunks(schedule)) return chunks == 2;
  return chunks == 1 || schedule == ScheduleKind::interleaved;
}

}  // namespace strategies

// SPDX-License-Identifier: Apache-2.0
// Periods of schedules: in the steady phase of a pipeline the order of passes repeats itself.
#pragma once
#include <cstdint>

#include "plans/schedules/schedule_layout.hpp"

namespace strategies {

// The number of microbatches after which the orders of all stages repeat themselves, while passes
// of old microbatches alternate with those of new ones; 0: they never do. DualPipe takes one from
// each end.
constexpr std::int64_t period_of(ScheduleKind schedule, std::int64_t stages) {
  switch (schedule) {
    case ScheduleKind::one_f_one_b:
    case ScheduleKind::dualpipe_v:
      return 1;
    case ScheduleKind::dualpipe:
      return 2;
    case ScheduleKind::interleaved:
      return stages;
    default:
      return 0;
  }
}

// The number of periods of a step in which pipelines fill, run steadily for as long as a microbatch
// takes from the first stage to the last and a little longer, and drain: a guess, for passes that
// all take equally long. In DualPipe's half a microbatch passes every stage twice.
constexpr std::int64_t periods_to_steady(ScheduleKind schedule, std::int64_t stages) {
  switch (schedule) {
    case ScheduleKind::interleaved:
      return 5;
    case ScheduleKind::dualpipe_v:
      return 3 * stages + 6;
    default:
      return (3 * stages + 1) / 2 + 4;
  }
}

}  // namespace strategies

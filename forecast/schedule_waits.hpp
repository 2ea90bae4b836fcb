// SPDX-License-Identifier: Apache-2.0
// Causes of idle time in a schedule that is studied alone.
#pragma once
#include <vector>

#include "forecast/idle.hpp"
#include "strategies/pipeline.hpp"

namespace forecast {

// The idle intervals of a schedule, in the form of those of a step (idle.hpp), in ticks of the run;
// slices are its operations.
struct ScheduleWaits {
  std::vector<Idle> idle;              // by (stage, start)
  std::vector<Awaited> critical_path;  // sums to the makespan
};

// `slow`: the factors that run_pipeline was given; stages that they make slower are stragglers.
// O(operations + length of the chains).
ScheduleWaits waits_of(const strategies::PipelineRun& run, const std::vector<double>& slow = {});

}  // namespace forecast

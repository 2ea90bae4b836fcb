// SPDX-License-Identifier: Apache-2.0
// Why the stages of a schedule that is studied alone were idle.
#pragma once
#include <vector>

#include "forecast/idle.hpp"
#include "strategies/pipeline.hpp"

namespace forecast {

// Idle intervals of a schedule, told as those of a step (idle.hpp), in ticks of the run; slices are
// its operations.
struct ScheduleWaits {
  std::vector<Idle> idle;              // by (stage, start)
  std::vector<Awaited> critical_path;  // sums to the makespan
};

// `slow` as run_pipeline was given it: stages that it makes slower are stragglers.
// O(operations + length of the chains).
ScheduleWaits waits_of(const strategies::PipelineRun& run, const std::vector<double>& slow = {});

}  // namespace forecast

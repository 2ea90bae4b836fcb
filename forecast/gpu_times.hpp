// SPDX-License-Identifier: Apache-2.0
// Private to the room: the times of all GPUs in a step, by activity.
#pragma once
#include <vector>

#include "forecast/forecast.hpp"
#include "sim/measures.hpp"
#include "strategies/lowering/lower.hpp"

namespace forecast {

// Each actor counts for all ranks of its class. O(actors).
GpuTimes gpu_times_of(const std::vector<strategies::ActorFacts>& actors,
                      const sim::Measures& measures);

}  // namespace forecast

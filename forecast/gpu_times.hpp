// SPDX-License-Identifier: Apache-2.0
// Private to the room: what all GPUs do in a step.
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

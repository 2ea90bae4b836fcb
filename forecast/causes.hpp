// SPDX-License-Identifier: Apache-2.0
// Private to the room: why ranks were idle (idle.hpp has the definitions).
#pragma once
#include <vector>

#include "forecast/forecast.hpp"
#include "forecast/timeline.hpp"
#include "sim/measures.hpp"

namespace forecast {

// The idle intervals of every stage's lowest rank, by (stage, start). Chains only with `drawn`.
// O(events + length of the chains).
std::vector<Idle> idle_of(const Scenario& scenario, const strategies::Lowered& lowered,
                          const sim::Trace& trace, const sim::Waits& waits, sim::Period period,
                          const Drawn* drawn);

// From the step's begin.
std::vector<Awaited> critical_path_of(const Scenario& scenario, const strategies::Lowered& lowered,
                                      const sim::Waits& waits, const Drawn& drawn);

}  // namespace forecast

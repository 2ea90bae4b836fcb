// SPDX-License-Identifier: Apache-2.0
// Private to the room: reach and load of the ranks of expert-parallel groups, and the wait of the
// mean rank for the fullest.
#pragma once
#include <optional>

#include "forecast/forecast.hpp"
#include "sim/measures.hpp"
#include "strategies/lowered.hpp"

namespace forecast {

// Says how experts are reached and loaded. Returns nothing if training.routing is left out or no
// rank sends tokens to another. `middle`: a layer with experts. Prices a layer for each load that
// is reported.
std::optional<ExpertRanks> expert_ranks(const Scenario& scenario,
                                        const strategies::Lowered& lowered,
                                        const strategies::Block& middle,
                                        const strategies::Costs& costs);

// Adds the time for which each stage's rank waited inside of passes for the fullest rank of its
// group.
void add_expert_waits(Forecast& forecast, const strategies::Lowered& lowered,
                      const sim::Measures& measures);

}  // namespace forecast

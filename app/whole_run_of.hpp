// SPDX-License-Identifier: Apache-2.0
// A whole training beside a forecast of its step.
#pragma once
#include <optional>

#include "scenarios/purchase/catalog_price.hpp"
#include "search/purchase/whole_run.hpp"

namespace app {

// Returns time and cost of the whole training at the prices of the catalog; nothing if the scenario
// gives no training.tokens.
inline std::optional<search::WholeRun> whole_run_of(const forecast::Scenario& scenario,
                                                    const forecast::Forecast& forecast) {
  if (!scenario.training.tokens) return {};
  return search::whole_run(scenario, forecast, scenarios::price_of(scenario.cluster));
}

}  // namespace app

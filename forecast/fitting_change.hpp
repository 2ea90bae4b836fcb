// SPDX-License-Identifier: Apache-2.0
// What would make a plan fit that does not.
#pragma once
#include <optional>
#include <string>

#include "forecast/forecast.hpp"

namespace forecast {

// One key of a plan, changed, with which everything fits.
struct FittingChange {
  std::string key, value;  // "plan.recompute", "full"
  units::Bytes peak;       // of the tightest device then
  units::Seconds step;
};

// Of changes to one key (sequence parallelism, half the microbatch, recomputation, a further stage
// of ZeRO, states on the host) the one with the shortest step that fits; nothing where none does.
// A simulation for each change that the plan allows: eight at most.
std::optional<FittingChange> cheapest_fitting_change(const Scenario& scenario);

// A sentence that says so, or that there is none.
std::string advice_to_fit(const Scenario& scenario);

}  // namespace forecast

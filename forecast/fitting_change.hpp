// SPDX-License-Identifier: Apache-2.0
// The change that makes a plan fit whose memory overflows.
#pragma once
#include <optional>
#include <string>

#include "forecast/forecast.hpp"

namespace forecast {

// One key of a plan or of its software, changed, with which everything fits.
struct FittingChange {
  std::string key, value;  // "plan.recompute", "full"
  units::Bytes peak;       // peak of the tightest device after the change
  units::Seconds step;
  // Whether the replay of the allocator lacks a piece for some tensor, and the plan counts as
  // fitting because a little more memory would have it.
  bool barely = false;
};

// Tries changes to one key: sequence parallelism, smaller microbatches that divide this one,
// recomputation, a further stage of ZeRO, states on the host, segments that grow. Returns the
// change that fits and has the shortest step, one that barely fits only where no other does;
// nothing if none fits. Simulates each change that the plan allows: eight, and one for each divisor
// of the microbatch.
std::optional<FittingChange> cheapest_fitting_change(const Scenario& scenario);

// Returns a sentence with that change, or one that says that there is none.
std::string advice_to_fit(const Scenario& scenario);

}  // namespace forecast

// SPDX-License-Identifier: Apache-2.0
// A whole training with one plan on a scenario's own cluster, assessed as a purchase (purchase.hpp)
// of that one option.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "search/purchase/purchase.hpp"

namespace search {

struct WholeRun {
  double tokens = 0, steps = 0;
  Assessment calm;     // while nothing fails; without PUE, without a price of energy
  Assessment failing;  // with published_failures()
  double gpu_hours = 0, gpu_hours_failing = 0;
  std::optional<QuotedPrice> price;  // absent: nobody knows what a node costs
  bool power_known = false;
  units::Seconds lifetime;  // over which the price is written off
};

// The whole run of training.tokens; nothing if the scenario does not give them. `price` is that of
// a node, if known.
std::optional<WholeRun> whole_run(const forecast::Scenario& scenario,
                                  const forecast::Forecast& forecast,
                                  const std::optional<QuotedPrice>& price);

}  // namespace search

// SPDX-License-Identifier: Apache-2.0
// Changes of one key that may explain a measured step, where no trace tells more than its time.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "forecast/scenario.hpp"

namespace forecast {

// One key changed: as it is, or by as much as it takes.
struct LikelyChange {
  std::string words;  // "gradients are reduced with nothing beside it"
  std::string set;    // "plan.overlap.data=false"; of one by a factor: with factor 1
  // The --set that slows its subject down by a factor from 1 to `most`. Empty: `set` has no factor.
  std::function<std::string(double)> by_factor = {};
  double most = 1;
};

// The changes that the scenario does not have yet, the most usual first.
std::vector<LikelyChange> likely_changes(const Scenario& scenario);

}  // namespace forecast

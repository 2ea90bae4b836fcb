// SPDX-License-Identifier: Apache-2.0
// Changes of one key that may explain a measured step, where no trace tells more than its time.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "forecast/scenario.hpp"

namespace forecast {

// A change of one key, by a fixed value or by as large a factor as it takes.
struct LikelyChange {
  std::string words;  // "gradients are reduced with nothing beside it"
  std::string set;    // "plan.overlap.data=false"; of one by a factor: with factor 1
  // The --set that slows its subject down by a factor from 1 to `most`. Empty: `set` has no factor.
  std::function<std::string(double)> by_factor = {};
  double most = 1;
};

// The changes that the scenario does not have yet, the most usual first.
std::vector<LikelyChange> likely_changes(const Scenario& scenario);

// A change of one key that would make the forecast slower: tried.
struct TriedChange {
  std::string words;
  std::string set;               // "path.to.key=value"
  units::Seconds step;           // forecast with it
  std::optional<double> factor;  // by which something is slower; absent: changed as it is
};

// The step that the scenario takes with one more --set; none where it does not allow that.
using StepWith = std::function<std::optional<units::Seconds>(const std::string& set)>;

// The likely changes that explain more than a tenth of the time by which the step was longer than
// its forecast, and less than twice that time: those bring the forecast nearer to the step. At most
// ten, the likeliest first: those that leave least of the difference, in logarithms, where a factor
// of two counts as a quarter of the difference. Each factor is as large as explains the step to
// within 0.2 %, found by halving, or at its most. O(changes) forecasts.
std::vector<TriedChange> tried_changes(const Scenario& scenario, units::Seconds forecast,
                                       units::Seconds measured, const StepWith& step_with);

}  // namespace forecast

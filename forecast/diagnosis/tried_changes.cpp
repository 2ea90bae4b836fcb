// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>

#include "forecast/diagnosis/changes.hpp"

namespace forecast {
namespace {

using units::Seconds;

std::optional<TriedChange> tried(const LikelyChange& change, Seconds measured,
                                 const StepWith& step_with) {
  if (!change.by_factor) {
    const auto step = step_with(change.set);
    if (!step) return {};
    return TriedChange{change.words, change.set, *step, {}};
  }
  double low = 1, high = change.most;
  auto step = step_with(change.by_factor(high));
  if (!step) return {};
  constexpr int halvings = 12;
  const bool enough = measured < *step;
  for (int i = 0; enough && i < halvings; ++i) {
    const double middle = std::sqrt(low * high);
    const auto at = step_with(change.by_factor(middle));
    if (!at) return {};
    (*at > measured ? high : low) = middle;
    if (std::abs(*at / measured - 1) < 0.002) {
      high = middle;
      step = at;
      break;
    }
    if (*at > measured) step = at;
  }
  return TriedChange{change.words, change.by_factor(high), *step, high};
}

// Returns the share of the difference that a change leaves, in logarithms, plus a quarter for each
// doubling of its factor.
double unlikelihood(const TriedChange& change, Seconds forecast, Seconds measured) {
  const double left =
      std::abs(std::log(change.step / measured)) / std::abs(std::log(forecast / measured));
  return left + (change.factor ? 0.25 * std::log2(*change.factor) : 0.0);
}

}  // namespace

std::vector<TriedChange> tried_changes(const Scenario& scenario, Seconds forecast, Seconds measured,
                                       const StepWith& step_with) {
  std::vector<TriedChange> changes;
  constexpr double felt = 0.1, nearer = 2;
  const auto longer = measured - forecast;
  for (const auto& change : likely_changes(scenario))
    if (auto one = tried(change, measured, step_with))
      if (const auto added = one->step - forecast; felt * longer < added && added < nearer * longer)
        changes.push_back(*std::move(one));
  std::ranges::stable_sort(changes, {}, [&](const TriedChange& change) {
    return unlikelihood(change, forecast, measured);
  });
  constexpr std::size_t most = 10;
  if (changes.size() > most) changes.resize(most);
  return changes;
}

}  // namespace forecast

// SPDX-License-Identifier: Apache-2.0
// Bounding a plan by its degrees, as a search does for each of millions.
#include "search/plan_bounds.hpp"

#include <benchmark/benchmark.h>

#include "forecast/costs.hpp"
#include "search/least_time.hpp"
#include "tests/forecast/random_scenario.hpp"

namespace {

using namespace search;

void bound_of_degrees(benchmark::State& state) {
  auto scenario = tests::scenario_under({.tensor = 8, .pipeline = 16, .data = 8, .zero = 1}, 1024);
  scenario.model.layers = 96;
  const auto costs = forecast::costs_on(scenario.cluster);
  auto prices = layer_prices(scenario, scenario.plan, {strategies::Recompute{}}, costs);
  const strategies::ReplicaCosts replicas(
      {scenario.model, scenario.training, scenario.plan, scenario.software, scenario.cluster},
      costs, prices.whole, prices.largest);
  for (auto _ : state) {
    benchmark::DoNotOptimize(least_time({{scenario, scenario.plan, prices}, replicas}));
  }
  state.SetItemsProcessed(state.iterations());
}

}  // namespace

BENCHMARK(bound_of_degrees);

// SPDX-License-Identifier: Apache-2.0
// Bounding a plan by its degrees: what a search does for each of millions.
#include "search/frame.hpp"

#include <benchmark/benchmark.h>

#include "forecast/costs.hpp"
#include "tests/forecast/random_scenario.hpp"

namespace {

using namespace search;

void least_time(benchmark::State& state) {
  auto scenario = tests::scenario_under({.tensor = 8, .pipeline = 16, .data = 8, .zero = 1}, 1024);
  scenario.model.layers = 96;
  const auto costs = forecast::costs_on(scenario.cluster);
  auto prices = layer_prices(scenario, scenario.plan, {strategies::Recompute{}}, costs);
  const strategies::Sharing sharing(
      {scenario.model, scenario.training, scenario.plan, scenario.software, scenario.cluster},
      costs, prices.whole, prices.largest);
  for (auto _ : state) {
    const Frame frame(scenario, scenario.plan, prices, sharing);
    benchmark::DoNotOptimize(frame.least_time());
  }
  state.SetItemsProcessed(state.iterations());
}

}  // namespace

BENCHMARK(least_time);

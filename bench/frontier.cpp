// SPDX-License-Identifier: Apache-2.0
// Frontiers of rows of layers: all intervals of a model with few types of layers, and one row of
// layers that are all different.
#include "search/solvers/frontier.hpp"

#include <benchmark/benchmark.h>

#include <random>

#include "search/solvers/interval_frontiers.hpp"

namespace {

using namespace search;

constexpr ByteCount mib = 1 << 20;
constexpr Picoseconds us = 1'000'000;

// A layer with `options` ways, from keeping all to recomputing all.
Layer layer_of(std::mt19937& random, std::int64_t options) {
  const auto percent = [&] { return static_cast<std::int64_t>(80 + random() % 41); };
  Layer layer{0, {}};
  auto kept = percent() * 4 * mib;
  auto backward = percent() * 100 * us;
  for (std::int64_t i = 0; i < options; ++i) {
    layer.options.push_back({kept, 5000 * us, backward, 0, 0});
    kept = kept * 6 / 10 / mib * mib;
    backward += percent() * 10 * us;
  }
  return layer;
}

void all_intervals(benchmark::State& state) {
  std::mt19937 random(3);
  Chain chain;
  const auto ends = layer_of(random, 1), middle = layer_of(random, state.range(1));
  chain.layers.assign(static_cast<std::size_t>(state.range(0)), middle);
  chain.layers.insert(chain.layers.begin(), ends);
  chain.layers.push_back(ends);
  std::size_t points = 0;
  for (auto _ : state) {
    IntervalFrontiers frontiers(chain);
    points = 0;
    for (int first = 0; first < frontiers.layers(); ++first)
      for (int last = first + 1; last <= frontiers.layers(); ++last)
        points = std::max(points, frontiers.pool().points(frontiers.of(first, last)).size());
  }
  state.counters["most_points"] = static_cast<double>(points);
}

void different_layers(benchmark::State& state) {
  std::mt19937 random(3);
  std::vector<Layer> layers;
  for (std::int64_t i = 0; i < state.range(0); ++i)
    layers.push_back(layer_of(random, state.range(1)));
  std::size_t points = 0;
  for (auto _ : state) {
    Frontiers pool;
    auto row = pool.nothing();
    for (const auto& layer : layers) row = pool.sum(row, pool.of(layer.options));
    points = pool.points(row).size();
  }
  state.counters["points"] = static_cast<double>(points);
}

}  // namespace

BENCHMARK(all_intervals)
    ->ArgNames({"layers", "options"})
    ->Args({128, 4})
    ->Args({128, 6})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(different_layers)
    ->ArgNames({"layers", "options"})
    ->Args({32, 4})
    ->Args({128, 4})
    ->Unit(benchmark::kMillisecond);

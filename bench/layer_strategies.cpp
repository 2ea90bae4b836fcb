// SPDX-License-Identifier: Apache-2.0
// Galvatron's problem of one pipeline stage: 96 layers, 22 strategies, 64 GiB, in bytes.
#include "tests/search/layer_strategies.hpp"

#include <benchmark/benchmark.h>

#include <random>

namespace {

using namespace search;

// Layers whose strategies trade memory for time, with resharding between any two of them. They have
// `sorts` types, in turn; 0: every layer is different.
std::vector<StrategyLayer> layers_of(std::size_t count, std::size_t strategies, std::size_t sorts) {
  std::mt19937 random(5);
  constexpr std::int64_t ms = 1'000'000'000, mib = 1 << 20;
  const auto draw = [&](std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most - least));
  };
  std::vector<StrategyLayer> layers;
  for (std::size_t l = 0; l < count; ++l) {
    if (sorts > 0 && l >= sorts) {
      layers.push_back(layers[l - sorts]);
      continue;
    }
    auto& layer = layers.emplace_back();
    for (std::size_t s = 0; s < strategies; ++s) {
      layer.memory.push_back(draw(200 * mib, 2000 * mib));
      layer.time.push_back(draw(10 * ms, 15 * ms) +
                           30 * ms / 10 * (2000 * mib) / layer.memory.back());
    }
    for (std::size_t s = 0; s < strategies * strategies; ++s)
      layer.switching.push_back(s % (strategies + 1) == 0 ? 0 : draw(ms / 10, 3 * ms));
  }
  return layers;
}

void layer_strategy_choice(benchmark::State& state) {
  const auto layers =
      layers_of(static_cast<std::size_t>(state.range(0)), static_cast<std::size_t>(state.range(1)),
                static_cast<std::size_t>(state.range(2)));
  for (auto _ : state) benchmark::DoNotOptimize(layer_strategies(layers, ByteCount{64} << 30));
}

}  // namespace

BENCHMARK(layer_strategy_choice)
    ->ArgNames({"layers", "strategies", "sorts"})
    ->Args({96, 22, 0})
    ->Args({96, 22, 1})
    ->Args({96, 22, 3})
    ->Args({128, 24, 0})
    ->Unit(benchmark::kMillisecond);

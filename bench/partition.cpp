// SPDX-License-Identifier: Apache-2.0
// Partitioning models onto pipelines, by layers (with embedding and head), stages, chunks per
// stage, microbatches, and number of types of layers (0: every layer is different).
#include "search/solvers/partition.hpp"

#include <benchmark/benchmark.h>

#include <random>

#include "plans/schedules/schedule.hpp"

namespace {

using namespace search;

// Times are in microseconds and bytes in MiB, so that no two sums are equal by chance.
constexpr Picoseconds us = 1'000'000;
constexpr ByteCount mib = 1 << 20;

// A layer that keeps everything, or recomputes the attention, the feed-forward layer, or both.
Layer layer_of(std::mt19937& random) {
  const auto percent = [&] { return static_cast<std::int64_t>(80 + random() % 41); };
  const auto forward = percent() * 50 * us, kept = percent() * 4 * mib;
  return {percent() * 40 * mib,
          {{kept, forward, 2 * forward, 0, 0},
           {kept * 7 / 10, forward, 2 * forward + forward / 10, 0, 0},
           {kept * 4 / 10, forward, 2 * forward + forward / 2, 0, 0},
           {kept / 10, forward, 3 * forward, 0, 0}}};
}

PipelineProblem problem_of(const benchmark::State& state) {
  std::mt19937 random(7);
  const int layers = static_cast<int>(state.range(0)), stages = static_cast<int>(state.range(1));
  const int chunks = static_cast<int>(state.range(2));
  const int microbatches = static_cast<int>(state.range(3)),
            sorts = static_cast<int>(state.range(4));
  const auto schedule =
      chunks == 1 ? strategies::ScheduleKind::one_f_one_b : strategies::ScheduleKind::interleaved;
  PipelineProblem problem{.order = strategies::order_of(schedule, stages, chunks, microbatches),
                          .layout = strategies::layout_of(schedule, stages, chunks),
                          .microbatches = microbatches,
                          .latency = 20 * us,
                          .capacity = {}};
  std::vector<Layer> kinds;
  for (int i = 0; i < (sorts == 0 ? layers : sorts); ++i) kinds.push_back(layer_of(random));
  problem.chain.layers.push_back({3000 * mib, {{50 * mib, 300 * us, 300 * us, 0, 0}}});
  for (int i = 0; i < layers - 2; ++i)
    problem.chain.layers.push_back(kinds[static_cast<std::size_t>(i) % kinds.size()]);
  problem.chain.layers.push_back({3000 * mib, {{200 * mib, 4000 * us, 8000 * us, 0, 0}}});
  // The capacity lets the first stage keep about half of its activations.
  ByteCount fixed = 0, kept = 0;
  for (const auto& layer : problem.chain.layers) {
    fixed += layer.fixed;
    kept += layer.options.front().kept;
  }
  problem.capacity.assign(static_cast<std::size_t>(stages), fixed / stages + 4000 * mib + kept / 2);
  return problem;
}

void pipeline_partition(benchmark::State& state) {
  const auto problem = problem_of(state);
  for (auto _ : state) {
    const auto result = partition(problem, {});
    state.counters["rounds"] = result.rounds;
    state.counters["labels"] = static_cast<double>(result.labels);
    if (result.best)
      state.counters["gap_percent"] =
          100.0 * static_cast<double>(result.best->makespan - result.lower_bound) /
          static_cast<double>(result.best->makespan);
  }
}

}  // namespace

BENCHMARK(pipeline_partition)
    ->ArgNames({"layers", "stages", "chunks", "microbatches", "sorts"})
    ->Args({34, 8, 1, 32, 1})
    ->Args({34, 8, 1, 16, 0})
    ->Args({66, 16, 1, 32, 2})
    ->Args({66, 16, 1, 128, 0})
    ->Args({130, 16, 1, 32, 1})
    ->Args({130, 32, 1, 64, 0})
    ->Args({130, 32, 1, 16, 0})  // fewer microbatches than stages: hard to prove
    ->Args({130, 64, 1, 512, 0})
    ->Args({66, 8, 2, 32, 1})
    ->Unit(benchmark::kMillisecond);

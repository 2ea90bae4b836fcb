// SPDX-License-Identifier: Apache-2.0
// Lower bounds of pipeline partitions: one from given multipliers, and the search for good ones.
#include "search/solvers/relaxation.hpp"

#include <benchmark/benchmark.h>

#include "plans/schedules/schedule.hpp"
#include "search/solvers/partition.hpp"

namespace {

using namespace search;

// A problem of a large model's layers, in microseconds and MiB, with an embedding and a head as
// heavy as two layers.
PipelineProblem interleaved(int layers, int stages, int chunks, int microbatches) {
  constexpr Picoseconds us = 1'000'000;
  constexpr ByteCount mib = 1 << 20;
  const auto schedule = strategies::ScheduleKind::interleaved;
  PipelineProblem problem{.order = strategies::order_of(schedule, stages, chunks, microbatches),
                          .layout = strategies::layout_of(schedule, stages, chunks),
                          .microbatches = microbatches,
                          .latency = 20 * us,
                          .capacity = {}};
  const Layer layer{400 * mib,
                    {{40 * mib, 500 * us, 1000 * us, 0, 0}, {4 * mib, 500 * us, 1500 * us, 0, 0}}};
  problem.chain.layers.assign(static_cast<std::size_t>(layers), layer);
  problem.chain.layers.front() = {800 * mib, {{10 * mib, 50 * us, 100 * us, 0, 0}}};
  problem.chain.layers.back() = {800 * mib, {{90 * mib, 900 * us, 1800 * us, 0, 0}}};
  problem.capacity.assign(static_cast<std::size_t>(stages), 40'000 * mib);
  return problem;
}

void relaxation_bound(benchmark::State& state) {
  const auto problem = interleaved(98, 16, 6, 32);
  Relaxation relaxation(problem);
  const auto relaxed = relaxation.improve(1'000'000'000'000, {.rounds = 5, .nodes = 1});
  for (auto _ : state) benchmark::DoNotOptimize(relaxation.bound(relaxed.multipliers));
}

// The target is the best partition that a short search finds.
void relaxation_improve(benchmark::State& state) {
  const auto problem = interleaved(98, 8, 9, 24);
  const auto best =
      partition(problem, {.rounds = 20, .comparisons = 1'000'000, .passes = 1'000'000}).best;
  const Picoseconds target = best ? best->makespan : 1'000'000'000'000;
  for (auto _ : state) {
    Relaxation relaxation(problem);
    const auto relaxed = relaxation.improve(target);
    state.counters["rounds"] = relaxed.rounds;
    if (relaxed.lower_bound)
      state.counters["gap_percent"] =
          100.0 * static_cast<double>(target - *relaxed.lower_bound) / static_cast<double>(target);
  }
}

}  // namespace

BENCHMARK(relaxation_bound)->Unit(benchmark::kMicrosecond);
BENCHMARK(relaxation_improve)->Unit(benchmark::kMillisecond);

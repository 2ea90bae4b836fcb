// SPDX-License-Identifier: Apache-2.0
// Finds the order of a searched schedule, by stages and microbatches.
#include <benchmark/benchmark.h>

#include "plans/schedules/schedule.hpp"

namespace {

template <strategies::ScheduleKind kind>
void schedule(benchmark::State& state) {
  const int stages = static_cast<int>(state.range(0));
  const auto layout = strategies::layout_of(kind, stages, 2);
  const bool v = layout.kind == strategies::Layout::Kind::v;
  const strategies::OrderInput input{
      kind,
      stages,
      v ? 2 : 1,
      static_cast<int>(state.range(1)),
      std::vector<strategies::ChunkTimes>(static_cast<std::size_t>(stages), {12, 16, 8}),
      1,
      {}};
  for (auto _ : state) benchmark::DoNotOptimize(strategies::order_of(input));
}

using strategies::ScheduleKind;

}  // namespace

#define SCHEDULE(kind)                    \
  BENCHMARK(schedule<ScheduleKind::kind>) \
      ->Name("schedule_" #kind)           \
      ->Args({16, 64})                    \
      ->Args({32, 256})                   \
      ->Unit(benchmark::kMillisecond)
SCHEDULE(zb_h1);
SCHEDULE(zb_h2);
SCHEDULE(zb_v);
SCHEDULE(v_half);
SCHEDULE(v_min);

// SPDX-License-Identifier: Apache-2.0
// Writes a trace of a million slices, in at most a second.
#include <benchmark/benchmark.h>

#include "report/traces/trace.hpp"

namespace {

// A timeline of sixteen stages, with a message for every second pass.
forecast::Timeline million() {
  forecast::Timeline timeline;
  constexpr std::int64_t stages = 16, passes = 1'000'000 / stages;
  for (int stage = 0; stage < stages; ++stage)
    for (std::int64_t i = 0; i < passes; ++i)
      timeline.slices.push_back(
          {.stage = stage,
           .rank = stage * 8,
           .lane = i % 2 == 0 ? "compute" : "pipeline send",
           .name = (i % 2 == 0 ? "forward m" : "send activations m") + std::to_string(i),
           .kind = i % 2 == 0 ? "forward" : "pipeline_comm",
           .microbatch = i,
           .chunk = 0,
           .start_ps = i * 1'234'567,
           .end_ps = (i + 1) * 1'234'567});
  for (std::size_t i = 0; i + passes < timeline.slices.size(); i += 2)
    timeline.arrows.push_back({i, i + passes});
  return timeline;
}

void trace_chrome(benchmark::State& state) {
  const auto timeline = million();
  for (auto _ : state) benchmark::DoNotOptimize(report::chrome_trace(timeline));
}
void trace_perfetto(benchmark::State& state) {
  const auto timeline = million();
  for (auto _ : state) benchmark::DoNotOptimize(report::perfetto_trace(timeline));
}

}  // namespace

BENCHMARK(trace_chrome)->Unit(benchmark::kMillisecond);
BENCHMARK(trace_perfetto)->Unit(benchmark::kMillisecond);

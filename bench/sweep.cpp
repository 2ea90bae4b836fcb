// SPDX-License-Identifier: Apache-2.0
// Measures the time that a point of a sweep takes beside its simulation: to read it, and to store
// it.
#include "report/sweep/sweep.hpp"

#include <benchmark/benchmark.h>

#include <chrono>
#include <filesystem>

#include "forecast/forecast.hpp"
#include "scenarios/sweeps/sweep_file.hpp"
#include "search/points.hpp"
#include "store/digest.hpp"
#include "store/store.hpp"

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

scenarios::Grid grid() {
  return scenarios::read_grid(R"(
base:
  model: gpt3-175b
  cluster: {node: dgx-a100-80gb, nodes: 128, fabric: hdr-rail-fat-tree}
  training: {sequence_length: 2048, global_batch: 1536, precision: fp16}
  plan: {tensor: 8, pipeline: 16, schedule: interleaved, virtual_stages: 3, recompute: full}
  software: megatron-2021
vary:
  training.sequence_length: {from: 1024, to: 5120, step: 8}
)",
                              "sweep.yaml");
}

double seconds(Clock::time_point began) {
  return std::chrono::duration<double>(Clock::now() - began).count();
}

// A batch of points of GPT-3 on 1,024 GPUs, as a sweep answers and writes them.
void sweep_points(benchmark::State& state) {
  const auto whole = grid();
  const auto file = fs::temp_directory_path() / "stepcast_bench.sqlite";
  std::vector<store::Column> columns;
  for (const auto& figure : search::figures()) columns.push_back({std::string(figure.name)});
  scenarios::PointReader reader(whole);
  double reading = 0, simulating = 0, storing = 0;
  std::int64_t points = 0;
  for (auto _ : state) {
    fs::remove(file);
    auto store = store::Store::writer(file, {"bench", "{}", "", "", "", {}, 0}, columns);
    std::vector<store::Row> rows;
    for (std::int64_t position = 0; position < scenarios::positions(whole); position += 8) {
      auto began = Clock::now();
      const auto scenario = *reader.scenario(position).value;
      store::Row row{.position = position, .axes = "{}", .status = "ok"};
      row.scenario = report::scenario_line(scenario);
      row.id = store::digest(row.scenario);
      reading += seconds(began);
      began = Clock::now();
      const auto forecast = forecast::simulate(scenario);
      simulating += seconds(began);
      began = Clock::now();
      row.figures = search::figures_of(scenario, forecast);
      row.result = report::point_json(scenario, forecast, nullptr);
      rows.push_back(std::move(row));
      storing += seconds(began);
      ++points;
    }
    const auto began = Clock::now();
    store.add(rows);
    store.finish();
    storing += seconds(began);
  }
  fs::remove(file);
  state.counters["points"] =
      benchmark::Counter(static_cast<double>(points), benchmark::Counter::kIsRate);
  state.counters["reading_share"] = reading / simulating;
  state.counters["storing_share"] = storing / simulating;
}

void sweep_read_point(benchmark::State& state) {
  const auto whole = grid();
  scenarios::PointReader reader(whole);
  std::int64_t position = 0;
  for (auto _ : state)
    benchmark::DoNotOptimize(reader.scenario(++position % scenarios::positions(whole)));
}

}  // namespace

BENCHMARK(sweep_points)->Unit(benchmark::kMillisecond);
BENCHMARK(sweep_read_point)->Unit(benchmark::kMicrosecond);

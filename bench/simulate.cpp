// SPDX-License-Identifier: Apache-2.0
// One step of GPT-3 175B on A100: tensor 8, pipeline 16, 192 microbatches, on 1,024 GPUs and, with
// more replicas, on 16,384 and 131,072; with DualPipe on 64 stages and 256 microbatches; and with
// 1F1B on 64 stages and 4,096 microbatches. One step of DeepSeek-V3 on 2,048 H800: pipeline 16,
// expert 64, 30 microbatches.
#include <benchmark/benchmark.h>

#include "forecast/forecast.hpp"
#include "scenarios/scenario_file.hpp"

namespace {

forecast::Scenario gpt3() {
  return scenarios::load_scenario(STEPCAST_SOURCE_DIR
                                  "/scenarios/examples/gpt3-175b-1024-a100.yaml");
}

void simulate(benchmark::State& state, forecast::Options options) {
  const auto scenario = gpt3();
  std::int64_t events = 0;
  for (auto _ : state) events = forecast::simulate(scenario, options).simulation.events;
  state.counters["events"] = static_cast<double>(events);
}

void gpt3_templates(benchmark::State& state) { simulate(state, {}); }
void gpt3_every_operator(benchmark::State& state) { simulate(state, {.templates = false}); }
void gpt3_on(benchmark::State& state, std::int64_t gpus) {
  auto scenario = gpt3();
  scenario.plan.data *= gpus / scenario.cluster.gpus;
  scenario.training.global_batch *= gpus / scenario.cluster.gpus;
  scenario.cluster.gpus = gpus;
  for (auto _ : state) benchmark::DoNotOptimize(forecast::simulate(scenario));
}
void gpt3_16384(benchmark::State& state) { gpt3_on(state, 16'384); }
void gpt3_131072(benchmark::State& state) { gpt3_on(state, 131'072); }
// Simulates the step on 16,384 GPUs, one of which is slower.
void gpt3_16384_straggler(benchmark::State& state) {
  auto scenario = gpt3();
  scenario.plan.data *= 16;
  scenario.training.global_batch *= 16;
  scenario.cluster.gpus *= 16;
  scenario.cluster.stragglers = {{{5000}, 1.3}};
  for (auto _ : state) benchmark::DoNotOptimize(forecast::simulate(scenario));
}
// Simulates DualPipe on 64 stages that each hold two halves of the model.
void gpt3_dualpipe(benchmark::State& state) {
  auto scenario = gpt3();
  auto& plan = scenario.plan;
  plan.data = plan.data * plan.pipeline / 64;
  plan.pipeline = 64;
  plan.schedule = strategies::ScheduleKind::dualpipe;
  plan.virtual_stages = 1;
  scenario.training.global_batch = 256 * plan.data * plan.micro_batch;
  for (auto _ : state) benchmark::DoNotOptimize(forecast::simulate(scenario));
}
// Simulates 1F1B on 64 stages with 4,096 microbatches: all of them, or (`jump`) without those that
// recur.
void gpt3_4096_microbatches(benchmark::State& state, bool jump) {
  auto scenario = gpt3();
  auto& plan = scenario.plan;
  plan.data = plan.data * plan.pipeline / 64;
  plan.pipeline = 64;
  plan.schedule = strategies::ScheduleKind::one_f_one_b;
  plan.virtual_stages = 1;
  scenario.training.global_batch = 4096 * plan.data * plan.micro_batch;
  for (auto _ : state) benchmark::DoNotOptimize(forecast::simulate(scenario, {.jump = jump}));
}
void gpt3_4096_all(benchmark::State& state) { gpt3_4096_microbatches(state, false); }
void gpt3_4096_jump(benchmark::State& state) { gpt3_4096_microbatches(state, true); }
void gpt3_full(benchmark::State& state) { simulate(state, {.full = true}); }
void deepseek_v3(benchmark::State& state) {
  const auto scenario = scenarios::read_scenario(R"(
model: deepseek-v3
cluster: {node: dgx-h800, nodes: 256}
training: {sequence_length: 4096, global_batch: 3840, precision: fp8, fp8_recipe: blockwise}
plan: {pipeline: 16, expert: 64, zero: 1}
software: {base: megatron-core, moe_dispatcher: deepep}
)",
                                                 "deepseek-v3.yaml");
  std::int64_t events = 0;
  for (auto _ : state) events = forecast::simulate(scenario).simulation.events;
  state.counters["events"] = static_cast<double>(events);
}
void read_scenario(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(gpt3());
}

}  // namespace

BENCHMARK(gpt3_templates)->Unit(benchmark::kMillisecond);
BENCHMARK(gpt3_every_operator)->Unit(benchmark::kMillisecond);
BENCHMARK(gpt3_16384)->Unit(benchmark::kMillisecond);
BENCHMARK(gpt3_131072)->Unit(benchmark::kMillisecond);
BENCHMARK(gpt3_16384_straggler)->Unit(benchmark::kMillisecond);
BENCHMARK(gpt3_dualpipe)->Unit(benchmark::kMillisecond);
BENCHMARK(gpt3_4096_all)->Unit(benchmark::kMillisecond);
BENCHMARK(gpt3_4096_jump)->Unit(benchmark::kMillisecond);
BENCHMARK(gpt3_full)->Unit(benchmark::kMillisecond);
BENCHMARK(deepseek_v3)->Unit(benchmark::kMillisecond);
BENCHMARK(read_scenario)->Unit(benchmark::kMillisecond);

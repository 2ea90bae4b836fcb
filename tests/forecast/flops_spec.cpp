// SPDX-License-Identifier: Apache-2.0
// The flops of a timeline's bars.
#include "tests/fewer.hpp"
#include "tests/forecast/checks.hpp"
#include "tests/forecast/random_scenario.hpp"
#include "tests/forecast/small_llama.hpp"

namespace flops_spec {

using forecast::simulate;

namespace {

// The flops of all passes of all ranks: the ranks of a stage compute as much as its lowest rank.
double flops_of_passes(const forecast::Scenario& scenario, const forecast::Forecast& f) {
  const auto stages = static_cast<std::size_t>(scenario.plan.pipeline);
  std::vector<std::int64_t> lowest(stages, scenario.cluster.gpus);
  for (const auto& slice : f.timeline.slices) {
    auto& rank = lowest[static_cast<std::size_t>(slice.stage)];
    rank = std::min(rank, slice.rank);
  }
  double sum = 0;
  for (const auto& slice : f.timeline.slices)
    if (slice.rank == lowest[static_cast<std::size_t>(slice.stage)]) sum += slice.flops.value;
  return sum * static_cast<double>(scenario.cluster.gpus / scenario.plan.pipeline);
}

}  // namespace

TEST_CASE("the flops of all bars are those of HFU: its share of the peak over the step") {
  const auto seed = GENERATE(range(0u, 400u / tests::fewer));
  std::mt19937 random(seed + 9000);
  const auto scenario = tests::random_scenario(random);
  INFO("seed " << seed);
  const auto f = simulate(scenario, {.timeline = true});
  const double peak = scenario.cluster.node.device.peak_of(scenario.training.precision).value *
                      static_cast<double>(scenario.cluster.gpus);
  CHECK(flops_of_passes(scenario, f) ==
        Approx(f.step.hfu * f.step.time.value * peak).epsilon(1e-9));
}

TEST_CASE("the passes of one layer-sized model compute the flops that a pencil gives") {
  auto s = tests::scenario_under({}, 2);
  s.model = {.name = "pencil",
             .layers = 1,
             .hidden = 64,
             .heads = 2,
             .kv_heads = 2,
             .head_dim = 32,
             .ffn = 256,
             .vocab = 100,
             .max_sequence = 128};
  s.training = {.sequence_length = 128, .global_batch = 2};
  s.software = {};
  s.plan.micro_batch = 1;
  const auto f = simulate(s, {.timeline = true});
  // A forward pass takes 2 · 128 tokens · (4·64² + 8·64² weights + 64·100 of the head) and 4 · 128²
  // · 64 of attention.
  const double forward = 2 * 128 * (12 * 64 * 64 + 64 * 100) + 4 * 128 * 128 * 64;
  for (const auto& slice : f.timeline.slices) {
    if (slice.kind == "forward") CHECK(slice.flops.value == Approx(forward));
    if (slice.kind == "backward") CHECK(slice.flops.value == Approx(2 * forward));
    if (slice.kind == "optimizer") CHECK(slice.flops.value == 0);
  }
}

TEST_CASE("ranks with one head, which repeat no keys, compute the flops of HFU all the same") {
  auto s = tests::small_llama({.tensor = 8});
  s.model.kv_heads = 2;
  s.software.kernels.repeats_kv = true;
  const auto f = simulate(s, {.timeline = true});
  const double peak = s.cluster.node.device.peak_of(s.training.precision).value * 8;
  CHECK(flops_of_passes(s, f) == Approx(f.step.hfu * f.step.time.value * peak).epsilon(1e-9));
}

}  // namespace flops_spec

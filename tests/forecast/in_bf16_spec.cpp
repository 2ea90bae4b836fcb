// SPDX-License-Identifier: Apache-2.0
// Linear layers that stay in 16 bit beside narrow ones, over whole steps.
#include <random>

#include "forecast/forecast.hpp"
#include "strategies/blocks.hpp"
#include "tests/catch.hpp"
#include "tests/forecast/random_scenario.hpp"

namespace in_bf16_spec {

using forecast::Scenario;
using units::Precision;

namespace {

// Scenarios in 8 or 4 bit.
std::vector<Scenario> narrow_scenarios() {
  std::mt19937 random(11);
  std::vector<Scenario> all;
  while (all.size() < 30) {
    auto s = tests::random_scenario(random);
    if (!model::is_narrow(s.training.precision)) continue;
    s.training.in_bf16 = {};
    s.model.multi_token_prediction = 0;  // its module is no layer of the model's
    all.push_back(std::move(s));
  }
  return all;
}

void check_same(const Scenario& kept, const Scenario& wide) {
  const auto a = forecast::simulate(kept), b = forecast::simulate(wide);
  CHECK(a.step.time == b.step.time);
  CHECK(a.memory.peak == b.memory.peak);
}

}  // namespace

TEST_CASE("a step whose layers all stay in bf16 is a step in bf16, to the picosecond") {
  for (auto s : narrow_scenarios()) {
    auto wide = s;
    wide.training.precision = Precision::bf16;
    SECTION("by layers") {
      s.training.in_bf16.first_layers = s.model.layers / 2;
      s.training.in_bf16.last_layers = s.model.layers - s.model.layers / 2;
      check_same(s, wide);
    }
    SECTION("by modules") {
      using enum model::LinearPart;
      s.training.in_bf16.parts = {attention, mlp, experts, shared_experts};
      check_same(s, wide);
    }
  }
}

TEST_CASE("the layer that is reported is one of the narrow ones, if there are any") {
  for (auto s : narrow_scenarios()) {
    s.model.moe.reset();  // all layers are alike
    s.model.window.reset();
    s.plan.expert = 1;
    s.plan.expert_tensor.reset();
    s.plan.layers.clear();
    s.plan.layer_tensor.reset();
    s.plan.recompute_of_stage.clear();
    s.plan.offload = {};
    s.software.keep_sent_outputs = false;
    if (s.model.layers < 3) continue;
    s.plan.recompute = {};
    const auto kept = forecast::simulate(s).layer.kept;
    s.training.in_bf16.last_layers = 1;
    CHECK(forecast::simulate(s).layer.kept == kept);
    s.training.in_bf16.first_layers = 1;
    CHECK(forecast::simulate(s).layer.kept == kept);
  }
}

TEST_CASE("layers in bf16 are the first and the last of the model, wherever stages cut it") {
  std::mt19937 random(5);
  for (int i = 0; i < 40; ++i) {
    auto s = tests::random_scenario(random);
    s.training.in_bf16 = {.first_layers = 1,
                          .last_layers = std::min<std::int64_t>(2, s.model.layers)};
    std::vector<bool> wide;
    for (const auto& stage : strategies::blocks_of(s.model, s.training, s.plan))
      for (const auto& block : stage)
        if (block.kind == strategies::Block::Kind::layer) wide.push_back(block.wide);
    const auto layers = static_cast<std::size_t>(s.model.layers);
    REQUIRE(wide.size() == layers);
    for (std::size_t layer = 0; layer < layers; ++layer)
      CHECK(wide[layer] == (layer < 1 || layer + 2 >= layers));
  }
}

}  // namespace in_bf16_spec

// SPDX-License-Identifier: Apache-2.0
// A plan that a search found, pasted under `plan:`, is the same plan.
#include <algorithm>
#include <random>

#include "report/document.hpp"
#include "report/search/plan_yaml.hpp"
#include "scenarios/tables.hpp"
#include "tests/catch.hpp"
#include "tests/fewer.hpp"
#include "tests/forecast/random_scenario.hpp"

namespace plan_round_trip_spec {

namespace {

strategies::Plan read(const std::string& text) {
  scenarios::Reading reading("plan.yaml", {});
  const auto document = scenarios::parse_yaml(text, "plan.yaml");
  strategies::Plan plan;
  scenarios::read_plan(plan, {*document.find("plan"), "plan", reading});
  reading.throw_if_any();
  return plan;
}

// The plan without values that another key overrules, or that a file cannot say together.
strategies::Plan plain(strategies::Plan plan) {
  if (!plan.recompute_of_stage.empty()) plan.recompute = {};
  const auto without_count = [](strategies::Recompute& one) {
    if (one.kind != strategies::Recompute::Kind::full_layers) one.layers = 0;
  };
  without_count(plan.recompute);
  std::ranges::for_each(plan.recompute_of_stage, without_count);
  auto& offload = plan.offload;
  if (!offload.activations) offload.activation_layers.reset();
  if (!offload.activations || offload.activation_layers) offload.activation_modules.clear();
  return plan;
}

}  // namespace

TEST_CASE("plans are printed as they are read, as JSON and as YAML of any width") {
  std::mt19937 random(7);
  for (int i = 0; i < 400 / int{tests::fewer}; ++i) {
    const auto scenario =
        i % 2 == 0 ? tests::random_scenario(random) : tests::sharded_scenario(random);
    auto plan = plain(scenario.plan);
    if (i % 5 == 0) {
      plan.layer_tensor.reset();
      plan.layers = {{0, 1, strategies::Recompute{strategies::Recompute::Kind::full, 0, {}}},
                     {3, 3, strategies::Recompute{strategies::Recompute::Kind::selective, 0, {}}}};
    }
    if (i % 3 == 0) plan.layers_per_stage.assign(64, 2);
    const auto json = report::Object().put("plan", report::short_plan_document(plan)).take().dump();
    const auto yaml = report::plan_yaml(plan, 60 + i % 50);
    CAPTURE(json, yaml);
    CHECK(read(json) == plan);
    CHECK(read(yaml) == plan);
  }
}

TEST_CASE("only keys of a plan that matter are printed") {
  strategies::Plan plan;
  plan.tensor = 8;
  plan.pipeline = 4;
  plan.virtual_stages = 2;
  plan.schedule = strategies::ScheduleKind::zb_v;
  plan.recompute_of_stage = {{strategies::Recompute::Kind::full_layers, 3, {}}, {}};
  CHECK(report::plan_yaml(plan) == R"(plan:
  tensor: 8
  pipeline: 4
  schedule: zb-v
  virtual_stages: 2
  data: 1
  micro_batch: 1
  zero: 0
  recompute: [{full_layers: 3}, none]
)");
}

}  // namespace plan_round_trip_spec

// SPDX-License-Identifier: Apache-2.0
#include "search/least_gpus.hpp"
#include "search/limits.hpp"
#include "tests/catch.hpp"
#include "tests/forecast/random_scenario.hpp"
#include "tests/forecast/small_llama.hpp"

namespace limits_spec {

using namespace search;
using Names = std::vector<std::string_view>;

TEST_CASE("limits of a space are the keys that do not allow all") {
  strategies::Plan plan;
  plan.data = 16;
  auto scenario = tests::scenario_under(plan, 16);
  Space space;
  CHECK(limits_of(scenario, space).empty());
  space.pipeline.most = 8;
  space.schedules = {strategies::ScheduleKind::gpipe};
  space.partition = false;  // this limit leaves no plan out
  CHECK(limits_of(scenario, space) == Names{"pipeline", "schedule"});
  scenario.plan.shard_group = strategies::ShardGroup::of(4);
  CHECK(limits_of(scenario, space) == Names{"shard_group", "pipeline", "schedule"});
}

TEST_CASE("a limit is to blame if there are plans without it") {
  strategies::Plan plan;
  plan.data = 16;
  const auto scenario = tests::scenario_under(plan, 16);  // with 8 heads
  Space space;
  space.tensor.listed = {5};
  space.zero.listed = {0};
  CHECK(reliefs(scenario, space) == Names{"tensor"});
  space.pipeline.listed = {7};
  CHECK(reliefs(scenario, space).empty());
}

TEST_CASE("a shard group that no number of replicas is a multiple of is to blame, before zero") {
  strategies::Plan plan;
  plan.data = 16;
  auto scenario = tests::scenario_under(plan, 16);
  scenario.plan.shard_group = strategies::ShardGroup::of(3);
  Space space;
  space.zero.listed = {3};
  CHECK(reliefs(scenario, space) == Names{"shard_group", "zero"});
}

TEST_CASE("where nothing divides, the factor is found that the batch lacks") {
  auto scenario =
      tests::small_llama();  // of eight heads, which the factor 9 of 144 does not divide
  scenario.cluster.gpus = 144;
  scenario.training.global_batch = 512;
  Space space;
  space.pipeline.listed = space.context.listed = {1};
  CHECK(batch_relief(scenario, space) == BatchRelief{9, 576});
  scenario.training.global_batch = 192;  // has one factor 3 of two
  CHECK(batch_relief(scenario, space) == BatchRelief{3, 216});
  scenario.training.global_batch = 576;
  CHECK(batch_relief(scenario, space) == std::nullopt);
  scenario.training.global_batch = 512;
  space.data.listed = {5};
  CHECK(batch_relief(scenario, space) == std::nullopt);
}

TEST_CASE("weights, gradients and states of the whole model fill a number of GPUs, rounded up") {
  strategies::Plan plan;
  plan.data = 16;
  Question question{.scenario = tests::scenario_under(plan, 16)};
  auto& s = question.scenario;
  s.training.precision = units::Precision::bf16;
  s.training.optimizer = strategies::Optimizer::adamw;
  s.software.weight_bytes = 2;
  s.software.gradient_bytes = 4;
  s.software.optimizer_bytes = 12;
  const double states = 18.0 * static_cast<double>(model::parameters(s.model));
  CHECK(least_gpus(question, units::Bytes{states / 3}) == 3);
  CHECK(least_gpus(question, units::Bytes{states / 3.1}) == 4);
  question.others.push_back({s, {}});  // which offloads the states of the optimizer
  question.others.back().scenario.plan.offload.optimizer = strategies::Offload::Tier::cpu;
  CHECK(least_gpus(question, units::Bytes{states / 9}) < 9);
}

}  // namespace limits_spec

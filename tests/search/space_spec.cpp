// SPDX-License-Identifier: Apache-2.0
// The plans that a search chooses from.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "forecast/forecast.hpp"
#include "search/space.hpp"
#include "tests/catch.hpp"
#include "tests/forecast/small_llama.hpp"

namespace space_spec {

using namespace search;
using strategies::Plan;
using strategies::ScheduleKind;

namespace {

// A scenario of two layers of two heads and of two sequences of 64 tokens a step.
forecast::Scenario on(std::int64_t gpus) {
  auto s = tests::small_llama();
  s.model.layers = 2;
  s.model.heads = s.model.kv_heads = 2;
  s.model.head_dim = s.model.hidden / 2;
  s.training.sequence_length = 64;
  s.training.global_batch = 2;
  s.cluster.gpus = gpus;
  s.plan = {};
  return s;
}

std::vector<Plan> plans(const forecast::Scenario& scenario, const Space& space) {
  std::vector<Plan> all;
  for_each_plan(scenario, space, [&](const Plan& plan) { all.push_back(plan); });
  return all;
}

}  // namespace

TEST_CASE("one GPU leaves the microbatch to choose") {
  const auto all = plans(on(1), {});
  REQUIRE(all.size() == 2);
  CHECK(all[0].micro_batch == 1);
  CHECK(all[1].micro_batch == 2);
}

// On two GPUs, tensor 2 (with and without sequence parallelism) and context 2 (zero 0 to 3) have
// microbatches of 1 and 2: 2 · 2 + 4 · 2 plans. Data 2 has one microbatch of 1 with zero 0 to 3: 4
// plans. Pipeline 2 has microbatches of 1 and 2 for gpipe, 1f1b, zb-h1 and zb-h2 with one layer a
// stage, and for interleaved with the embedding and the head on stages of their own: 5 · 2 plans.
// Other schedules of two chunks have no plan for two layers.
TEST_CASE("two GPUs divide tensors, sequences, stages or the batch") {
  const auto all = plans(on(2), {});
  const auto count = [&](auto wanted) { return std::ranges::count_if(all, wanted); };
  CHECK(count([](const Plan& p) { return p.tensor == 2; }) == 4);
  CHECK(count([](const Plan& p) { return p.context == 2; }) == 8);
  CHECK(count([](const Plan& p) { return p.data == 2; }) == 4);
  CHECK(count([](const Plan& p) { return p.pipeline == 2; }) == 10);
  CHECK(all.size() == 26);
}

TEST_CASE("a space may be limited, value by value and by bounds") {
  Space space{.pipeline = {.most = 1}, .zero = {.listed = {1, 3}}, .sequence_parallel = true};
  for (const auto& plan : plans(on(8), space)) {
    CHECK(plan.pipeline == 1);
    CHECK((plan.zero == 1 || plan.zero == 3));
    CHECK(plan.sequence_parallel);
  }
  space.tensor.listed = {3};
  CHECK(plans(on(8), space).empty());
}

// The schedule 1f1b is interleaved with one chunk or, on one rank, with any number of chunks.
TEST_CASE("interleaved has one chunk, or one rank, only where 1f1b is not searched") {
  const auto chunks = [](std::vector<ScheduleKind> schedules, std::int64_t pipeline,
                         std::int64_t least) {
    const Space space{.tensor = {.most = 1},
                      .context = {.most = 1},
                      .pipeline = {.listed = {pipeline}},
                      .virtual_stages = {.least = least},
                      .zero = {.listed = {0}},
                      .micro_batch = {.listed = {1}},
                      .schedules = std::move(schedules)};
    std::vector<std::int64_t> all;
    for (const auto& plan : plans(on(2), space))
      if (plan.schedule == ScheduleKind::interleaved) all.push_back(plan.virtual_stages);
    return all;
  };
  using List = std::vector<std::int64_t>;
  using enum ScheduleKind;
  CHECK(chunks({interleaved, one_f_one_b}, 2, 0) == List{2});
  CHECK(chunks({interleaved}, 2, 0) == List{1, 2});
  CHECK(chunks({interleaved, one_f_one_b}, 1, 0).empty());
  CHECK(chunks({interleaved}, 1, 0) == List{1});
  CHECK(chunks({interleaved}, 1, 3) == List{3});
}

TEST_CASE("every plan of a space is another one, and can be simulated") {
  auto s = on(8);
  s.model.layers = 4;
  s.training.global_batch = 8;
  std::set<std::string> seen;
  std::size_t simulated = 0;
  for (const auto& plan : plans(s, {.context = {.most = 2}, .micro_batch = {.most = 2}})) {
    const auto name = std::to_string(plan.tensor) + '.' + std::to_string(plan.context) + '.' +
                      std::to_string(plan.pipeline) + '.' + std::to_string(plan.data) + '.' +
                      std::to_string(plan.micro_batch) + '.' + std::to_string(plan.zero) + '.' +
                      std::to_string(plan.virtual_stages) + '.' +
                      std::to_string(plan.sequence_parallel) + '.' +
                      std::to_string(static_cast<int>(plan.schedule));
    CAPTURE(name);
    CHECK(seen.insert(name).second);
    s.plan = plan;
    CHECK(forecast::simulate(s).step.time.value > 0);
    ++simulated;
  }
  CHECK(simulated > 100);
}

TEST_CASE("experts are spread over ranks of a stage, and may be divided otherwise than layers") {
  auto s = on(4);
  s.model.moe = model::Moe{.experts = 4, .top_k = 2, .expert_ffn = 64};
  const auto all = plans(s, {});
  CHECK(std::ranges::any_of(all, [](const Plan& p) { return *p.expert_tensor > p.tensor; }));
  for (const auto& plan : all) {
    CHECK(plan.tensor * plan.context * plan.data % (plan.expert * *plan.expert_tensor) == 0);
    CHECK((plan.tensor == 1 || plan.sequence_parallel));
    s.plan = plan;
    CHECK(forecast::simulate(s).step.time.value > 0);
  }
}

// The two copies of DualPipe share what they hold, so that even one replica divides states.
TEST_CASE("stages of ZeRO differ with one replica where the pipeline keeps two copies") {
  auto scenario = on(2);
  scenario.model.layers = 4;
  scenario.training.global_batch = 4;
  const auto stages_of_zero = [&](ScheduleKind schedule, Values zero) {
    Space space;
    space.pipeline.listed = {2};
    space.micro_batch.listed = {1};
    space.schedules = {schedule};
    space.zero = std::move(zero);
    std::set<int> stages;
    for (const auto& plan : plans(scenario, space)) stages.insert(plan.zero);
    return stages;
  };
  CHECK(stages_of_zero(ScheduleKind::dualpipe, {}) == std::set{0, 1, 2, 3});
  CHECK(stages_of_zero(ScheduleKind::one_f_one_b, {}) == std::set{0});
  CHECK(stages_of_zero(ScheduleKind::one_f_one_b, {.listed = {1, 3}}) == std::set{1});
}

TEST_CASE("stages of ZeRO differ with one replica where ranks hold the same experts or layers") {
  auto scenario = on(2);
  Space space;
  space.tensor.listed = space.micro_batch.listed = {2};
  const auto stages_of_zero = [&] {
    std::set<int> stages;
    for (const auto& plan : plans(scenario, space))
      if (space.layer_tensor.most == 0 || plan.layer_tensor) stages.insert(plan.zero);
    return stages;
  };
  CHECK(stages_of_zero() == std::set{0});
  space.layer_tensor = {.listed = {1}};
  CHECK(stages_of_zero() == std::set{0, 1, 2, 3});
  space.layer_tensor = Space{}.layer_tensor;
  scenario.model.moe = model::Moe{.experts = 4, .top_k = 2, .expert_ffn = 64};
  space.expert_tensor.listed = {1};
  space.expert.listed = {1};
  CHECK(stages_of_zero() == std::set{0, 1, 2, 3});
  space.expert.listed = {2};
  CHECK(stages_of_zero() == std::set{0});
}

}  // namespace space_spec

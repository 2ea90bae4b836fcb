// SPDX-License-Identifier: Apache-2.0
// Whether a plan is one of those that a search chooses from.
#include <functional>
#include <set>
#include <utility>

#include "plans/admissible.hpp"
#include "plans/holdings.hpp"
#include "search/given_plan.hpp"
#include "tests/catch.hpp"
#include "tests/search/whole_problem.hpp"

namespace given_plan_spec {

using namespace search;
using strategies::Plan;
using strategies::Recompute;
using strategies::ScheduleKind;
using whole::name_of;

namespace {

using Keys = std::vector<std::string_view>;

// A question about 16 GPUs that leaves every key open.
Question open_question() {
  whole::Draw draw(3);
  Question question;
  auto& scenario = question.scenario;
  scenario.model = whole::draw_model(draw);
  scenario.model.layers = 8;
  scenario.model.moe.reset();
  scenario.model.kv_heads = scenario.model.heads = 8;
  scenario.cluster = tests::cluster_of(16, 4, 1);
  scenario.software = {.name = "software"};
  scenario.training = {.sequence_length = 512, .global_batch = 32};
  return question;
}

Plan plan_of(std::int64_t tensor, std::int64_t pipeline, std::int64_t data) {
  Plan plan;
  plan.tensor = tensor;
  plan.pipeline = pipeline;
  plan.data = data;
  return plan;
}

forecast::Forecast forecast_of(forecast::Scenario scenario, const Plan& plan) {
  scenario.plan = plan;
  return forecast::simulate(scenario);
}

}  // namespace

namespace {

// The plan with every division of the experts, or else with and without regrouped layers.
std::vector<Plan> held_apart(const Plan& plan, const forecast::Scenario& scenario) {
  std::vector<Plan> all;
  if (scenario.model.moe) {
    for (std::int64_t expert = 1; expert <= scenario.cluster.gpus; expert *= 2)
      for (std::int64_t tensor = 1; tensor <= scenario.cluster.gpus; tensor *= 2) {
        all.push_back(plan);
        all.back().expert = expert;
        all.back().expert_tensor = tensor;
        all.back().sequence_parallel = plan.tensor > 1;
      }
    return all;
  }
  all.push_back(plan);
  for (std::int64_t tensor = 1; tensor < plan.tensor; tensor *= 2) {
    all.push_back(plan);
    all.back().layer_tensor = tensor;
  }
  return all;
}

// Visits every value of the degrees, of ZeRO and of the schedules on so many GPUs that the
// conditions of a plan allow, by nested loops that leave nothing out.
void for_each_allowed_plan(const forecast::Scenario& scenario,
                           const std::function<void(const Plan&)>& visit) {
  const auto gpus = scenario.cluster.gpus;
  const auto allowed = [&](const Plan& plan) {
    using namespace strategies;
    for (const auto conditions :
         {on_tensor(), on_context(), on_sequence_parts(), on_ulysses(), on_experts(),
          on_expert_rows(), on_expert_ranks(), on_shards(), on_states(), on_batch(), on_layers(),
          on_stages(), on_microbatches(), on_chunks()})
      if (!all_hold(conditions, {scenario.model, scenario.training, plan, scenario.cluster}))
        return false;
    return !plan.layer_tensor ||
           all_hold(on_regrouping(), {scenario.model, scenario.training, plan, scenario.cluster});
  };
  for (const auto& [name, schedule] : words_of(ScheduleKind{}))
    for (std::int64_t tensor = 1; tensor <= gpus; tensor *= 2)
      for (std::int64_t context = 1; tensor * context <= gpus; context *= 2)
        for (std::int64_t pipeline = 1; tensor * context * pipeline <= gpus; pipeline *= 2)
          for (int zero = 0; zero <= 3; ++zero)
            for (std::int64_t chunks = 1; chunks <= 2; ++chunks) {
              auto plan = plan_of(tensor, pipeline, gpus / (tensor * context * pipeline));
              plan.context = context;
              plan.schedule = schedule;
              plan.virtual_stages = chunks;
              plan.zero = zero;
              plan.micro_batch = scenario.plan.micro_batch;
              for (const auto& one : held_apart(plan, scenario))
                if (allowed(one)) visit(one);
            }
}

}  // namespace

TEST_CASE(
    "every pipeline that its conditions allow takes the time and memory of a plan of the space") {
  auto question = open_question();
  auto& scenario = question.scenario;
  scenario.cluster = tests::cluster_of(4, 4, 1);
  scenario.training.global_batch = 8;
  const bool experts = GENERATE(false, true);
  CAPTURE(experts);
  if (experts) scenario.model.moe = model::Moe{.experts = 4, .top_k = 2, .expert_ffn = 256};
  scenario.plan.micro_batch = experts ? 1 : 2;
  question.space.micro_batch.listed = {scenario.plan.micro_batch};
  question.space.layer_tensor.most = 4;
  using Answer = std::pair<double, double>;  // seconds, bytes
  const auto answer = [&](Plan plan) {
    if (plan.layer_tensor)
      plan.layers = {{.to = scenario.model.layers - 1, .tensor = plan.layer_tensor}};
    const auto forecast = forecast_of(scenario, plan);
    return Answer{forecast.step.time.value, forecast.memory.peak.value};
  };
  std::set<Answer> of_space;
  for_each_plan(scenario, question.space, [&](const Plan& plan) { of_space.insert(answer(plan)); });
  int mirrored = 0, apart = 0, all = 0;
  for_each_allowed_plan(scenario, [&](const Plan& plan) {
    CAPTURE(name_of(plan), plan.zero);
    CHECK(outside(question, plan).empty());
    ++all;
    if (plan.schedule == ScheduleKind::dualpipe && plan.data == 1 && plan.zero > 0) ++mirrored;
    const bool one_dense = plan.data * plan.context == 1 && plan.schedule != ScheduleKind::dualpipe;
    if (one_dense && strategies::sums_gradients(plan) && plan.zero > 0) ++apart;
    // On one rank 1F1B stands for all schedules (docs/search.md).
    if (plan.pipeline > 1 || plan.schedule == ScheduleKind::one_f_one_b)
      CHECK(of_space.contains(answer(plan)));
  });
  CHECK(all > 200);
  CHECK(mirrored > 0);
  CHECK(apart > 0);
}

TEST_CASE("all that exhaustive search simulates lies inside of the space") {
  for (unsigned seed = 0; seed < 60 / whole::fewer; ++seed) {
    const auto question = whole::draw_question(seed, 60);
    const auto ways = ways_of(question.scenario, question.space);
    const auto costs = forecast::costs_on(question.scenario.cluster);
    CAPTURE(seed);
    whole::for_each_partition(question, [&](const Plan& plan) {
      const auto prices = layer_prices(question.scenario, plan, ways, costs);
      whole::for_each_choice(question, plan, prices, [&](const Plan& one) {
        CAPTURE(name_of(one));
        CHECK(outside(question, one).empty());
        return true;
      });
    });
  }
}

TEST_CASE("a plan outside of the space is told by its keys") {
  auto question = open_question();
  const auto inside = plan_of(2, 4, 2);
  CHECK(outside(question, inside).empty());
  const auto changed = [&](auto change) {
    auto plan = inside;
    change(plan);
    return outside(question, plan);
  };
  CHECK(changed([](Plan& p) { p.micro_batch = 3; }) == Keys{"micro_batch"});
  CHECK(changed([](Plan& p) { p.data = 4; }) == Keys{"tensor", "pipeline", "data"});
  CHECK(changed([](Plan& p) { p.layers_per_stage = {1, 3, 2, 2}; }).empty());
  CHECK(changed([](Plan& p) { p.layers_per_stage = {2, 0, 3, 3}; }) == Keys{"layers_per_stage"});
  CHECK(changed([](Plan& p) { p.recompute = {Recompute::Kind::full_layers, 1, {}}; }).empty());
  CHECK(changed([](Plan& p) { p.overlap.data = true; }) == Keys{"overlap"});
  CHECK(changed([](Plan& p) { p.offload.activations = true; }) == Keys{"offload"});
  CHECK(changed([](Plan& p) {
          p.schedule = ScheduleKind::zb_h1;
          p.layers_per_stage = {1, 3, 2, 2};
        }) == Keys{"layers_per_stage"});
  question.space.zero.listed = {1};
  question.space.schedules = {ScheduleKind::gpipe};
  CHECK(outside(question, inside) == Keys{"zero", "schedule"});
  question.space = {};
  question.space.recompute_ways = {{Recompute::Kind::full, 0, {}}};
  CHECK(outside(question, inside) == Keys{"recompute"});
}

TEST_CASE("a plan that runs as one of the space does is inside of it") {
  const auto question = open_question();
  auto plan = plan_of(1, 1, 16);
  plan.sequence_parallel = true;
  plan.schedule = ScheduleKind::gpipe;
  CHECK(outside(question, plan).empty());
  plan = plan_of(8, 2, 1);
  plan.schedule = ScheduleKind::interleaved;
  plan.zero = 2;
  CHECK(outside(question, plan).empty());
  // Where interleaved is the only schedule, plans have one chunk, or on one rank any number.
  auto interleaved = question;
  interleaved.space.schedules = {ScheduleKind::interleaved};
  CHECK(outside(interleaved, plan).empty());
  plan = plan_of(1, 1, 16);
  plan.schedule = ScheduleKind::interleaved;
  plan.virtual_stages = 4;
  plan.layers_per_stage = {1, 3, 2, 2};
  CHECK(outside(interleaved, plan).empty());
}

TEST_CASE("the plan found is no slower than a given plan of the space that fits") {
  auto question = open_question();
  question.space.schedules = {ScheduleKind::one_f_one_b, ScheduleKind::interleaved};
  question.gap = 0.01;
  for (const auto& plan : {plan_of(2, 4, 2), plan_of(8, 2, 1), plan_of(1, 1, 16)}) {
    const auto compared = compare(question, plan);
    CAPTURE(name_of(plan));
    CHECK(compared.outside.empty());
    CHECK(compared.given_fits);
    REQUIRE(!compared.answer.plans.empty());
    CHECK(compared.answer.plans.front().forecast.step.time <= compared.given);
  }
}

// Compression takes time, so the model of passes is a guess, and a choice of degrees here has too
// many plans for all of them to be simulated.
TEST_CASE("where kept tensors are compressed, no way that all layers share beats the plan found") {
  for (unsigned seed = 0; seed < 40 / whole::fewer; ++seed) {
    whole::Draw draw(seed);
    auto question = open_question();
    auto& scenario = question.scenario;
    scenario.model = whole::draw_model(draw);
    scenario.model.layers = 4;
    scenario.model.moe.reset();
    scenario.software = whole::draw_software(draw);
    scenario.plan.activation_compression =
        draw.of(strategies::ActivationCompression::fp8, strategies::ActivationCompression::int8);
    auto plan = plan_of(2, draw.of(2, 4), 1);
    plan.data = 16 / plan.tensor / plan.pipeline;
    plan.activation_compression = scenario.plan.activation_compression;
    question.space.schedules = {ScheduleKind::one_f_one_b};
    question.space.tensor.listed = {plan.tensor};
    question.space.pipeline.listed = {plan.pipeline};
    question.space.context.listed = question.space.micro_batch.listed = {1};
    question.space.zero.listed = {0};
    question.space.sequence_parallel = false;
    const auto answer = search::search(question);
    REQUIRE(!answer.plans.empty());
    for (const auto& way : ways_of(scenario, question.space)) {
      plan.recompute = way;
      const auto compared = forecast_of(scenario, plan);
      CAPTURE(seed, name_of(plan));
      CHECK(outside(question, plan).empty());
      CHECK(answer.plans.front().forecast.step.time <= compared.step.time);
    }
  }
}

}  // namespace given_plan_spec

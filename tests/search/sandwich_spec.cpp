// SPDX-License-Identifier: Apache-2.0
// A search of medium size, between its bound and the plans that people would have tried first.
#include "tests/catch.hpp"
#include "tests/forecast/random_scenario.hpp"
#include "tests/search/every_plan.hpp"

namespace sandwich_spec {

using namespace search;
using strategies::Plan;
using strategies::Recompute;
using strategies::ScheduleKind;
using whole::name_of;

namespace {

// A question about a model of 5 billion parameters on four nodes of eight A100 with a NIC each.
Question question_with(double memory_fraction) {
  Question question;
  auto& scenario = question.scenario;
  scenario.name = "5b on 32";
  scenario.model = {.name = "5b",
                    .layers = 24,
                    .hidden = 4096,
                    .heads = 32,
                    .kv_heads = 32,
                    .head_dim = 128,
                    .ffn = 16384,
                    .vocab = 40960,
                    .max_sequence = 2048};
  scenario.cluster = tests::cluster_of(32, 8, 8);
  scenario.cluster.memory_fraction = memory_fraction;
  scenario.software = {.name = "software"};
  scenario.software.overlap_data = true;
  scenario.training = {.sequence_length = 2048, .global_batch = 64};
  question.space.context.listed = {1};
  question.space.sequence_parallel = true;
  question.space.schedules = {ScheduleKind::gpipe, ScheduleKind::one_f_one_b,
                              ScheduleKind::interleaved};
  question.gap = 0.02;
  return question;
}

// Visits plans as Megatron has them: pipelines cut evenly, all layers in one way, for every 29th
// choice of degrees.
template <class Visit>
void for_each_usual(const Question& question, Visit visit) {
  using enum Recompute::Kind;
  std::size_t number = 0;
  for_each_plan(question.scenario, question.space, [&](const Plan& plan) {
    if (++number % 29 != 0) return;
    for (const auto kind : {none, selective, full}) {
      auto scenario = question.scenario;
      scenario.plan = plan;
      scenario.plan.recompute.kind = kind;
      visit(scenario);
    }
  });
}

}  // namespace

TEST_CASE("the plan found lies between its bound and every usual plan", "[sandwich]") {
  for (const double memory_fraction : {1.0, 0.25}) {
    const auto question = question_with(memory_fraction);
    const auto answer = search::search(question);
    CAPTURE(memory_fraction);
    REQUIRE(!answer.plans.empty());
    const auto best = answer.plans.front().forecast.step.time;
    CAPTURE(name_of(answer.plans.front().plan), best.value);
    CHECK(answer.lower_bound <= best);
    CHECK(answer.gap <= question.gap);
    std::int64_t usual = 0, fitting = 0;
    for_each_usual(question, [&](const forecast::Scenario& scenario) {
      const auto forecast = forecast::simulate(scenario);
      ++usual;
      if (!whole::fits(forecast, 0)) return;
      ++fitting;
      CAPTURE(name_of(scenario.plan), forecast.step.time.value);
      CHECK(answer.lower_bound <= forecast.step.time);
      CHECK(best <= forecast.step.time);
    });
    CHECK(fitting > 20);
    if (memory_fraction < 1) CHECK(fitting < usual);
  }
}

}  // namespace sandwich_spec

// SPDX-License-Identifier: Apache-2.0
// Searches that choose between scenarios as well, with other precisions or with states on the host.
#include "search/branch_and_bound.hpp"
#include "tests/catch.hpp"
#include "tests/forecast/small_llama.hpp"
#include "tests/search/whole_problem.hpp"

namespace alternatives_spec {

using namespace search;
using whole::name_of;

namespace {

Question with_alternatives(unsigned seed) {
  auto question = whole::draw_question(seed, 20);
  question.scenario.training.precision = units::Precision::bf16;
  question.scenario.plan.offload = {};
  auto other = Alternative{question.scenario, question.space};
  other.scenario.training.precision = units::Precision::fp16;
  question.others.push_back(other);
  other.scenario.plan.offload.optimizer = strategies::Offload::Tier::cpu;
  question.others.push_back(other);
  return question;
}

std::optional<Picoseconds> best_of(const Answer& answer) {
  if (answer.plans.empty()) return {};
  return ticks(answer.plans.front().forecast.step.time);
}

}  // namespace

TEST_CASE("the best of several alternatives is found, and the bound holds for all") {
  for (unsigned seed = 0; seed < 20 / whole::fewer; ++seed) {
    const auto question = with_alternatives(seed);
    const auto answer = search::search(question);
    CAPTURE(seed);
    std::optional<Picoseconds> best;
    std::int64_t enumerated = 0;
    for (std::size_t i = 0; i <= question.others.size(); ++i) {
      const auto one = search::search(only_alternative(question, i));
      enumerated += one.space.enumerated;
      if (const auto time = best_of(one); time && (!best || *time < *best)) best = time;
    }
    CHECK(best_of(answer) == best);
    CHECK(answer.space.enumerated == enumerated);
    if (!best) continue;
    CHECK(answer.optimal);
    CHECK(answer.lower_bound.value == Approx(static_cast<double>(*best) * 1e-12));
  }
}

TEST_CASE("a plan of an alternative takes its simulated time there") {
  for (unsigned seed = 0; seed < 10 / whole::fewer; ++seed) {
    const auto question = with_alternatives(seed);
    const auto answer = search::search(question, {.top = 1000});
    CAPTURE(seed);
    for (const auto* ranked : {&answer.plans, &answer.pareto})
      for (const auto& one : *ranked) {
        auto scenario = question.scenario_of(one.alternative);
        scenario.plan = one.plan;
        CAPTURE(one.alternative, name_of(one.plan));
        CHECK(one.plan.offload == question.scenario_of(one.alternative).plan.offload);
        CHECK(forecast::simulate(scenario).step.time == one.forecast.step.time);
      }
    for (std::size_t i = 1; i < answer.pareto.size(); ++i) {
      CHECK(answer.pareto[i - 1].forecast.step.time < answer.pareto[i].forecast.step.time);
      CHECK(answer.pareto[i - 1].forecast.memory.peak > answer.pareto[i].forecast.memory.peak);
    }
  }
}

TEST_CASE("where nothing fits in any alternative the one that misses by least is told") {
  auto question = with_alternatives(1);
  question.scenario.cluster.memory_fraction = 1e-6;
  for (auto& other : question.others) other.scenario.cluster.memory_fraction = 1e-6;
  const auto answer = search::search(question);
  CHECK(answer.plans.empty());
  REQUIRE(answer.misfit);
  for (std::size_t i = 0; i <= question.others.size(); ++i) {
    const auto one = search::search(only_alternative(question, i));
    CHECK(answer.misfit->needed <= one.misfit->needed);
  }
}

TEST_CASE("what a plan that fits no host lacks is said of its node, and of a device in bytes") {
  search::Question question;
  question.scenario = tests::small_llama();
  question.scenario.plan.offload.optimizer = strategies::Offload::Tier::cpu;
  question.scenario.cluster.node.host.memory = units::Bytes{1e6};
  const auto answer = search::search(question);
  CHECK(answer.plans.empty());
  REQUIRE(answer.misfit);
  CHECK(answer.misfit->node.starts_with("a node keeps "));
  CHECK(answer.misfit->node.find("host memory of 977 KiB") != std::string::npos);
  CHECK(answer.misfit->needed.value < 1e13);
  auto on_device = *answer.misfit;
  on_device.node.clear();
  on_device.needed = 1000 * on_device.needed;
  CHECK(search::misses_less(on_device, *answer.misfit));
}

TEST_CASE("the gap proved for the fastest plan is the share by which the bound is faster") {
  search::Answer answer;
  answer.gap = 0.5;
  answer.optimal = true;
  answer.lower_bound = units::Seconds{9};
  search::prove(answer);  // without a plan nothing is proved
  CHECK(answer.gap == 0);
  CHECK_FALSE(answer.optimal);

  answer.plans.emplace_back().forecast.step.time = units::Seconds{10};
  search::prove(answer);
  CHECK(answer.gap == Approx(0.1));
  CHECK_FALSE(answer.optimal);

  // A bound above the fastest plan is one of all plans but that one, so the fastest plan becomes
  // the bound.
  answer.lower_bound = units::Seconds{11};
  search::prove(answer);
  CHECK(answer.lower_bound == units::Seconds{10});
  CHECK(answer.gap == 0);
  CHECK(answer.optimal);
}

}  // namespace alternatives_spec

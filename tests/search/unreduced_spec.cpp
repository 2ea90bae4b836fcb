// SPDX-License-Identifier: Apache-2.0
// Plans that leave little memory free. These tests fail if gradients that ZeRO leaves whole count
// as wide as the software keeps them, though the plan keeps them in 16 bit.
#include "search/evaluator.hpp"
#include "search/search.hpp"
#include "search/solvers/enumeration.hpp"
#include "tests/catch.hpp"
#include "tests/forecast/small_llama.hpp"
#include "tests/search/bounded_plans.hpp"

namespace unreduced_spec {

using namespace bounded_plans;

namespace {

using Precision = std::optional<units::Precision>;

// A scenario of two wide layers on two nodes of eight GPUs: whole gradients of a layer are a large
// part of all states.
forecast::Scenario wide_layers(std::int64_t tensor, int zero, const Precision& gradients) {
  auto s = tests::small_llama(
      {.tensor = tensor, .data = 16 / tensor, .sequence_parallel = tensor > 1, .zero = zero});
  s.model.layers = 2;
  s.model.heads = s.model.kv_heads = 32;
  s.model.hidden = 4096;
  s.model.head_dim = 128;
  s.model.ffn = 16384;
  s.plan.recompute.kind = strategies::Recompute::Kind::full;
  s.plan.gradient_precision = gradients;
  return s;
}

// A question about the scenario's plan alone, on devices that leave so much free that it just fits.
Question just_fitting(const forecast::Scenario& scenario) {
  const auto memory = forecast::simulate(scenario).memory;
  const auto only = [](std::int64_t value) { return Values{.least = value, .most = value}; };
  const auto& plan = scenario.plan;
  Question question{.scenario = scenario};
  question.space.tensor = only(plan.tensor);
  question.space.pipeline = question.space.context = question.space.micro_batch = only(1);
  question.space.zero = only(plan.zero);
  question.space.sequence_parallel = plan.sequence_parallel;
  question.space.recompute = false;
  question.memory_headroom = 1 - (memory.peak + units::Bytes{1e3}) / memory.capacity;
  return question;
}

}  // namespace

TEST_CASE("a search finds a plan that a simulation just fits into the memory that is there") {
  for (const int zero : {0, 1, 2, 3}) {
    const auto answer =
        search::search(just_fitting(wide_layers(8, zero, Precision{units::Precision::bf16})));
    REQUIRE(answer.plans.size() == 1);
    CHECK(answer.plans.front().plan.zero == zero);
    CHECK(answer.plans.front().bound <= answer.plans.front().forecast.step.time);
  }
}

TEST_CASE("no plan needs less memory than its problem says, however wide its gradients are") {
  const Precision fp32 = units::Precision::fp32, bf16 = units::Precision::bf16;
  int close = 0, all = 0;
  for (const std::int64_t tensor : {1, 4, 8})
    for (const int zero : {0, 1, 2, 3})
      for (const auto& gradients : {Precision{}, fp32, bf16})
        for (const auto precision : {units::Precision::bf16, units::Precision::fp32})
          for (const bool reshards : {true, false}) {
            auto drawn = wide_layers(tensor, zero, gradients);
            drawn.plan.overlap.data = drawn.plan.overlap.parameters = false;
            drawn.plan.reshard_after_forward = reshards;
            drawn.training.precision = precision;
            drawn.plan.recompute = {};
            const BoundedPlan bounded(std::move(drawn));
            const auto problem = bounded.problem();
            std::mt19937 random(7);
            const auto partition = random_partition(bounded, problem, random);
            Question question;
            question.scenario = bounded.scenario();
            question.scenario.plan = plan_with(bounded.bounds(), partition, true);
            const auto needed = missing(question, forecast::simulate(question.scenario));
            INFO("tensor " << tensor << ", zero " << zero << ", reshards " << reshards
                           << ", gradients in 16 bit " << (gradients == bf16));
            const auto model = excess(problem, partition);
            CHECK(model <= needed + 1024);
            ++all;
            close += needed - model < 64 << 20 ? 1 : 0;
          }
  CHECK(2 * close > all);
}

}  // namespace unreduced_spec

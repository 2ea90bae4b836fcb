// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "forecast/costs.hpp"
#include "search/incumbents.hpp"
#include "search/search.hpp"
#include "tests/catch.hpp"
#include "tests/forecast/small_llama.hpp"
#include "tests/search/whole_problem.hpp"

namespace incumbents_spec {

using namespace search;
using strategies::ScheduleKind;

TEST_CASE("the most promising choice of degrees of each schedule and sharding is played first") {
  const std::vector<Degrees> degrees{{.zero = 1, .schedule = ScheduleKind::one_f_one_b},
                                     {.zero = 1, .schedule = ScheduleKind::one_f_one_b},
                                     {.zero = 3, .schedule = ScheduleKind::one_f_one_b},
                                     {.zero = 1, .schedule = ScheduleKind::zb_v}};
  CHECK(first_choices({{70, 0}, {50, 1}, {60, 2}, {40, 3}}, degrees) ==
        std::vector<std::uint32_t>{3, 1, 2});
}

TEST_CASE(
    "a few neighbours of each schedule and sharding are played next, the most promising first") {
  std::vector<Degrees> degrees(6, {.zero = 1, .schedule = ScheduleKind::interleaved});
  degrees.back().zero = 2;
  CHECK(next_choices({{10, 0}, {11, 1}, {12, 2}, {13, 3}, {14, 4}, {15, 5}}, degrees) ==
        std::vector<std::uint32_t>{0, 1, 2, 3, 5});
}

TEST_CASE("neighbours differ in two degrees at most, the data-parallel one not counted") {
  const strategies::Plan plan{.tensor = 4, .pipeline = 4, .data = 4};
  auto other = plan;
  CHECK(are_neighbours(plan, other));
  other.tensor = 2;
  other.data = 8;
  CHECK(are_neighbours(plan, other));  // the experts' tensor degree follows `tensor`
  other.expert_tensor = 4;
  CHECK(are_neighbours(plan, other));
  other.zero = 1;
  other.expert_tensor.reset();
  CHECK_FALSE(are_neighbours(plan, other));
}

TEST_CASE("guesses sort most choices of degrees as their even partitions do") {
  int right = 0, pairs = 0;
  for (unsigned seed = 0; seed < 80 / whole::fewer; ++seed) {
    const auto question = whole::draw_question(seed, 60);
    const auto costs = forecast::costs_on(question.scenario.cluster);
    PriceCache cache(question.scenario, question.space, costs);
    const Evaluator evaluator(question, costs, cache);
    std::vector<std::pair<Picoseconds, Picoseconds>> known;  // guessed and played step times
    for (std::size_t i = 0; i < cache.size(); ++i) {
      cache.price(std::vector{i});
      for_each_step(question.scenario, question.space, cache.plan(i), [&](const auto& plan) {
        const Degrees degrees{static_cast<std::uint32_t>(i),
                              static_cast<std::int32_t>(plan.pipeline),
                              static_cast<std::int16_t>(plan.virtual_stages),
                              static_cast<std::int8_t>(plan.zero), plan.schedule};
        const auto guess = evaluator.guess(degrees);
        const auto played = evaluator.play_evenly(degrees, sim::unreached);
        if (guess && played.best)
          known.emplace_back(*guess, ticks(played.best->forecast.step.time));
      });
    }
    for (const auto& a : known)
      for (const auto& b : known)
        if (a.second < b.second) ++pairs, right += a.first <= b.first;
  }
  REQUIRE(pairs > 20);
  if (whole::usual_problems())
    CHECK(right > 0.8 * pairs);  // holds for the usual problems, which give some thousand pairs
}

TEST_CASE("a plan of a searched order is found where only the least memory fits") {
  for (const auto schedule : {ScheduleKind::zb_v, ScheduleKind::v_half, ScheduleKind::v_min}) {
    Question question{.scenario = tests::small_llama({.pipeline = 2, .data = 4})};
    auto& scenario = question.scenario;
    scenario.model.layers = 40;  // too many for every way to run them to be tried
    scenario.model.vocab = 32000;
    scenario.training.sequence_length = scenario.model.max_sequence = 4096;
    scenario.training.global_batch = 64;
    auto all_again = scenario;
    all_again.plan.schedule = schedule;
    all_again.plan.virtual_stages = 2;
    all_again.plan.recompute.kind = strategies::Recompute::Kind::full;
    const auto memory = forecast::simulate(all_again).memory;
    question.memory_headroom = 0.06;
    scenario.cluster.memory_fraction *= 1.0001 * (memory.peak / (0.94 * memory.capacity));
    auto& space = question.space;
    space.tensor = space.context = space.micro_batch = {.listed = {1}};
    space.pipeline = space.virtual_stages = {.listed = {2}};
    space.zero = {.listed = {0}};
    space.schedules = {schedule};
    space.partition = false;
    const auto answer = search::search(question);
    REQUIRE_FALSE(answer.plans.empty());
    CHECK(answer.plans.front().forecast.memory.fits);
    CHECK(answer.plans.front().forecast.step.time >= answer.lower_bound);
  }
}

}  // namespace incumbents_spec

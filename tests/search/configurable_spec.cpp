// SPDX-License-Identifier: Apache-2.0
// Plans that frameworks can be configured to run.
#include "search/configurable.hpp"
#include "search/search.hpp"
#include "tests/catch.hpp"
#include "tests/forecast/small_llama.hpp"

namespace configurable_spec {

using strategies::Module;
using strategies::Plan;
using strategies::Recompute;
using strategies::ScheduleKind;

namespace {

Plan cut(std::vector<std::int64_t> layers, std::int64_t ranks, std::int64_t chunks = 1) {
  Plan plan;
  plan.pipeline = ranks;
  plan.virtual_stages = chunks;
  plan.schedule = chunks > 1 ? ScheduleKind::interleaved : ScheduleKind::one_f_one_b;
  plan.layers_per_stage = std::move(layers);
  return plan;
}

}  // namespace

TEST_CASE("a cut is plain where all stages are alike but for the first and the last") {
  CHECK(search::has_plain_cut(cut({}, 4), 8));
  CHECK(search::has_plain_cut(cut({1, 3, 3, 1}, 4), 8));
  CHECK_FALSE(search::has_plain_cut(cut({2, 1, 3, 2}, 4), 8));
  CHECK(search::has_plain_cut(cut({1, 1, 1, 1, 1, 1, 1, 1}, 4, 2), 8));
  CHECK(search::has_plain_cut(cut({1, 2, 2, 2, 2, 2, 2, 1}, 4, 2), 14));
  CHECK(search::has_plain_cut(cut({3, 2, 2, 1, 3, 2, 2, 1}, 4, 2), 16));
  CHECK_FALSE(search::has_plain_cut(cut({3, 2, 2, 2, 2, 2, 2, 1}, 4, 2), 16));
  CHECK_FALSE(search::has_plain_cut(cut({2, 2, 2, 2, 2, 2, 1, 1}, 4, 2), 14));
}

TEST_CASE("recomputation is plain where it is said once for all layers") {
  Plan plan;
  CHECK(search::has_plain_recomputation(plan));
  plan.recompute = {Recompute::Kind::full_layers, 3};
  CHECK(search::has_plain_recomputation(plan));
  plan.layers = {{0, 1, Recompute{Recompute::Kind::full}}};
  CHECK_FALSE(search::has_plain_recomputation(plan));
}

TEST_CASE(
    "the plan of a search that recomputes layer by layer has a plain one beside it that fits") {
  search::Question question{.scenario = tests::small_llama()};
  auto& scenario = question.scenario;
  scenario.cluster = tests::cluster_of(8, 8, 8);
  scenario.training.global_batch = 64;
  question.space.tensor = {.listed = {1}};
  question.space.pipeline = {.listed = {2}};
  question.space.micro_batch = {.listed = {4}};
  question.space.zero = {.listed = {0}};
  question.space.schedules = {ScheduleKind::one_f_one_b};
  question.memory_headroom = 0.01;  // leaves memory for the allocator's reserve
  const auto free = search::search(question).plans.front();
  bool finer_seen = false;
  for (const double share : {0.95, 0.9, 0.85, 0.8, 0.7}) {
    auto tight = question;
    tight.scenario.cluster.memory_fraction =
        share * free.forecast.memory.peak.value / free.forecast.memory.capacity.value;
    auto answer = search::search(tight);
    if (answer.plans.empty()) continue;
    const auto plain = search::configurable_plans(tight, answer);
    if (plain.empty()) continue;
    const auto& [ranked, finer] = plain.front();
    CAPTURE(share);
    CHECK(search::has_plain_recomputation(ranked.plan));
    CHECK(search::has_plain_cut(ranked.plan, scenario.model.layers));
    CHECK(ranked.forecast.memory.fits);
    CHECK(ranked.forecast.step.time >= finer);
    finer_seen = finer_seen || ranked.forecast.step.time > finer;
  }
  CHECK(finer_seen);
}

TEST_CASE("a plan that is plain already stays as it is") {
  search::Question question{.scenario = tests::small_llama()};
  question.scenario.cluster = tests::cluster_of(8, 8, 8);
  question.scenario.training.global_batch = 64;
  question.space.tensor = {.listed = {2}};
  question.space.pipeline = {.listed = {1}};
  auto answer = search::search(question);
  REQUIRE_FALSE(answer.plans.empty());
  REQUIRE(search::has_plain_recomputation(answer.plans[0].plan));
  const auto plain = search::configurable_plans(question, answer);
  REQUIRE_FALSE(plain.empty());
  CHECK(plain[0].ranked.plan == answer.plans[0].plan);
  CHECK(plain[0].finer == answer.plans[0].forecast.step.time);
}

TEST_CASE("a plain plan that is faster than the search's of its degrees becomes the answer's") {
  search::Question question{.scenario = tests::small_llama()};
  question.scenario.cluster = tests::cluster_of(8, 8, 8);
  question.scenario.training.global_batch = 64;
  question.space.tensor = {.listed = {1, 2}};
  question.space.pipeline = {.listed = {1}};
  const auto proved = search::search(question);
  REQUIRE(proved.plans.size() > 1);
  // A search that was stopped has left the best degrees with layer 0 recomputed for nothing.
  auto stopped = proved;
  auto& worse = stopped.plans.front();
  worse.plan.layers = {{0, 1, Recompute{Recompute::Kind::full}}};
  worse.forecast.step.time = 2 * proved.plans.back().forecast.step.time;
  std::swap(stopped.plans.front(), stopped.plans.back());
  stopped.lower_bound = 0.5 * proved.plans.front().forecast.step.time;
  stopped.gap = 0.9;
  const auto plain = search::configurable_plans(question, stopped);
  REQUIRE_FALSE(plain.empty());
  CHECK(stopped.plans.front().plan == plain.front().ranked.plan);
  CHECK(stopped.plans.front().forecast.step.time == proved.plans.front().forecast.step.time);
  CHECK(plain.front().finer == stopped.plans.front().forecast.step.time);
  CHECK(stopped.gap == Approx(0.5));
}

}  // namespace configurable_spec

// SPDX-License-Identifier: Apache-2.0
#include "search/solvers/relaxation.hpp"
#include "tests/catch.hpp"
#include "tests/search/exhaustive.hpp"

namespace relaxation_spec {

using namespace search;
using namespace pipelines;

namespace {

constexpr Picoseconds far = 1'000'000;
constexpr int trials = 400;

PipelineProblem of_equal_layers(int layers, int stages, int microbatches) {
  Chain chain;
  chain.layers.assign(static_cast<std::size_t>(layers), {1, {{1, 1, 2, 0, 0}}});
  return pipeline(chain, {ScheduleKind::one_f_one_b, stages, 1, microbatches}, 0, 1000);
}

}  // namespace

// 1F1B of 2 stages and 4 microbatches takes (4 + 1) · 3 layers · 3 ps = 45 ps.
TEST_CASE("for equal layers on equal stages the bound is their makespan") {
  const auto problem = of_equal_layers(6, 2, 4);
  Relaxation relaxation(problem);
  const auto relaxed = relaxation.improve(far);
  REQUIRE(relaxed.lower_bound);
  CHECK(*relaxed.lower_bound <= 45);
  CHECK(*relaxed.lower_bound >= 44);
  REQUIRE_FALSE(relaxed.cuts.empty());
  CHECK(relaxed.cuts.front() == Cut{0, 3, 6});
}

// With four layers on the first stage its 2 forward passes end at 8 and the first gradient comes at
// 4 + 3 + 6 = 13. Then it runs backward and forward in turn, 12 a microbatch, until the last
// forward pass ends at 37. The gradient of that comes 3 + 6 later, and 8 more make 54.
TEST_CASE("seven layers on two stages: one of them has four") {
  const auto problem = of_equal_layers(7, 2, 4);
  const Timetable table(problem.order, problem.layout, 4, 0);
  CHECK(best_of_cut(problem, table, {0, 4, 7}) == 54);
  CHECK(best_of_cut(problem, table, {0, 3, 7}) == 57);
  CHECK(best_of_all(problem) == 54);
  CHECK(Relaxation(problem).improve(54).lower_bound == 54);
}

TEST_CASE("nothing fits where every layer is larger than a device") {
  auto problem = of_equal_layers(4, 2, 2);
  problem.capacity.assign(2, 1);
  CHECK_FALSE(Relaxation(problem).improve(far).lower_bound);
}

TEST_CASE("a relaxation that is told to stop does not begin another round") {
  std::atomic<bool> stop = false;
  auto problem = of_equal_layers(7, 2, 4);
  problem.stop = &stop;
  Relaxation relaxation(problem);
  CHECK(relaxation.improve(far).lower_bound);  // all frontiers, which look too, are made now
  stop = true;
  CHECK_THROWS_AS(relaxation.improve(far), Stopped);
}

TEST_CASE("no partition is faster than its bound, whatever the schedule, memory and exchanges") {
  Draw draw{std::mt19937(61)};
  std::vector<double> ratios;
  int none = 0;
  for (int trial = 0; trial < trials; ++trial) {
    INFO("trial " << trial);
    const auto problem = random_exchanging_problem(draw, 3);
    const auto best = best_of_all(problem);
    Relaxation relaxation(problem);
    const auto relaxed = relaxation.improve(far);
    if (!relaxed.lower_bound) {
      ++none;
      CHECK_FALSE(best);
      continue;
    }
    if (!best) continue;
    CHECK(*relaxed.lower_bound <= *best);
    ratios.push_back(static_cast<double>(*relaxed.lower_bound) / static_cast<double>(*best));
    for (const auto& cut : relaxed.cuts) {
      CHECK(cut.front() == 0);
      CHECK(cut.back() == static_cast<int>(problem.chain.layers.size()));
      CHECK(std::ranges::is_sorted(cut, std::ranges::less_equal{}));
      CHECK(allows(problem, cut));
    }
    const auto mixed = relaxation.bound(relaxed.multipliers);
    REQUIRE(mixed);
    CHECK(*mixed <= *best);
  }
  CHECK(none > 10);
  std::ranges::sort(ratios);
  CHECK(ratios[ratios.size() / 2] > 0.95);
  CHECK(ratios[ratios.size() / 10] > 0.8);
}

TEST_CASE("a bound reaches a target only where nothing is faster") {
  Draw draw{std::mt19937(62)};
  int reached = 0;
  for (int trial = 0; trial < trials; ++trial) {
    INFO("trial " << trial);
    const auto problem = random_exchanging_problem(draw, 3);
    const auto best = best_of_all(problem);
    const Picoseconds target = best ? std::max<Picoseconds>(1, *best + draw(-8, 8)) : draw(1, 500);
    const auto bound = Relaxation(problem).improve(target).lower_bound;
    if (!best) continue;
    REQUIRE(bound);
    CHECK(*bound <= std::max(target, *best));
    if (*bound < target) continue;
    ++reached;
    CHECK(*best >= target);
  }
  CHECK(reached > trials / 10);
}

TEST_CASE("the multipliers of one problem bound others with the same order") {
  Draw draw{std::mt19937(63)};
  for (int trial = 0; trial < trials / 4; ++trial) {
    INFO("trial " << trial);
    const auto one = random_exchanging_problem(draw, 2);
    const auto multipliers = Relaxation(one).improve(draw(1, 400)).multipliers;
    if (multipliers.stages.empty()) continue;
    for (int i = 0; i < 3; ++i) {
      auto other = one;
      other.chain = random_exchanging_chain(draw, one.layout.virtual_stages() + draw(0, 2));
      other.latency = draw(0, 5);
      for (auto& capacity : other.capacity) capacity = draw(30, 200);
      const auto best = best_of_all(other);
      if (!best) continue;
      const auto bound = Relaxation(other).bound(multipliers);
      REQUIRE(bound);
      CHECK(*bound <= *best);
    }
  }
}

}  // namespace relaxation_spec

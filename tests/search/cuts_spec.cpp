// SPDX-License-Identifier: Apache-2.0
// Partitions below a target, in ranges of layers, and along a given cut. These tests fail if the
// microbatches in flight are left out of a stage's memory, if sum + (m - 1) · max is taken for a
// bound, or if the capacity of a device is off by one.
#include "search/solvers/partition.hpp"
#include "tests/catch.hpp"
#include "tests/search/exhaustive.hpp"

namespace cuts_spec {

using namespace search;
using namespace pipelines;

TEST_CASE("partitions in ranges of layers, with exchanges, equal the best of all") {
  Draw draw{std::mt19937(41)};
  int fitting = 0;
  for (int trial = 0; trial < 500; ++trial) {
    INFO("trial " << trial);
    const auto problem = random_exchanging_problem(draw, 3);
    const auto found = partition(problem);
    const auto best = best_of_all(problem);
    CHECK(found.proved);
    REQUIRE(found.best.has_value() == best.has_value());
    if (!best) continue;
    ++fitting;
    CHECK(found.best->makespan == *best);
    CHECK(found.lower_bound == *best);
    CHECK(allows(problem, found.best->first_layer));
  }
  CHECK(fitting > 250);
}

TEST_CASE("below a target a partition is the best, or proved not to be there") {
  Draw draw{std::mt19937(42)};
  int below = 0, beyond = 0;
  for (int trial = 0; trial < 500; ++trial) {
    INFO("trial " << trial);
    const auto problem = random_exchanging_problem(draw, 3);
    const auto best = best_of_all(problem);
    const Picoseconds target = best ? std::max<Picoseconds>(1, *best + draw(-8, 8)) : 100;
    const auto found = partition(problem, {.target = target});
    if (found.best) CHECK((best && found.best->makespan >= *best));
    if (best && *best < target) {
      ++below;
      REQUIRE(found.best);
      CHECK(found.best->makespan == *best);
      CHECK(found.lower_bound <= *best);
    } else {
      ++beyond;
      CHECK(found.lower_bound >= target);
    }
  }
  CHECK(below > 100);
  CHECK(beyond > 100);
}

TEST_CASE("ways that fit are never faster than the best of their cut, and mostly as fast") {
  Draw draw{std::mt19937(43)};
  int cuts = 0, found = 0, best = 0;
  for (int trial = 0; trial < 300; ++trial) {
    INFO("trial " << trial);
    const auto problem = random_exchanging_problem(draw, 2);
    const Timetable table(problem.order, problem.layout, problem.microbatches, problem.latency,
                          problem.lane);
    IntervalFrontiers frontiers(problem.chain);
    for_each_cut(problem, [&](const Cut& cut) {
      const auto fastest = best_of_cut(problem, table, cut);
      const auto ways = in_ways_that_fit(problem, frontiers, table, cut);
      if (!fastest) CHECK_FALSE(ways);
      if (!fastest) return;
      ++cuts;
      if (!ways) return;
      ++found;
      CHECK(ways->first_layer == cut);
      CHECK(ways->makespan >= *fastest);
      best += ways->makespan == *fastest ? 1 : 0;
      std::vector<Stage> placed(cut.size() - 1);
      for (std::size_t v = 0; v < placed.size(); ++v) {
        auto layer = static_cast<std::size_t>(cut[v]);
        for (const auto& choice : ways->choices[v]) {
          placed[v].fixed += problem.chain.layers[layer].fixed;
          placed[v].add(
              problem.chain.layers[layer++].options[static_cast<std::size_t>(choice.option)]);
        }
      }
      CHECK(fits(problem, placed));
    });
  }
  INFO(cuts << " cuts fit, " << found << " found, " << best << " at their best");
  CHECK(found > cuts * 95 / 100);
  CHECK(best > cuts * 90 / 100);
}

}  // namespace cuts_spec

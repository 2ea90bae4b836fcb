// SPDX-License-Identifier: Apache-2.0
#include "search/solvers/partition.hpp"
#include "strategies/pipeline.hpp"
#include "tests/catch.hpp"
#include "tests/search/oracle.hpp"
#include "tests/search/pipelines.hpp"
#include "tests/search/random_chains.hpp"

namespace partition_spec {

using namespace search;
using namespace pipelines;

namespace {

// A layer from fixed:forward/backward/kept:... with one part per option.
Layer layer_of(const std::string& text) {
  const auto parts = oracle::split(text, ':');
  Layer layer{std::stoll(parts[0]), {}};
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const auto n = oracle::numbers(parts[i]);
    layer.options.push_back({n[2], n[0], n[1], 0, 0});
  }
  return layer;
}

}  // namespace

TEST_CASE("partitions with recomputation equal the known optima of the 1F1B order") {
  int rows = 0;
  for (const auto& cells : oracle::rows_of("joint_partition_recompute.csv")) {
    INFO("instance " << cells[0]);
    Chain chain;
    for (const auto& layer : oracle::split(cells[6], ';')) chain.layers.push_back(layer_of(layer));
    const auto problem =
        pipeline(chain, {ScheduleKind::one_f_one_b, std::stoi(cells[1]), 1, std::stoi(cells[2])}, 0,
                 std::stoll(cells[3]));
    const auto found = partition(problem);
    const auto optimum = oracle::optimum(cells[5]);
    CHECK(found.proved);
    REQUIRE(found.best.has_value() == optimum.has_value());
    if (optimum) {
      CHECK(found.best->makespan == *optimum);
      check_claims(problem, *found.best);
    }
    ++rows;
  }
  CHECK(rows == 60);
}

TEST_CASE("partitions equal the best of all partitions, whatever the schedule") {
  Draw draw{std::mt19937(3)};
  int fitting = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const auto schedule = random_schedule(draw);
    const auto stages =
        strategies::layout_of(schedule.schedule, schedule.stages, schedule.chunks).virtual_stages();
    auto chain = random_chain(draw, draw(stages, stages + 2), 3);
    if (draw(0, 3) == 0) {
      const auto first = draw(0, static_cast<std::int64_t>(chain.layers.size()) - 2);
      chain.runs.push_back({static_cast<int>(first), 2, random_options(draw, 2)});
    }
    auto problem = pipeline(chain, schedule, draw(0, 1) * draw(1, 6), draw(15, 90));
    problem.capacity.front() += draw(-5, 5);
    INFO("trial " << trial << " schedule " << static_cast<int>(schedule.schedule));
    const auto found = partition(problem);
    const auto best = brute_force(problem);
    CHECK(found.proved);
    REQUIRE(found.best.has_value() == best.has_value());
    if (!best) continue;
    ++fitting;
    REQUIRE(found.best->makespan == *best);
    check_claims(problem, *found.best);
  }
  CHECK(fitting > 200);
}

TEST_CASE("partitions of longer chains equal the best of all cuts") {
  Draw draw{std::mt19937(4)};
  int fitting = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const int stages = static_cast<int>(draw(3, 6));
    const auto problem =
        pipeline(random_chain(draw, draw(stages + 2, 14), 1 + trial % 7 / 6),
                 {ScheduleKind::one_f_one_b, stages, 1, static_cast<int>(draw(2, 14))},
                 draw(0, 1) * draw(1, 9), draw(60, 300));
    if (trial % 7 == 6 && problem.chain.layers.size() > 9) continue;
    const Timetable table(problem.order, problem.layout, problem.microbatches, problem.latency);
    const auto found = partition(problem);
    const auto best = brute_force(
        problem, [&](const std::vector<StageTimes>& times) { return table.makespan(times); });
    CHECK(found.proved);
    REQUIRE(found.best.has_value() == best.has_value());
    if (!best) continue;
    ++fitting;
    REQUIRE(found.best->makespan == *best);
  }
  CHECK(fitting > 150);
}

}  // namespace partition_spec

// SPDX-License-Identifier: Apache-2.0
#include "plans/schedules/in_flight.hpp"
#include "tests/catch.hpp"
#include "tests/search/oracle.hpp"
#include "tests/search/orders.hpp"

namespace orders_spec {

using namespace search;

namespace {

// Checks an order by timing it and counting its microbatches independently of the search.
void check_claims(const SmallPipeline& pipeline, const OptimalOrder& found) {
  const strategies::Layout layout{strategies::Layout::Kind::loop,
                                  static_cast<int>(pipeline.stages.size()), 1};
  const Timetable table(found.order, layout, pipeline.microbatches, pipeline.latency);
  CHECK(table.makespan(pipeline.stages) == found.makespan);
  for (const auto& slots : found.order) {
    CHECK(slots.size() == 3 * static_cast<std::size_t>(pipeline.microbatches));
    if (pipeline.limit) CHECK(strategies::peak_in_flight(slots, 1) <= *pipeline.limit);
  }
}

}  // namespace

TEST_CASE("the best orders of small pipelines equal the known optima") {
  int rows = 0;
  for (const auto& cells : oracle::rows_of("pipeline_optimal_small.csv")) {
    INFO("row " << rows);
    SmallPipeline pipeline{
        std::vector<StageTimes>(std::stoul(cells[0]),
                                {std::stoll(cells[2]), std::stoll(cells[3]), std::stoll(cells[4])}),
        std::stoi(cells[1]), std::stoll(cells[5]), std::nullopt};
    if (cells[6] != "-") pipeline.limit = std::stoi(cells[6]);
    const auto found = optimal_order(pipeline);
    REQUIRE(found);
    CHECK(found->makespan == std::stoll(cells[7]));
    check_claims(pipeline, *found);
    ++rows;
  }
  CHECK(rows == 252);
}

TEST_CASE("one stage works without a break, whatever it may hold") {
  for (const std::optional<int> limit : {std::optional<int>{}, {1}, {2}}) {
    const SmallPipeline pipeline{{{3, 4, 5}}, 6, 7, limit};
    CHECK(optimal_order(pipeline)->makespan == 6 * (3 + 4 + 5));
  }
}

TEST_CASE("a search for the best order gives up beyond its labels and its sizes") {
  CHECK_FALSE(optimal_order({std::vector<StageTimes>(3, {12, 16, 8}), 4, 1, {}}, 10));
  CHECK_THROWS_WITH(optimal_order({std::vector<StageTimes>(6, {1, 1, 1}), 4, 0, {}}),
                    "optimal orders are for 1 to 5 stages and 1 to 15 microbatches");
  CHECK_THROWS_WITH(optimal_order({std::vector<StageTimes>(2, {1, 1, 1}), 4, 0, 0}),
                    "a stage must be allowed to hold one microbatch");
}

}  // namespace orders_spec

// SPDX-License-Identifier: Apache-2.0
// These tests fail if the microbatches in flight are left out of a stage's memory.
#include "tests/catch.hpp"
#include "tests/search/closed_forms.hpp"
#include "tests/search/oracle.hpp"

namespace closed_forms_spec {

using namespace oracle;

TEST_CASE("closed forms of pipelines equal their known least values") {
  int rows = 0, latencies = 0;
  for (const auto& cells : oracle::rows_of("pipeline_partition.csv")) {
    INFO("instance " << cells[0]);
    TimedPipeline pipeline{.stages = std::stoi(cells[1]), .microbatches = std::stoi(cells[2])};
    for (const auto& layer : oracle::split(cells[7], ';')) {
      const auto n = oracle::numbers(layer);
      pipeline.layers.push_back({n[0], n[1], n[2], n[3]});
    }
    CHECK(least_bottleneck(pipeline) == oracle::optimum(cells[4]));
    pipeline.capacity = std::stoll(cells[3]);
    CHECK(least_bottleneck(pipeline) == oracle::optimum(cells[5]));
    ++rows;
    if (cells[6] == "?") continue;
    CHECK(least_latency(pipeline) == oracle::optimum(cells[6]));
    ++latencies;
  }
  CHECK(rows == 60);
  CHECK(latencies == 52);
}

}  // namespace closed_forms_spec

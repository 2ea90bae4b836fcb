// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "scenarios/catalog_files.hpp"
#include "scenarios/documents/error.hpp"
#include "scenarios/intervals.hpp"
#include "tests/catch.hpp"

namespace intervals_spec {

TEST_CASE("a table of intervals reads as it is written") {
  const auto intervals = scenarios::read_intervals(
      "between: 0.12\n"
      "regimes:\n"
      "  - {of: [], rows: 12, datasets: 3, low: -0.1, high: 0.2}\n"
      "  - {of: [\"a100\", \"megatron-core\"], rows: 4, datasets: 1, low: 0, high: 0.05}\n"
      "devices:\n"
      "  - {name: \"a100\", gpus: 64, sequence: 2048, traits: [\"bf16\", \"offload\"]}\n",
      "table.yaml");
  CHECK(intervals.between == 0.12);
  REQUIRE(intervals.regimes.size() == 2);
  CHECK(intervals.regimes[1] == forecast::RegimeSpread{{"a100", "megatron-core"}, 4, 1, 0.0, 0.05});
  REQUIRE(intervals.devices.size() == 1);
  CHECK(intervals.devices[0] == forecast::MeasuredDevice{"a100", 64, 2048, {"bf16", "offload"}});
}

TEST_CASE("mistakes in a table of intervals are named with their places") {
  CHECK_THROWS_WITH(
      scenarios::read_intervals("between: 0.1\nregimes:\n  - {of: [a100], rows: 1}\n", "t.yaml"),
      STEPCAST_HOLDS("t.yaml:3:3: regimes: the first regime must be that of all runs"));
  CHECK_THROWS_WITH(scenarios::read_intervals("betwen: 0.1\n", "t.yaml"),
                    STEPCAST_HOLDS("t.yaml:1:1: betwen: unknown key") &&
                        STEPCAST_HOLDS("did you mean 'between'?"));
}

TEST_CASE("the program carries a table that speaks of all runs first") {
  const auto intervals = scenarios::catalog_intervals();
  REQUIRE_FALSE(intervals.regimes.empty());
  CHECK(intervals.regimes.front().regime.empty());
  CHECK(intervals.regimes.front().low <= intervals.regimes.front().high);
  CHECK(intervals.between > 0);
  CHECK(intervals.devices.size() >= 3);
}

TEST_CASE("the table that the program carries is the catalog's file, to the last figure") {
  const auto files = scenarios::catalog_files();
  const auto found = std::ranges::find(files, "intervals.yaml", &scenarios::CatalogFile::path);
  REQUIRE(found != files.end());
  CHECK(scenarios::catalog_intervals() == scenarios::read_intervals(found->text, "intervals.yaml"));
}

}  // namespace intervals_spec

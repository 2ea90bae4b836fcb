// SPDX-License-Identifier: Apache-2.0
// Collectives and fabrics on the command line.
#include <nlohmann/json.hpp>

#include "tests/app/stepcast.hpp"
#include "tests/catch.hpp"

namespace collectives_spec {

using nlohmann::json;
using tests::stepcast;

TEST_CASE("validate collectives has every row of a table, with its error") {
  const auto run = stepcast({"validate", "collectives", "h200_1x8_collectives_stas", "--json"});
  REQUIRE(run.status == app::success);
  const auto document = json::parse(run.out);
  REQUIRE(document["datasets"].size() == 1);
  const auto& table = document["datasets"][0];
  CHECK(table["rows"].size() == 4);
  for (const auto& row : table["rows"])
    CHECK(row["error"].get<double>() ==
          Approx(row["predicted_s"].get<double>() / row["measured_s"].get<double>() - 1));
  CHECK(table["from_32_mib"]["mape"] == table["mape"]);
  CHECK(table["below_32_mib"]["mape"].is_null());
}

TEST_CASE("validate collectives takes --set, and names the tables it knows") {
  const auto slower = stepcast({"validate", "collectives", "nvidia_dgxh100_1n_allreduce", "--json",
                                "--set", "cluster.node.nvlink.launch=1 ms"});
  REQUIRE(slower.status == app::success);
  CHECK(json::parse(slower.out)["mape_below_32_mib"].get<double>() > 1);
  const auto unknown = stepcast({"validate", "collectives", "none"});
  CHECK(unknown.status == app::wrong_input);
  CHECK_THAT(unknown.err,
             STEPCAST_HOLDS("unknown table 'none'") && STEPCAST_HOLDS("vtrain_a100_allreduce"));
}

TEST_CASE("an nccl-tests log becomes a fabric that a scenario can hold") {
  const auto run = stepcast({"import", "nccl-tests", "tests/scenarios/nccl/all_reduce_2x2.txt"});
  REQUIRE(run.status == app::success);
  CHECK_THAT(run.out, STEPCAST_HOLDS("kind: fat-tree\nlink_bandwidth: 39.32 GB/s\n"));
  CHECK_THAT(run.out, STEPCAST_HOLDS("      - [64 MiB, 1.28 ms]\n"));
  const std::string one_node = "tests/scenarios/nccl/rccl_two_tests.txt";
  const auto no_network = stepcast({"import", "nccl-tests", one_node});
  CHECK(no_network.status == app::wrong_input);
  CHECK_THAT(no_network.err, STEPCAST_HOLDS(one_node + ": every test is of one node") &&
                                 STEPCAST_HOLDS("with --into SCENARIO"));
  const auto laid =
      stepcast({"import", "nccl-tests", one_node, "--into", "tests/scenarios/explain/run.yaml"});
  INFO(laid.err);
  CHECK(laid.status == app::success);
  CHECK_THAT(laid.out, STEPCAST_HOLDS("nodes: 1, points: ["));
  const auto wrong = stepcast({"import", "nccl-tests", "README.md.none"});
  CHECK(wrong.status == app::wrong_input);
}

TEST_CASE("catalog show fabric counts switches and cables for a size") {
  const auto run = stepcast({"catalog", "show", "fabric", "ndr-rail-fat-tree", "--nodes", "512"});
  REQUIRE(run.status == app::success);
  CHECK_THAT(run.out, STEPCAST_HOLDS("radix: 64") && STEPCAST_HOLDS("#   core    64 switches"));
  const auto document =
      json::parse(stepcast({"catalog", "show", "fabric", "ndr-rail-fat-tree", "--json"}).out);
  CHECK(document["plan"]["nodes"] == 32);
  CHECK(document["radix"] == 64);
  const auto wrong =
      stepcast({"catalog", "show", "fabric", "ndr-rail-fat-tree", "--node", "dgx-h10"});
  CHECK(wrong.status == app::wrong_input);
  CHECK_THAT(wrong.err, STEPCAST_HOLDS("did you mean 'dgx-h100'"));
}

}  // namespace collectives_spec

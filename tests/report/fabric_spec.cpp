// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "report/collectives.hpp"
#include "report/fabric.hpp"
#include "tests/catch.hpp"
#include "tests/report/golden.hpp"

namespace fabric_spec {

namespace {

topology::Cluster pod() {
  topology::Cluster cluster;
  cluster.node.name = "toy-node";
  cluster.node.gpus = 8;
  cluster.node.nvlink.bandwidth = {300e9};
  cluster.node.nics = {.count = 8, .bandwidth = {50e9}, .latency = {1e-6}};
  cluster.fabric = {.name = "toy-fabric",
                    .link_bandwidth = {50e9},
                    .latency = {0.5e-6},
                    .radix = 64,
                    .efficiency = 1};
  cluster.fabric.switch_power = {700};
  cluster.gpus = 512;
  return cluster;
}

topology::Fabric measured() {
  topology::Fabric fabric{.name = "fabric",
                          .kind = topology::Fabric::Kind::fat_tree,
                          .link_bandwidth = {25e9},
                          .efficiency = 1};
  fabric.measured = {{.collective = topology::Collective::all_gather,
                      .ranks = 16,
                      .nodes = 2,
                      .points = {{{1024}, {20e-6}}, {{1048576}, {150e-6}}}}};
  return fabric;
}

topology::TableScore scored(bool framework) {
  topology::CollectiveTable table{.name = framework ? "through_torch" : "nccl_tests",
                                  .source = "somebody",
                                  .cluster = pod(),
                                  .framework = framework};
  for (const double size : {1e6, 1e8})
    table.points.push_back({.group = {8, 1, 8, 8}, .size = {size}, .measured = {size / 100e9}});
  return topology::score(table);
}

}  // namespace

TEST_CASE("the facts of a fabric read as kept") {
  const auto cluster = pod();
  golden::check("fabric.txt", report::fabric_facts(topology::plan_of(cluster), cluster));
}

TEST_CASE("the facts of a fabric follow its entry in JSON") {
  const auto cluster = pod();
  const auto json =
      nlohmann::json::parse(report::fabric_facts_json(topology::plan_of(cluster), cluster));
  CHECK(json["radix"] == 64);
  CHECK(json["plan"]["switches"] == 24);
  CHECK(json["plan"]["tiers"][1]["name"] == "spine");
  CHECK(json["plan"]["bisection"] == 64 * 8 / 2 * 50e9);
  CHECK(json["plan"]["switch_power"] == 24 * 700);
  CHECK(json["plan"]["switch_price"].is_null());
}

TEST_CASE("a measured fabric is written as a catalog entry") {
  golden::check("fabric.yaml", report::fabric_yaml(measured(), "run \"7\".log"));
}

TEST_CASE("collectives beside their measurements read as kept, frameworks outside the means") {
  golden::check("collectives.txt", report::collectives_text({scored(false), scored(true)}));
  const auto json = nlohmann::json::parse(report::collectives_json({scored(false), scored(true)}));
  CHECK(json["rows"] == 4);
  const auto& first = json["datasets"][0];
  CHECK(first["rows"][0]["measured_s"] == 1e-5);
  CHECK(first["from_32_mib"]["rows"] == 1);
  CHECK(json["mape_from_32_mib"] == first["from_32_mib"]["mape"]);
  CHECK(json["mape_below_32_mib"] == first["below_32_mib"]["mape"]);
}

}  // namespace fabric_spec

// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "scenarios/catalog.hpp"
#include "scenarios/scenario_file.hpp"
#include "scenarios/shown.hpp"
#include "tests/catch.hpp"

namespace cluster_spec {

namespace {

using topology::Cluster;

Cluster cluster(const std::string& yaml, std::vector<std::string> sets = {}) {
  const std::string rest =
      "\nmodel: gpt3-175b\ntraining: {sequence_length: 2048, global_batch: 960}\n";
  return scenarios::read_scenario("cluster: " + yaml + rest, "f.yaml", sets).cluster;
}

// The complaint about a cluster, without its place.
std::string complaint(const std::string& yaml) {
  try {
    cluster(yaml);
  } catch (const scenarios::Error& wrong) {
    return wrong.complaints.front().text;
  }
  return "no complaint";
}

const std::string mixed = "{node: [{node: dgx-h100, nodes: 2}, {node: dgx-a100-80gb, nodes: 4}]}";

}  // namespace

TEST_CASE("a list of kinds of node makes a cluster of all of them, in this order") {
  const auto both = cluster(mixed);
  CHECK(both.gpus == 48);
  CHECK(both.node == scenarios::catalog_node("dgx-h100"));
  REQUIRE(both.others.size() == 1);
  CHECK(both.others[0] == topology::Part{scenarios::catalog_node("dgx-a100-80gb"), 4});
  CHECK(both.fabric == scenarios::catalog_fabric("ndr-rail-fat-tree"));  // of the first
  CHECK(both.node_of(15).name == "dgx-h100");
  CHECK(both.node_of(16).name == "dgx-a100-80gb");
}

TEST_CASE("a list of one kind is that kind") {
  CHECK(cluster("{node: [{node: dgx-h100, nodes: 4}]}") == cluster("{node: dgx-h100, nodes: 4}"));
  CHECK(cluster("{node: [{node: dgx-h100, nodes: 4}], gpus: 32}").gpus == 32);
}

TEST_CASE("a fabric that connects few NICs connects as few of every kind of node") {
  const auto tcp = cluster(mixed.substr(0, mixed.size() - 1) + ", fabric: ethernet-100g}");
  CHECK(tcp.node.nics.count == 1);
  CHECK(tcp.others[0].node.nics.count == 1);
}

TEST_CASE("--set reaches into one kind of node") {
  const auto both =
      cluster(mixed, {"cluster.node.1.node.device.memory=40 GiB", "cluster.node.0.nodes=4"});
  CHECK(both.others[0].node.device.memory.value == 40 * 0x1p30);
  CHECK(both.gpus == 64);
}

TEST_CASE("a key of a fabric that is not named says how to name one of the catalog") {
  for (const std::string set :
       {"cluster.fabric.latency=3 us", "cluster.fabric.link_bandwidth=1 GB/s"})
    try {
      cluster("{node: dgx-h100, nodes: 4}", {set});
      FAIL("no complaint");
    } catch (const scenarios::Error& wrong) {
      CHECK_THAT(wrong.what(), STEPCAST_HOLDS("--set 1: cluster.fabric: missing key 'kind'; ") &&
                                   STEPCAST_HOLDS("base: ndr-rail-fat-tree, or --set "
                                                  "cluster.fabric=ndr-rail-fat-tree first"));
    }
  CHECK(cluster("{node: dgx-h100, nodes: 4}",
                {"cluster.fabric=ndr-rail-fat-tree", "cluster.fabric.latency=3 us"})
            .fabric.latency.value == 3e-6);
}

TEST_CASE("stragglers are GPUs, or all GPUs of a node, and slower than their kind") {
  const auto slow = cluster(
      "{node: dgx-h100, gpus: 20, stragglers: [{gpus: [17, 3], slowdown: 1.2}, {nodes: [1], "
      "slowdown: 1.5}]}");
  REQUIRE(slow.stragglers.size() == 2);
  CHECK(slow.stragglers[0] == topology::Straggler{{3, 17}, 1.2});
  CHECK(slow.stragglers[1] == topology::Straggler{{8, 9, 10, 11, 12, 13, 14, 15}, 1.5});
  CHECK(slow.slowdown_of(17) == 1.2);
  CHECK(slow.slowdown_of(12) == 1.5);
  CHECK(slow.slowdown_of(0) == 1);
  // The third node holds four GPUs.
  CHECK(cluster("{node: dgx-h100, gpus: 20, stragglers: [{nodes: [2], slowdown: 2}]}")
            .stragglers[0]
            .gpus == std::vector<std::int64_t>{16, 17, 18, 19});
}

TEST_CASE("degraded links are links of the cluster") {
  const auto weak = cluster(
      "{node: dgx-h100, nodes: 4, degraded_links: [{link: nic3.2, factor: 0.5}, {link: nic0.0, "
      "factor: 0}]}");
  CHECK(weak.degraded_links == std::vector<topology::DegradedLink>{{"nic3.2", 0.5}, {"nic0.0", 0}});
}

TEST_CASE("a cluster that its switches cannot join is refused before it is computed") {
  CHECK(complaint("{node: dgx-h100, nodes: 64, fabric: {base: ndr-rail-fat-tree, tiers: 1}}") ==
        "cluster.fabric.tiers: the fabric needs 2 tiers of switches, not 1: 64 nodes of 8 NICs, 64 "
        "ports per switch; leave tiers out, or give a larger radix");
  CHECK(complaint("{node: dgx-h100, nodes: 64, fabric: {base: ndr-rail-fat-tree, radix: 3}}") ==
        "cluster.fabric: switches of fewer than four ports cannot join so many leaves: 64 nodes of "
        "8 NICs, 3 ports per switch; give a larger radix, or fewer nodes");
  // One node needs no fabric.
  CHECK(complaint("{node: dgx-h100, nodes: 1, fabric: {base: ndr-rail-fat-tree, radix: 2}}") ==
        "no complaint");
}

TEST_CASE("NICs and GPUs of a node divide each other") {
  const auto with = [](int nics) {
    return complaint("{node: {base: dgx-h100, nics: {count: " + std::to_string(nics) +
                     "}}, nodes: 4}");
  };
  for (const int right : {1, 2, 4, 8, 16}) CHECK(with(right) == "no complaint");
  for (const int wrong : {3, 6, 12})
    CHECK(with(wrong) == "cluster.node.nics.count: " + std::to_string(wrong) +
                             " NICs do not match 8 GPUs; one number must divide the other, so that "
                             "every GPU has a NIC nearest to it");
  CHECK(with(0) ==
        "cluster: node 'dgx-h100' has no NICs, but there are several nodes; give "
        "cluster.node.nics: {count, bandwidth}");
  CHECK(complaint("{node: {base: dgx-h100, nics: {count: 0}}, nodes: 1}") == "no complaint");
}

// A part of a node has its share of the NICs, a larger node those of its base.
TEST_CASE("NICs and GPUs of a node divide each other, wherever their numbers come from") {
  const auto mismatch = [](int nics, int gpus) {
    return std::to_string(nics) + " NICs do not match " + std::to_string(gpus) +
           " GPUs; one number must divide the other, so that every GPU has a NIC nearest to it";
  };
  CHECK(complaint("{node: {base: dgx-h100, gpus: 6}, nodes: 4}") == "no complaint");
  CHECK(complaint("{node: {base: dgx-h100, gpus: 16}, nodes: 4}") == "no complaint");
  CHECK(complaint("{node: {base: dgx-h100, gpus: 10}, nodes: 4}") ==
        "cluster.node.gpus: " + mismatch(8, 10));
  CHECK(complaint("{node: {base: dgx-h100, gpus: 10, nics: {count: 5}}, nodes: 4}") ==
        "no complaint");
  CHECK(complaint("{node: [{node: dgx-h100, nodes: 1}, {node: {base: dgx-h100, gpus: 10}, "
                  "nodes: 1}]}") == "cluster.node.1.node.gpus: " + mismatch(8, 10));
  // The limit is on the NICs that the fabric connects.
  const auto limited = [](int gpus, int most) {
    return complaint(
        "{node: {base: dgx-h100, gpus: " + std::to_string(gpus) +
        "}, nodes: 4, fabric: {base: efa-400g, nics_per_node: " + std::to_string(most) + "}}");
  };
  CHECK(limited(10, 5) == "no complaint");
  CHECK(limited(10, 4) == "cluster.fabric.nics_per_node: " + mismatch(4, 10));
  CHECK(complaint("{node: {base: dgx-h100, gpus: 6}, nodes: 4, fabric: efa-100g}") ==
        "cluster.node.gpus: " + mismatch(4, 6));
}

TEST_CASE("a fabric that connects more NICs than its base shows how many") {
  const auto given =
      cluster("{node: dgx-h100, nodes: 2, fabric: {base: efa-100g, nics_per_node: 8}}");
  CHECK(given.node.nics.count == 8);
  CHECK(scenarios::shown(given).find("fabric")->find("nics_per_node")->text == "8");
  const auto fewer =
      cluster("{node: dgx-h100, nodes: 2, fabric: {base: efa-100g, nics_per_node: 2}}");
  CHECK(fewer.node.nics.count == 2);
  CHECK(scenarios::shown(fewer).find("fabric")->find("nics_per_node") == nullptr);
}

TEST_CASE("no more GPUs or replicas follow from other numbers than may be written") {
  std::vector<std::string> all;
  try {
    cluster("{node: dgx-h100, nodes: 2000000}");
  } catch (const scenarios::Error& wrong) {
    for (const auto& one : wrong.complaints) all.push_back(one.text);
  }
  CHECK(all == std::vector<std::string>{
                   "plan.data: 16000000 is out of range; expected 1 to 1,000,000: 1 means that "
                   "nothing is divided",
                   "cluster.gpus: 16000000 is out of range; expected 1 to 10,000,000: no cluster "
                   "is that large"});
}

}  // namespace cluster_spec

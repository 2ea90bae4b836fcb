// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "tests/catch.hpp"
#include "tests/topology/graph.hpp"
#include "tests/topology/samples.hpp"
#include "topology/fabric_plan.hpp"

namespace fabric_plan_spec {

using namespace topology;
using oracle::Link;
using oracle::Network;
namespace {

// A cluster of nodes with eight NICs on switches of 64 ports of 50 GB/s, all of it payload.
Cluster on(Fabric::Kind kind, std::int64_t nodes) {
  auto cluster = samples::h200(nodes);
  cluster.fabric.kind = kind;
  cluster.fabric.radix = 64;
  cluster.fabric.efficiency = 1;
  cluster.fabric.latency = {0.5};
  cluster.node.nics.latency = {2};
  return cluster;
}

TEST_CASE("a rail-optimised fat-tree has the switches and cables of NVIDIA's SuperPOD of B200") {
  // Rows are from docs.nvidia.com, DGX SuperPOD B200 reference architecture: nodes; leaf, spine and
  // core switches; cables to nodes, to spines, to cores.
  using Row = std::tuple<int, int, int, int, int, int, int>;
  const std::vector<Row> rows{{64, 16, 8, 0, 512, 512, 0},
                              {128, 32, 16, 0, 1024, 1024, 0},
                              {256, 64, 32, 0, 2048, 2048, 0},
                              {512, 128, 128, 64, 4096, 4096, 4096},
                              {1024, 256, 256, 128, 8192, 8192, 8192},
                              {2048, 512, 512, 256, 16384, 16384, 16384}};
  for (const auto& [nodes, leaf, spine, core, to_nodes, to_spine, to_core] : rows) {
    const auto plan = plan_of(on(Fabric::Kind::rail_fat_tree, nodes));
    REQUIRE(plan.tiers.size() == (core > 0 ? 3u : 2u));
    CHECK(plan.tiers[0].switches == leaf);
    CHECK(plan.tiers[0].cables_down == to_nodes);
    CHECK(plan.tiers[1].switches == spine);
    CHECK(plan.tiers[1].cables_down == to_spine);
    if (core > 0) CHECK(plan.tiers[2].switches == core);
    if (core > 0) CHECK(plan.tiers[2].cables_down == to_core);
    CHECK(plan.switches == leaf + spine + core);
    CHECK(plan.cables == to_nodes + to_spine + to_core);
    // No tier is oversubscribed, so half of the nodes send with all their NICs.
    CHECK(plan.bisection.value == Approx(nodes / 2 * 8 * 50e9));
  }
}

TEST_CASE("rails of few nodes share leaves, as many of each as the ports downwards take") {
  // Leaves have 32 ports downwards: two rails of 16 nodes, six of 5, and 16 of the 72 of
  // 2 racks.
  const auto leaves = [](Cluster cluster) { return plan_of(cluster).tiers[0].switches; };
  CHECK(leaves(on(Fabric::Kind::rail_fat_tree, 32)) == 8);
  CHECK(leaves(on(Fabric::Kind::rail_fat_tree, 17)) == 8);
  CHECK(leaves(on(Fabric::Kind::rail_fat_tree, 16)) == 4);
  CHECK(leaves(on(Fabric::Kind::rail_fat_tree, 5)) == 2);
  CHECK(leaves(on(Fabric::Kind::rail_fat_tree, 4)) == 1);
  auto racks = on(Fabric::Kind::rail_fat_tree, 2);
  racks.node.gpus = racks.node.nics.count = 72;
  racks.gpus = 144;
  const auto plan = plan_of(racks);
  CHECK(plan.tiers[0].switches == 5);
  CHECK(plan.tiers[0].cables_down == 144);
  CHECK(plan.switches == 5 + 3);  // 5 leaves have 160 cables upwards
  CHECK(plan.hops == 1);          // a NIC meets that of its own rail
}

TEST_CASE("the furthest nodes are one, three or five switches apart") {
  const auto hops = [](std::int64_t nodes) {
    return plan_of(on(Fabric::Kind::rail_fat_tree, nodes)).hops;
  };
  CHECK(hops(32) == 1);  // one leaf per rail
  CHECK(hops(33) == 3);
  CHECK(hops(256) == 3);
  CHECK(hops(257) == 5);
  CHECK(plan_of(on(Fabric::Kind::rail_fat_tree, 256)).latency.value == 2 * 2 + 3 * 0.5);
}

TEST_CASE("oversubscription saves switches and narrows the middle") {
  auto cluster = on(Fabric::Kind::fat_tree, 48);  // 384 NICs in all
  cluster.fabric.oversubscription = {3};          // 48 ports down, 16 up: six nodes per leaf
  const auto plan = plan_of(cluster);
  CHECK(plan.tiers[0].switches == 8);
  CHECK(plan.tiers[1].switches == 2);  // 8 leaves · 16 cables / 64 ports
  CHECK(plan.bisection.value == Approx(8 * 16 / 2 * 50e9));
}

TEST_CASE("a plain fat-tree is cut at its leaves only where nodes lie on several") {
  CHECK(plan_of(on(Fabric::Kind::fat_tree, 4)).hops == 1);  // its 32 NICs fill 32 ports
  CHECK(plan_of(on(Fabric::Kind::fat_tree, 5)).hops == 3);
}

TEST_CASE("a torus joins every node to the next of three rings") {
  const auto plan = plan_of(on(Fabric::Kind::torus_3d, 64));  // 4 × 4 × 4 routers
  CHECK(plan.switches == 64);
  CHECK(plan.cables_across == 3 * 64);
  CHECK(plan.hops == 2 + 2 + 2 + 1);
  CHECK(plan.bisection.value == Approx(2 * 16 * 50e9));               // two cables of 16 rings
  CHECK(plan_of(on(Fabric::Kind::torus_3d, 8)).cables_across == 12);  // the twelve edges of a cube
}

TEST_CASE("rails alone have one switch each, and dragonfly groups meet directly") {
  CHECK(plan_of(on(Fabric::Kind::rail_only, 32)).switches == 8);
  CHECK(plan_of(on(Fabric::Kind::single_switch, 4)).switches == 1);
  auto cluster = on(Fabric::Kind::dragonfly_plus, 64);
  cluster.fabric.radix = 16;  // one node per leaf, eight leaves and spines per group
  const auto plan = plan_of(cluster);
  CHECK(plan.tiers[0].switches == 64);
  CHECK(plan.tiers[1].switches == 64);
  CHECK(plan.cables_across == 8 * 64 / 2);
  CHECK(plan.hops == 4);
}

TEST_CASE("the plan counts the switches that the graph has") {
  using enum Fabric::Kind;
  for (const auto kind : {fat_tree, rail_fat_tree, rail_only, single_switch, torus_3d})
    for (const std::int64_t nodes : {2, 9, 64}) {
      const auto cluster = on(kind, nodes);
      const Network network(cluster);
      std::vector<std::string> names;
      for (const auto& link : network.links())
        for (const auto& end : {link.from, link.to})
          if (end.starts_with("leaf") || end.starts_with("spine")) names.push_back(end);
      std::ranges::sort(names);
      names.erase(std::unique(names.begin(), names.end()), names.end());
      CHECK(plan_of(cluster).switches == std::ssize(names));
    }
}

TEST_CASE("power and price are sums over the switches, where a switch's is known") {
  auto cluster = on(Fabric::Kind::rail_fat_tree, 64);
  CHECK_FALSE(plan_of(cluster).power);
  CHECK_FALSE(plan_of(cluster).price);
  cluster.fabric.switch_power = {700};
  cluster.fabric.switch_price = {30e3};
  CHECK(plan_of(cluster).power->value == 24 * 700);
  CHECK(plan_of(cluster).price->value == 24 * 30e3);
}

TEST_CASE("a fabric that cannot be built is refused with a reason") {
  auto cluster = on(Fabric::Kind::rail_fat_tree, 64);
  cluster.fabric.tiers = 1;
  CHECK_THROWS_WITH(plan_of(cluster), "the fabric needs 2 tiers of switches, not 1");
  cluster.fabric.tiers.reset();
  cluster.fabric.link_bandwidth = {0};
  CHECK_THROWS_WITH(plan_of(cluster), "the link bandwidth of the fabric must be more than zero");
  cluster = on(Fabric::Kind::rail_fat_tree, 64);
  cluster.node.nics.count = 0;
  CHECK_THROWS_WITH(plan_of(cluster), "several nodes need at least one NIC each");
  cluster = on(Fabric::Kind::rail_fat_tree, 100'000);
  cluster.fabric.tiers = 3;
  CHECK_THROWS_WITH(plan_of(cluster), "the fabric needs 4 tiers of switches, not 3");
}

TEST_CASE("a fabric has as many tiers as its size needs") {
  // Leaves of 32 nodes on 8 rails make 64 leaves at two tiers, 2,048 nodes at three.
  const auto tiers = [](std::int64_t nodes) {
    return plan_of(on(Fabric::Kind::rail_fat_tree, nodes)).tiers.size();
  };
  CHECK(tiers(256) == 2);
  CHECK(tiers(257) == 3);
  CHECK(tiers(8192) == 3);
  CHECK(tiers(8193) == 4);
  const auto large = plan_of(on(Fabric::Kind::rail_fat_tree, 16'384));
  CHECK(large.hops == 7);
  CHECK(large.tiers[2].name == "core");
  CHECK(large.tiers[3].name == "core 2");
  for (const auto& tier : large.tiers) CHECK(tier.cables_down >= large.endpoints);
}

}  // namespace
}  // namespace fabric_plan_spec

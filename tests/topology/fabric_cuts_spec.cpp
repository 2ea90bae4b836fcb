// SPDX-License-Identifier: Apache-2.0
// The switches and cables of fabrics of several kinds, and the capacity of the narrowest cut
// through their middle.
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "tests/topology/samples.hpp"
#include "topology/fabric_plan.hpp"

namespace fabric_cuts_spec {
namespace {

using namespace topology;
using enum Fabric::Kind;

// A cluster of nodes with eight NICs of 50 GB/s, all of it payload.
Cluster on(Fabric::Kind kind, std::int64_t nodes, int radix = 64,
           std::vector<double> oversubscription = {}) {
  auto cluster = samples::h200(nodes);
  cluster.fabric.kind = kind;
  cluster.fabric.radix = radix;
  cluster.fabric.efficiency = 1;
  cluster.fabric.oversubscription = std::move(oversubscription);
  return cluster;
}

// The bisection bandwidth in cables of 50 GB/s.
double cut(const FabricPlan& plan) { return plan.bisection.value / 50e9; }

TEST_CASE("half of all NICs meet the other half in one switch, at the payload of the fabric") {
  auto cluster = on(single_switch, 4);
  CHECK(cut(plan_of(cluster)) == Approx(16));
  cluster.fabric.efficiency = 0.5;
  CHECK(cut(plan_of(cluster)) == Approx(8));
  cluster = on(fat_tree, 48, 64, {3});  // eight leaves with 16 cables upwards each
  cluster.fabric.efficiency = 0.5;
  CHECK(cut(plan_of(cluster)) == Approx(8 * 16 / 2 * 0.5));
}

TEST_CASE("a narrow tier cuts only nodes of several blocks of rails") {
  // Leaves have three times as many ports down as up, so 48 nodes fill a block of eight leaves.
  CHECK(cut(plan_of(on(rail_fat_tree, 48, 64, {3}))) == Approx(48 * 8 / 2));
  CHECK(cut(plan_of(on(rail_fat_tree, 96, 64, {3}))) == Approx(2 * 8 * 16 / 2));
}

TEST_CASE("a narrow second tier halves the cables above it, and the rate across the middle") {
  const auto plan = plan_of(on(rail_fat_tree, 512, 64, {1, 2}));
  REQUIRE(plan.tiers.size() == 3);
  CHECK(plan.tiers[1].cables_down == 4096);  // 512 · 8 NICs
  CHECK(plan.tiers[2].cables_down == 2048);
  CHECK(plan.tiers[2].switches == 2048 / 64);
  CHECK(cut(plan) == Approx(2048 / 2));
}

TEST_CASE("under three tiers every 32 leaves have 32 spines, the last few as well") {
  const auto plan = plan_of(on(rail_fat_tree, 257));  // nine blocks of eight leaves
  CHECK(plan.tiers[0].switches == 72);
  CHECK(plan.tiers[1].switches == 3 * 32);
}

TEST_CASE("a few leaves under three tiers have one core") {
  auto cluster = on(fat_tree, 2, 16);  // two leaves with eight cables upwards each
  cluster.fabric.tiers = 3;
  const auto plan = plan_of(cluster);
  CHECK(plan.tiers[1].switches == 8);
  CHECK(plan.tiers[2].switches == 1);
}

TEST_CASE("all tiers of a full fat tree but the top have as many switches") {
  const auto plan = plan_of(on(rail_fat_tree, 16'384));
  REQUIRE(plan.tiers.size() == 4);
  // Switches have 32 ports down for 16,384 · 8 cables; those of the top tier have 64.
  CHECK(plan.tiers[0].switches == 4096);
  CHECK(plan.tiers[1].switches == 4096);
  CHECK(plan.tiers[2].switches == 4096);
  CHECK(plan.tiers[3].switches == 2048);
  CHECK(cut(plan) == Approx(16'384 * 8 / 2));
}

TEST_CASE("a leaf of a dragonfly takes a node each, a group eight, and spines join groups") {
  const auto leaf = plan_of(on(dragonfly_plus, 1, 16));
  CHECK(leaf.hops == 1);
  const auto group = plan_of(on(dragonfly_plus, 8, 16));
  CHECK(group.hops == 3);
  CHECK(group.cables_across == 0);
  CHECK(group.tiers[1].switches == 8);
  CHECK(group.tiers[1].cables_down == 8 * 8);
  CHECK(cut(group) == Approx(8 * 8 / 2));
  const auto two = plan_of(on(dragonfly_plus, 9, 16));
  CHECK(two.hops == 4);
  CHECK(two.tiers[1].switches == 2 * 8);
  CHECK(two.tiers[1].cables_down == 9 * 8);
}

TEST_CASE("two halves of a dragonfly have the cables of each pair of groups that they part") {
  // Each of three groups has 64 cables, 32 to each other group. A cut of one group against two
  // crosses two pairs.
  const auto three = plan_of(on(dragonfly_plus, 24, 16));
  CHECK(three.cables_across == 3 * 64 / 2);
  CHECK(cut(three) == Approx(2 * 32));
  // A cut of four groups against four crosses sixteen pairs of 64/7 cables.
  CHECK(cut(plan_of(on(dragonfly_plus, 64, 16))) == Approx(16 * 64 / 7.0));
  auto half = on(dragonfly_plus, 24, 16);
  half.fabric.efficiency = 0.5;
  CHECK(cut(plan_of(half)) == Approx(32));
  // Two groups have 64 cables between them, but nine nodes have no more than 36 NICs in a half.
  CHECK(cut(plan_of(on(dragonfly_plus, 9, 16))) == Approx(36));
}

TEST_CASE("a torus of three, four and five routers is cut across its longest side, both ways") {
  const auto plan = plan_of(on(torus_3d, 60));
  CHECK(plan.switches == 60);
  CHECK(plan.cables_across == 3 * 60);
  CHECK(plan.hops == 1 + 2 + 2 + 1);
  CHECK(cut(plan) == Approx(2 * 12));
}

TEST_CASE("two routers of a torus in line have one cable, one router has none") {
  const auto box = plan_of(on(torus_3d, 12));  // 2 x 2 x 3 routers
  CHECK(box.cables_across == 6 + 6 + 12);
  CHECK(box.hops == 1 + 1 + 1 + 1);
  CHECK(cut(box) == Approx(2 * 4));
  const auto line = plan_of(on(torus_3d, 7));
  CHECK(line.cables_across == 7);
  CHECK(line.hops == 3 + 1);
  CHECK(cut(line) == Approx(2));
  const auto two = plan_of(on(torus_3d, 2));
  CHECK(two.cables_across == 1);
  CHECK(two.hops == 1 + 1);
  CHECK(cut(two) == Approx(1));
  CHECK(cut(plan_of(on(torus_3d, 8))) == Approx(4));
}

TEST_CASE("a leaf that takes whole nodes needs a port for each NIC, one of a rail does not") {
  CHECK_THROWS_WITH(plan_of(on(fat_tree, 4, 8)),
                    "the 8 NICs of a node do not fit the 4 ports downwards of a leaf switch; raise "
                    "radix");
  CHECK_THROWS_WITH(plan_of(on(dragonfly_plus, 4, 8)), STEPCAST_HOLDS("do not fit the 4 ports"));
  CHECK(plan_of(on(rail_fat_tree, 4, 8)).tiers[0].switches == 8);  // 4 ports for 4 nodes
}

TEST_CASE("each number that a fabric cannot do without is asked for by name") {
  const auto refused = [](auto change, const char* reason) {
    auto cluster = on(rail_fat_tree, 4);
    change(cluster);
    CHECK_THROWS_WITH(plan_of(cluster), reason);
  };
  refused([](Cluster& c) { c.gpus = 0; }, "a cluster needs at least one GPU");
  refused([](Cluster& c) { c.node.gpus = 0; }, "a cluster needs at least one GPU");
  refused([](Cluster& c) { c.node.nics.count = 0; }, "several nodes need at least one NIC each");
  refused([](Cluster& c) { c.node.nics.bandwidth = {0}; },
          "the NIC bandwidth must be more than zero");
  const char* link = "the link bandwidth of the fabric must be more than zero";
  refused([](Cluster& c) { c.fabric.link_bandwidth = {0}; }, link);
  refused([](Cluster& c) { c.fabric.efficiency = 0; }, link);
  refused([](Cluster& c) { c.fabric.radix = 1; }, "a switch needs at least two ports");
}

TEST_CASE("switches of two ports have one downwards and one upwards") {
  auto cluster = on(dragonfly_plus, 3, 2);
  cluster.node.nics.count = 1;
  const auto dragonfly = plan_of(cluster);
  CHECK(dragonfly.tiers[0].switches == 3);
  CHECK(dragonfly.tiers[1].switches == 3);
  cluster = on(fat_tree, 2, 2);
  cluster.node.nics.count = 1;
  cluster.fabric.tiers = 3;
  CHECK(plan_of(cluster).tiers[1].switches == 2);
}

TEST_CASE("no plan depends on the unit in which bytes, watts and money are counted") {
  constexpr double exa = 0x1p-60;
  auto cluster = on(fat_tree, 48, 64, {3});
  cluster.fabric.switch_power = {700};
  cluster.fabric.switch_price = {30e3};
  auto other = cluster;
  other.node.nics.bandwidth = cluster.node.nics.bandwidth * exa;
  other.fabric.link_bandwidth = cluster.fabric.link_bandwidth * exa;
  other.fabric.switch_power = {700 * exa};
  other.fabric.switch_price = {30e3 * exa};
  CHECK(plan_of(other).bisection.value == plan_of(cluster).bisection.value * exa);
  CHECK(plan_of(other).power->value == plan_of(cluster).power->value * exa);
  CHECK(plan_of(other).price->value == plan_of(cluster).price->value * exa);
}

TEST_CASE("one GPU with one NIC on switches of two ports is a fabric") {
  auto least = on(single_switch, 1, 2);
  least.gpus = least.node.gpus = least.node.nics.count = 1;
  CHECK(plan_of(least).endpoints == 1);
}

}  // namespace
}  // namespace fabric_cuts_spec

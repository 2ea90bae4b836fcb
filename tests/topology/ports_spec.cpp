// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string>

#include "tests/catch.hpp"
#include "tests/topology/samples.hpp"
#include "tests/topology/told_ports.hpp"
#include "topology/ports.hpp"

namespace ports_spec {

using namespace topology;
namespace {

using samples::a100;
using told_ports::Gpus, told_ports::message, told_ports::ring_part, told_ports::told;

double capacity(const Cluster& cluster, const std::string& name) {
  const Ports ports(cluster);
  for (const auto kind : {Port::Kind::nvlink, Port::Kind::pcie, Port::Kind::nic,
                          Port::Kind::leaf_spine, Port::Kind::spine_core, Port::Kind::torus})
    for (const bool out : {true, false})
      for (std::int64_t index = 0; index < 256; ++index)
        if (ports.name({kind, out, index}) == name) return ports.capacity({kind, out, index});
  return -1;
}

// A cluster with leaves of three NICs and one uplink; in a fat tree these are whole nodes with one
// NIC each.
Cluster narrow(std::int64_t nodes, Fabric::Kind kind = Fabric::Kind::fat_tree) {
  auto cluster = a100(nodes);
  cluster.node.nics.count = 1;
  cluster.fabric.kind = kind;
  cluster.fabric.radix = 4;
  cluster.fabric.oversubscription = {3};
  return cluster;
}

}  // namespace

TEST_CASE("a message inside a node crosses the NVLink ports of its ends") {
  CHECK(message(a100(1), 0, 5) == "gpu0.nvlink:out gpu5.nvlink:in");
  CHECK(message(a100(1), 3, 3).empty());
}

TEST_CASE("GPUs of different NVLink pairs meet over PCIe") {
  auto cluster = a100(1);
  cluster.node.nvlink.kind = NvLink::Kind::pairs;
  CHECK(message(cluster, 2, 3) == "gpu2.nvlink:out gpu3.nvlink:in");
  CHECK(message(cluster, 1, 2) == "gpu1.pcie:out gpu2.pcie:in");
}

TEST_CASE("a message between nodes crosses the NICs next to its ends") {
  auto cluster = a100(2);
  CHECK(message(cluster, 0, 8) == "nic0.0:out nic1.0:in");
  cluster.node.nics.count = 4;
  CHECK(message(cluster, 3, 11) == "nic0.1:out nic1.1:in");
  cluster.node.nics.count = 16;
  CHECK(message(cluster, 1, 9) == "nic0.2:out nic1.2:in nic0.3:out nic1.3:in");
}

TEST_CASE("where rails are kept apart a message changes rail over NVLink first") {
  auto cluster = a100(2);
  CHECK(message(cluster, 0, 9) == "gpu0.nvlink:out gpu1.nvlink:in nic0.1:out nic1.1:in");
  cluster.fabric.kind = Fabric::Kind::fat_tree;
  CHECK(message(cluster, 0, 9) == "nic0.0:out nic1.1:in");
}

TEST_CASE("without NVLink a GPU reaches its NIC over the port that also reaches its neighbours") {
  auto cluster = a100(2);
  cluster.node.nvlink.kind = NvLink::Kind::none;
  cluster.fabric.kind = Fabric::Kind::fat_tree;
  CHECK(message(cluster, 0, 8) == "gpu0.pcie:out gpu8.pcie:in nic0.0:out nic1.0:in");
}

TEST_CASE("an oversubscribed leaf is crossed only by messages that leave it") {
  const auto cluster = narrow(6);  // leaf 0 has nodes 0-2, leaf 1 nodes 3-5
  CHECK(message(cluster, 0, 8) == "nic0.0:out nic1.0:in");
  CHECK(message(cluster, 0, 24) == "nic0.0:out leaf0:up leaf1:down nic3.0:in");
  CHECK(capacity(cluster, "leaf0:up") == Approx(25e9 * cluster.fabric.efficiency));
  CHECK(Ports(cluster).unit() == 3);
}

TEST_CASE("tiers that carry all that comes from below bind nobody") {
  auto cluster = narrow(6);
  cluster.fabric.oversubscription = {1};
  CHECK(message(cluster, 0, 40) == "nic0.0:out nic5.0:in");
  CHECK(Ports(cluster).unit() == 1);
}

TEST_CASE("a narrow third tier is crossed by messages that leave their pod") {
  auto cluster = narrow(16);  // leaves of two nodes, pods of two leaves
  cluster.fabric.oversubscription = {1, 2};
  cluster.fabric.tiers = 3;
  CHECK(message(cluster, 0, 16) == "nic0.0:out nic2.0:in");
  CHECK(message(cluster, 0, 32) == "nic0.0:out pod0:up pod1:down nic4.0:in");
  // A pod has two spines with two ports upwards each, of which half remain.
  CHECK(capacity(cluster, "pod0:up") == Approx(2 * 25e9 * cluster.fabric.efficiency));
  CHECK(Ports(cluster).unit() == 4);
}

TEST_CASE("a torus routes by dimension, the shorter way round") {
  auto cluster = narrow(60, Fabric::Kind::torus_3d);  // 3 x 4 x 5 routers, x innermost
  CHECK(message(cluster, 0, 8) == "nic0.0:out node0.x+ nic1.0:in");
  CHECK(message(cluster, 0, 8 * 2) == "nic0.0:out node0.x- nic2.0:in");
  CHECK(message(cluster, 0, 8 * (1 + 3 * 1 + 12 * 4)) ==
        "nic0.0:out node0.x+ node1.y+ node4.z- nic52.0:in");
  CHECK(Ports(cluster).unit() == 0);
}

TEST_CASE("a ring passes each node in and out by as many NICs as it uses") {
  const auto cluster = a100(3);
  CHECK(ring_part(cluster, {0}, {8}, {16}, 1) == "nic1.0:out nic1.0:in");
  // With two members and two channels each channel takes the hop between them once.
  CHECK(ring_part(cluster, {0, 1}, {8, 9}, {16, 17}, 2) ==
        "gpu8.nvlink:out gpu8.nvlink:in gpu9.nvlink:out gpu9.nvlink:in nic1.0:out nic1.0:in "
        "nic1.1:out nic1.1:in");
  CHECK(ring_part(cluster, {}, {8, 9}, {}, 1) ==
        "gpu8.nvlink:out gpu8.nvlink:in gpu9.nvlink:out gpu9.nvlink:in");
}

TEST_CASE("a ring crosses the uplinks of a leaf where its next node hangs on another") {
  const auto cluster = narrow(6);
  CHECK(ring_part(cluster, {0}, {8}, {16}, 1) == "nic1.0:out nic1.0:in");
  CHECK(ring_part(cluster, {8}, {16}, {24}, 1) == "nic2.0:out leaf0:up nic2.0:in");
  CHECK(ring_part(cluster, {16}, {24}, {32}, 1) == "nic3.0:out nic3.0:in leaf1:down");
}

TEST_CASE("a degraded link carries its factor, in the direction that is named") {
  auto cluster = a100(2);
  const double nic = capacity(cluster, "nic1.3:out");
  CHECK(nic == Approx(25e9 * cluster.fabric.efficiency));
  cluster.degraded_links = {{"nic1.3:out", 0.5}, {"gpu2", 0.25}};
  CHECK(capacity(cluster, "nic1.3:out") == Approx(nic / 2));
  CHECK(capacity(cluster, "nic1.3:in") == Approx(nic));
  CHECK(capacity(cluster, "gpu2.nvlink:in") == Approx(capacity(cluster, "gpu1.nvlink:in") / 4));
}

TEST_CASE("one of several cables that fails takes its share of a leaf's uplinks") {
  auto cluster = narrow(6);
  cluster.fabric.oversubscription = {1};  // two nodes; two uplinks to each of two spines
  const auto sound = capacity(cluster, "leaf0:up");
  CHECK(sound == Approx(2 * 25e9 * cluster.fabric.efficiency));
  cluster.degraded_links = {{"leaf0-spine1", 0}};
  CHECK(capacity(cluster, "leaf0:up") == Approx(sound / 2));
  CHECK(message(cluster, 0, 40) == "nic0.0:out leaf0:up leaf2:down nic5.0:in");
}

TEST_CASE("the next NIC that works stands in for one that failed") {
  auto cluster = a100(2);
  cluster.fabric.kind = Fabric::Kind::fat_tree;
  cluster.degraded_links = {{"nic0.7", 0}};
  CHECK(message(cluster, 7, 15) == "nic0.0:out nic1.7:in");
}

TEST_CASE("links that cut GPUs off when they fail are refused") {
  auto cluster = a100(2);
  cluster.degraded_links = {{"gpu3", 0}};
  CHECK_THROWS_WITH(Ports(cluster),
                    "the links that failed cut gpu3 off from the rest of the cluster");
  cluster.node.nics.count = 1;
  cluster.degraded_links = {{"nic1.0:in", 0}};
  CHECK_THROWS_WITH(Ports(cluster),
                    "the links that failed cut node 1 off from the rest of the cluster");
}

TEST_CASE("a link that does not exist is refused with the names of links") {
  auto cluster = a100(2);
  cluster.fabric.kind = Fabric::Kind::single_switch;
  const Ports ports(cluster);
  for (const auto* good : {"nic0.0", "nic1.7:in", "gpu15", "gpu15.nvlink:out", "gpu0.pcie"}) {
    INFO(good);
    CHECK_FALSE(ports.complaint(good));
  }
  for (const auto* bad : {"nic2.0", "nic0.8", "nic0", "nic00.0", "gpu16", "gpu-1", "leaf0",
                          "nic0.0:up", "", "gpu0.nvlink:out:in", "pod0", "node0.x+"}) {
    INFO(bad);
    CHECK(ports.complaint(bad));
  }
  CHECK(
      *ports.complaint("nic2.0") ==
      "this cluster has no link 'nic2.0'; its links are gpu0.nvlink to gpu15.nvlink, gpu0.pcie to "
      "gpu15.pcie, nic0.0 to nic1.7; add :out or :in for one direction");
}

TEST_CASE("names of the same link are recognised, other cables of it are not the same") {
  auto cluster = narrow(6);
  cluster.fabric.oversubscription = {1};
  const Ports ports(cluster);
  CHECK(ports.overlap("nic1.0", "nic1.0:out"));
  CHECK(ports.overlap("leaf0", "leaf0-spine1"));
  CHECK_FALSE(ports.overlap("leaf0-spine0", "leaf0-spine1"));
  CHECK_FALSE(ports.overlap("nic1.0:in", "nic1.0:out"));
}

TEST_CASE("a GPU's degraded PCIe link slows messages to its NIC, on NVLink nodes too") {
  auto cluster = a100(2);
  cluster.fabric.kind = Fabric::Kind::fat_tree;
  cluster.degraded_links = {{"gpu9.pcie", 0.5}};
  CHECK(message(cluster, 1, 9) == "gpu9.pcie:in nic0.1:out nic1.1:in");
  CHECK(message(cluster, 0, 8) == "nic0.0:out nic1.0:in");
  CHECK(ring_part(cluster, {1}, {9}, {1}, 1) == "gpu9.pcie:out gpu9.pcie:in nic1.1:out nic1.1:in");
}

TEST_CASE("GPUs of a pair whose NVLink failed meet over PCIe") {
  auto cluster = a100(1);
  cluster.node.nvlink.kind = NvLink::Kind::pairs;
  cluster.degraded_links = {{"gpu3.nvlink", 0}};
  CHECK(message(cluster, 2, 3) == "gpu2.pcie:out gpu3.pcie:in");
}

TEST_CASE("every name of a port is understood again") {
  for (const auto& cluster : {a100(2), narrow(6), narrow(60, Fabric::Kind::torus_3d)}) {
    const Ports ports(cluster);
    std::vector<PortUse> uses;
    for (std::int64_t to = 1; to < cluster.gpus; to += 7) ports.message(0, to, uses);
    for (const auto& use : uses) {
      INFO(ports.name(use.port));
      CHECK_FALSE(ports.complaint(ports.name(use.port)));
    }
  }
}

}  // namespace ports_spec

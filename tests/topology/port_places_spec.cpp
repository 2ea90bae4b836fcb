// SPDX-License-Identifier: Apache-2.0
// The places of ports, the traffic that they carry, and which of them bind.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "tests/topology/samples.hpp"
#include "tests/topology/told_ports.hpp"
#include "topology/ports.hpp"

namespace port_places_spec {
namespace {

using namespace topology;
using samples::a100;
using told_ports::Gpus, told_ports::message, told_ports::ring_part, told_ports::told;
using Kind = Fabric::Kind;

// The only port that is degraded if the link of this name has half of its bandwidth; `lowest`
// receives the lowest GPU that uses it.
Ports::Degraded degraded(Cluster cluster, const std::string& link, std::int64_t* lowest = nullptr) {
  cluster.degraded_links = {{link, 0.5}};
  const Ports ports(cluster);
  const auto all = ports.degraded();
  REQUIRE(all.size() == 1);
  CHECK(ports.name(all.front().port) == link);
  if (lowest) *lowest = ports.lowest_gpu(all.front().port);
  return all.front();
}

Cluster on(Kind kind, std::int64_t nodes, int nics, int radix, std::vector<double> over = {}) {
  auto cluster = a100(nodes);
  cluster.node.nics.count = nics;
  cluster.fabric.kind = kind;
  cluster.fabric.radix = radix;
  cluster.fabric.oversubscription = std::move(over);
  return cluster;
}

// A cluster with leaves of two nodes, pods of two leaves, and half as many cables above the pods as
// below.
Cluster with_pods() {
  auto cluster = on(Kind::fat_tree, 16, 1, 4, {1, 2});
  cluster.fabric.tiers = 3;
  return cluster;
}

TEST_CASE("a port has the first GPU that it serves, and a number among its like") {
  const auto check = [](const Cluster& cluster, const std::string& link, std::int64_t lowest,
                        std::int64_t number) {
    INFO(link);
    std::int64_t found = -1;
    const auto one = degraded(cluster, link, &found);
    CHECK(one.factor == 0.5);
    CHECK(found == lowest);
    CHECK(one.number == number);
  };
  check(a100(4), "gpu11.nvlink:in", 11, 0);
  check(a100(4), "gpu11.pcie:out", 11, 0);
  check(a100(4), "nic2.3:out", 16, 3);
  check(on(Kind::fat_tree, 6, 1, 4, {3}), "leaf1:up", 24, 0);     // serves nodes 3 to 5
  check(on(Kind::rail_fat_tree, 24, 8, 16), "leaf10:up", 64, 2);  // serves rail 2 of nodes 8 to 15
  check(with_pods(), "leaf5:down", 80, 0);
  check(with_pods(), "pod3:up", 96, 3);  // serves nodes 12 to 15
  check(on(Kind::torus_3d, 60, 1, 4), "node5.x-", 40, 1);
  check(on(Kind::torus_3d, 60, 1, 4), "node7.z+", 56, 4);
}

std::int64_t unit(const Cluster& cluster) { return Ports(cluster).unit(); }

double capacity(const Cluster& cluster, const Port& port) { return Ports(cluster).capacity(port); }

TEST_CASE("a port carries the payload of its link on its own kind of node") {
  auto cluster = a100(8);
  cluster.fabric.link_bandwidth = {50e9};
  cluster.others = {{samples::h200(1).node, 4}};
  CHECK(capacity(cluster, {Port::Kind::nvlink, true, 3}) == Approx(0.8 * 300e9));
  CHECK(capacity(cluster, {Port::Kind::nvlink, true, 35}) == Approx(0.8 * 450e9));
  CHECK(capacity(cluster, {Port::Kind::nic, true, 31}) == Approx(22.5e9));
  CHECK(capacity(cluster, {Port::Kind::nic, true, 32}) == Approx(45e9));
  CHECK(capacity(on(Kind::torus_3d, 60, 1, 4), {Port::Kind::torus, true, 0}) == Approx(22.5e9));
}

TEST_CASE("a leaf of a dragonfly has half of its ports upwards, a group those of all its spines") {
  const auto cluster = on(Kind::dragonfly_plus, 32, 1, 8);
  CHECK(capacity(cluster, {Port::Kind::leaf_spine, true, 0}) == Approx(4 * 22.5e9));
  CHECK(capacity(cluster, {Port::Kind::spine_core, true, 0}) == Approx(4 * 4 * 22.5e9));
  const auto least = on(Kind::dragonfly_plus, 2, 1, 2);
  CHECK(capacity(least, {Port::Kind::leaf_spine, true, 0}) == Approx(22.5e9));
}

TEST_CASE("a leaf binds where all NICs on it bring more than it carries upwards") {
  // With 48 ports down and 16 up a leaf takes six nodes of eight NICs, or a NIC of each of 48
  // nodes.
  CHECK(message(on(Kind::fat_tree, 12, 8, 64, {3}), 0, 48) ==
        "nic0.0:out leaf0:up leaf1:down nic6.0:in");
  CHECK(message(on(Kind::rail_fat_tree, 96, 8, 64, {3}), 2, 8 * 48 + 2) ==
        "nic0.2:out leaf2:up leaf10:down nic48.2:in");
  CHECK(message(on(Kind::fat_tree, 12, 8, 64), 0, 48) == "nic0.0:out nic6.0:in");
  CHECK(message(on(Kind::rail_fat_tree, 96, 8, 64), 0, 8 * 48) == "nic0.0:out nic48.0:in");
}

TEST_CASE(
    "pods carry the traffic that their leaves let through, however much comes from below these") {
  auto cluster = on(Kind::fat_tree, 18, 1, 4, {3, 1});  // leaves of three nodes with one uplink
  cluster.fabric.tiers = 3;
  CHECK(message(cluster, 0, 8 * 12) == "nic0.0:out leaf0:up leaf4:down nic12.0:in");
}

TEST_CASE("whole pods are alike where these bind, leaves where only those do, else nodes") {
  CHECK(unit(on(Kind::single_switch, 4, 8, 64)) == 1);
  CHECK(unit(on(Kind::rail_only, 4, 8, 64)) == 1);
  CHECK(unit(with_pods()) == 4);
  auto two_pods = with_pods();
  two_pods.gpus = 8 * 8;
  CHECK(unit(two_pods) == 4);
  auto one_pod = with_pods();
  one_pod.gpus = 8 * 4;
  CHECK(unit(one_pod) == 1);  // no traffic leaves the pod
  // By rail, a pod of eight leaves is a block of eight nodes; a pod of four leaves is a part of a
  // block.
  auto rails = on(Kind::rail_fat_tree, 24, 8, 16, {1, 2});
  CHECK(unit(rails) == 8);
  rails = on(Kind::rail_fat_tree, 8, 8, 8, {1, 2});
  CHECK(unit(rails) == 0);
}

TEST_CASE("a link that degrades makes its tier bind, and whole leaves or pods alike") {
  auto cluster = on(Kind::fat_tree, 6, 1, 4);
  CHECK(unit(cluster) == 1);
  cluster.degraded_links = {{"leaf0", 0.5}};
  CHECK(unit(cluster) == 2);
  auto pods = with_pods();
  pods.fabric.oversubscription = {1, 1};
  CHECK(message(pods, 0, 32) == "nic0.0:out nic4.0:in");
  pods.degraded_links = {{"pod1", 0.5}};
  CHECK(message(pods, 0, 32) == "nic0.0:out pod0:up pod1:down nic4.0:in");
  CHECK(unit(pods) == 4);
}

TEST_CASE("under three tiers a leaf has a spine for each of its cables upwards") {
  const auto cluster = with_pods();
  const Ports ports(cluster);
  CHECK_FALSE(ports.complaint("leaf0-spine1"));
  CHECK(ports.complaint("leaf0-spine2"));
  // Under two tiers the number of spines is that of all leaves' cables by the ports of a spine: 3 ·
  // 2 / 4, rounded up.
  const auto two_tiers = on(Kind::fat_tree, 6, 1, 4);
  CHECK_FALSE(Ports(two_tiers).complaint("leaf0-spine1"));
  CHECK(Ports(two_tiers).complaint("leaf0-spine2"));
  const auto narrow = on(Kind::fat_tree, 6, 1, 4, {3});  // 2 · 1 / 4, rounded up
  CHECK_FALSE(Ports(narrow).complaint("leaf0-spine0"));
  CHECK(Ports(narrow).complaint("leaf0-spine1"));
}

TEST_CASE("a NIC that fails one way is stood in for by the next of its node") {
  auto cluster = on(Kind::fat_tree, 2, 8, 64);
  for (const auto* link : {"nic1.2:in", "nic1.2:out"}) {
    cluster.degraded_links = {{link, 0}};
    CHECK(message(cluster, 2, 10) == "nic0.2:out nic1.3:in");
  }
  cluster.degraded_links = {{"nic1.2", 0.5}};  // the NIC is slow, but it works
  CHECK(message(cluster, 2, 10) == "nic0.2:out nic1.2:in");
  cluster.degraded_links = {{"nic1.7", 0}, {"nic1.0", 0}};
  CHECK(message(cluster, 7, 15) == "nic0.7:out nic1.1:in");
}

TEST_CASE("a node is cut off where each of its NICs failed in some direction") {
  auto cluster = on(Kind::fat_tree, 3, 2, 64);
  cluster.degraded_links = {{"nic2.0:in", 0}};
  CHECK_NOTHROW(Ports(cluster));
  cluster.degraded_links.push_back({"nic2.1:out", 0});
  CHECK_THROWS_WITH(Ports(cluster),
                    "the links that failed cut node 2 off from the rest of the cluster");
  cluster.degraded_links = {{"nic1.1:in", 0}, {"nic2.0:out", 0}};
  CHECK_NOTHROW(Ports(cluster));
}

TEST_CASE("a torus keeps no route over a link that failed") {
  auto cluster = on(Kind::torus_3d, 60, 1, 4);
  cluster.degraded_links = {{"node3.y-", 0}};
  CHECK_THROWS_WITH(Ports(cluster),
                    "the routes of a torus do not go round a link that failed: give node3.y- a "
                    "factor above zero");
}

TEST_CASE("half way round a torus a message goes forwards, and over the edge on it goes round") {
  const auto cluster = on(Kind::torus_3d, 60, 1, 4);  // 3 x 4 x 5 routers, x innermost
  CHECK(message(cluster, 0, 8 * 6) == "nic0.0:out node0.y+ node3.y+ nic6.0:in");
  CHECK(message(cluster, 8 * 2, 0) == "nic2.0:out node2.x+ nic0.0:in");
  CHECK(message(cluster, 8 * 9, 8 * 3) == "nic9.0:out node9.y+ node0.y+ nic3.0:in");
  CHECK(message(cluster, 8 * 12, 8 * 48) == "nic12.0:out node12.z- node0.z- nic48.0:in");
  CHECK(message(cluster, 8 * 36, 0) == "nic36.0:out node36.z+ node48.z+ nic0.0:in");
  CHECK(message(cluster, 8 * 25, 8 * 13) == "nic25.0:out node25.z- nic13.0:in");
}

TEST_CASE("members share the NICs next to them, each once and no more than the ring uses") {
  auto cluster = a100(3);
  cluster.node.nics.count = 4;
  // GPUs 2 and 3 are both next to NIC 1.
  CHECK(ring_part(cluster, {2, 3}, {10, 11}, {18, 19}, 1) ==
        "gpu10.nvlink:out gpu10.nvlink:in gpu11.nvlink:out gpu11.nvlink:in nic1.1:out nic1.1:in");
  CHECK(ring_part(cluster, {2, 3}, {10, 11}, {18, 19}, 2) ==
        ring_part(cluster, {2, 3}, {10, 11}, {18, 19}, 1));
  cluster.node.nics.count = 16;
  CHECK(ring_part(cluster, {1}, {9}, {17}, 2) == "nic1.2:out nic1.2:in nic1.3:out nic1.3:in");
  CHECK(ring_part(cluster, {1}, {9}, {17}, 1) == "nic1.2:out nic1.2:in");
}

TEST_CASE("each channel of a ring leaves one hop between members of a node to the NICs") {
  const auto cluster = a100(3);
  const auto first = [&](const Gpus& members, int nics) {
    Gpus before, after;
    for (const auto gpu : members) before.push_back(gpu - 8), after.push_back(gpu + 8);
    const auto all = ring_part(cluster, before, members, after, nics);
    return all.substr(0, all.find(' '));
  };
  CHECK(first({8, 9}, 2) == "gpu8.nvlink:out");            // channels · hops / members: 2 · 1 / 2
  CHECK(first({8, 9, 10}, 2) == "2*gpu8.nvlink:out");      // 2 · 2 / 3, rounded up
  CHECK(first({8, 9, 10, 11}, 4) == "3*gpu8.nvlink:out");  // 4 · 3 / 4
  CHECK(first({8}, 1) == "nic1.0:out");
  CHECK(ring_part(cluster, {}, {8}, {}, 1).empty());
  CHECK(ring_part(cluster, {}, {8, 9, 10}, {}, 4).starts_with("gpu8.nvlink:out gpu8.nvlink:in"));
}

TEST_CASE("a ring passes partners over their bridge, and all others of a node over PCIe") {
  auto cluster = a100(3);
  cluster.node.nvlink.kind = NvLink::Kind::pairs;
  CHECK(ring_part(cluster, {0, 1}, {8, 9}, {16, 17}, 2) ==
        "gpu8.nvlink:out gpu8.pcie:out gpu8.nvlink:in gpu8.pcie:in "
        "gpu9.nvlink:out gpu9.pcie:out gpu9.nvlink:in gpu9.pcie:in "
        "nic1.0:out nic1.0:in nic1.1:out nic1.1:in");
  CHECK(ring_part(cluster, {}, {8, 9}, {}, 1) ==
        "gpu8.nvlink:out gpu8.nvlink:in gpu9.nvlink:out gpu9.nvlink:in");
  CHECK(ring_part(cluster, {}, {9, 10}, {}, 1) ==
        "gpu9.pcie:out gpu9.pcie:in gpu10.pcie:out gpu10.pcie:in");
  CHECK(ring_part(cluster, {}, {8, 9, 10}, {}, 4).starts_with("gpu8.pcie:out gpu8.pcie:in"));
  CHECK(ring_part(cluster, {}, {8, 10, 9}, {}, 4).starts_with("gpu8.pcie:out gpu8.pcie:in"));
  CHECK(ring_part(cluster, {0, 1, 2}, {8, 9, 10}, {16, 17, 18}, 3)
            .starts_with("3*gpu8.pcie:out 3*gpu8.pcie:in"));
  cluster.node.nvlink.kind = NvLink::Kind::none;
  CHECK(ring_part(cluster, {0}, {8}, {16}, 1) == "gpu8.pcie:out gpu8.pcie:in nic1.0:out nic1.0:in");
}

TEST_CASE("a GPU whose PCIe is degraded carries its part of the channels over it") {
  auto cluster = a100(3);
  cluster.node.nics.count = 16;
  cluster.degraded_links = {{"gpu8.pcie:out", 0.5}};
  // Two of the three channels of two members pass the same GPU at most.
  const auto uses = ring_part(cluster, {0, 1}, {8, 9}, {16, 17}, 3);
  CHECK(uses.find("2*gpu8.pcie:out") != std::string::npos);
  CHECK(uses.find("pcie:in") == std::string::npos);
  CHECK(ring_part(cluster, {}, {8, 9}, {}, 1).find("pcie") == std::string::npos);
}

// Checks the shares of every port in an all-to-all of all GPUs against messages one by one.
void same_one_by_one(const Cluster& cluster, int nics) {
  std::vector<Gpus> nodes(static_cast<std::size_t>(cluster.nodes()));
  for (std::int64_t gpu = 0; gpu < cluster.gpus; ++gpu)
    nodes[static_cast<std::size_t>(gpu / cluster.node.gpus)].push_back(gpu);
  const Ports ports(cluster);
  std::vector<PortUse> uses, one_by_one;
  ports.all_to_all(nodes, nics, uses);
  for (std::int64_t from = 0; from < cluster.gpus; ++from)
    for (std::int64_t to = 0; to < cluster.gpus; ++to)
      for (int share = 0; share < nics; ++share) ports.message(from, to, one_by_one);
  const auto sums = [](const std::vector<PortUse>& all) {
    std::map<Port, std::uint32_t> sum;
    for (const auto& [port, times] : all) sum[port] += times;
    return sum;
  };
  CHECK(sums(uses) == sums(one_by_one));
}

TEST_CASE("an all-to-all crosses pods and bridges that failed one way as its messages do") {
  same_one_by_one(with_pods(), 1);
  auto bridged = on(Kind::fat_tree, 2, 8, 64);
  bridged.node.nvlink.kind = NvLink::Kind::pairs;
  bridged.degraded_links = {{"gpu2.nvlink:out", 0}};
  same_one_by_one(bridged, 8);
}

}  // namespace
}  // namespace port_places_spec

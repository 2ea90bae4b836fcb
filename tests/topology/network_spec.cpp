// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <string>

#include "tests/catch.hpp"
#include "tests/topology/graph.hpp"
#include "tests/topology/samples.hpp"

namespace network_spec {

using namespace topology;
using oracle::Link;
using oracle::Network;
namespace {

using samples::a100;

// Two nodes of two GPUs, one NIC per GPU, one leaf per rail:
//
//   gpu0 gpu1 - nvswitch0        gpu2 gpu3 - nvswitch1
//     |    |                       |    |
//  nic0.0 nic0.1                nic1.0 nic1.1
//     |    +-------- leaf1 ---------|----+
//     +------------- leaf0 ---------+
Cluster two_by_two(Fabric::Kind kind) {
  auto cluster = a100(1);
  cluster.node.gpus = 2;
  cluster.node.nics.count = 2;
  cluster.gpus = 4;
  cluster.fabric.kind = kind;
  return cluster;
}

std::string path(const Network& network, std::int64_t from, std::int64_t to) {
  std::string names = "gpu" + std::to_string(from);
  for (const auto id : network.route(from, to)) {
    const auto& link = network.links()[static_cast<std::size_t>(id)];
    if (!names.ends_with(link.from)) return names + " is not joined to " + link.from;
    names += " " + link.to;
  }
  return names;
}

int count(const Network& network, Link::Kind kind) {
  int found = 0;
  for (const auto& link : network.links()) found += link.kind == kind ? 1 : 0;
  return found;
}

TEST_CASE("routes of a drawn cluster stay on NVLink inside a node and on the rail between") {
  const Network network(two_by_two(Fabric::Kind::rail_only));
  CHECK(path(network, 0, 0) == "gpu0");
  CHECK(path(network, 0, 1) == "gpu0 nvswitch0 gpu1");
  CHECK(path(network, 0, 2) == "gpu0 nic0.0 leaf0 nic1.0 gpu2");
  CHECK(path(network, 3, 1) == "gpu3 nic1.1 leaf1 nic0.1 gpu1");
  // A route across rails takes the rail first, then NVLink.
  CHECK(path(network, 0, 3) == "gpu0 nic0.0 leaf0 nic1.0 gpu2 nvswitch1 gpu3");
  CHECK(path(network, 1, 2) == "gpu1 nic0.1 leaf1 nic1.1 gpu3 nvswitch1 gpu2");
  CHECK(path(network, 2, 1) == "gpu2 nic1.0 leaf0 nic0.0 gpu0 nvswitch0 gpu1");
  CHECK(path(network, 3, 0) == "gpu3 nic1.1 leaf1 nic0.1 gpu1 nvswitch0 gpu0");
}

TEST_CASE("a rail fat tree has a leaf per rail, a fat tree one for whole nodes") {
  auto cluster = two_by_two(Fabric::Kind::rail_fat_tree);
  cluster.fabric.radix = 4;  // two ports downwards: both nodes fill a leaf
  const Network rails(cluster);
  CHECK(path(rails, 0, 2) == "gpu0 nic0.0 leaf0 nic1.0 gpu2");
  CHECK(path(rails, 1, 3) == "gpu1 nic0.1 leaf1 nic1.1 gpu3");
  const Network plain(two_by_two(Fabric::Kind::fat_tree));
  CHECK(path(plain, 1, 3) == "gpu1 nic0.1 leaf0 nic1.1 gpu3");
}

TEST_CASE("links carry the payload of their cables") {
  const Network network(two_by_two(Fabric::Kind::rail_fat_tree));
  for (const auto& link : network.links()) {
    if (link.kind == Link::Kind::nvlink) CHECK(link.bandwidth.value == Approx(240e9));
    if (link.kind == Link::Kind::pcie) CHECK(link.bandwidth.value == Approx(25e9));
    if (link.kind == Link::Kind::nic) CHECK(link.bandwidth.value == Approx(22.5e9));
  }
  CHECK(count(network, Link::Kind::nvlink) == 8);
  CHECK(count(network, Link::Kind::pcie) == 8);
  CHECK(count(network, Link::Kind::nic) == 8);
}

TEST_CASE("a link and the next are the two directions of one cable") {
  const Network network(a100(4));
  for (std::size_t i = 0; i < network.links().size(); i += 2) {
    CHECK(network.links()[i].from == network.links()[i + 1].to);
    CHECK(network.links()[i].to == network.links()[i + 1].from);
  }
}

TEST_CASE("GPUs that share a NIC still meet over NVLink or PCIe") {
  auto cluster = two_by_two(Fabric::Kind::single_switch);
  cluster.node.nics.count = 1;
  CHECK(path(Network(cluster), 0, 1) == "gpu0 nvswitch0 gpu1");
  CHECK(path(Network(cluster), 1, 2) == "gpu1 nic0.0 leaf0 nic1.0 gpu2");
  cluster.node.nvlink.kind = NvLink::Kind::none;
  CHECK(path(Network(cluster), 0, 1) == "gpu0 pcie0 gpu1");
  cluster.node.nvlink.kind = NvLink::Kind::pairs;
  CHECK(path(Network(cluster), 0, 1) == "gpu0 gpu1");
}

TEST_CASE("the cube mesh joins each V100 to four others with six cables") {
  const Network network(samples::v100());
  double rate = 0;
  int cables = 0;
  for (const auto& link : network.links())
    if (link.from == "gpu5") {
      rate += link.bandwidth.value;
      ++cables;
    }
  CHECK(cables == 4);
  CHECK(rate == Approx(135e9));
  CHECK(network.route(0, 7).size() == 2);
}

TEST_CASE("every GPU reaches every other in every kind of fabric") {
  using enum Fabric::Kind;
  for (const auto kind :
       {fat_tree, rail_fat_tree, rail_only, dragonfly_plus, torus_3d, single_switch}) {
    for (const int radix : {4, 8, 40}) {
      auto cluster = a100(12);
      cluster.gpus = 91;  // leaves the last node partly empty
      cluster.fabric.kind = kind;
      cluster.fabric.radix = radix;
      if (radix == 4 && (kind == fat_tree || kind == rail_fat_tree)) continue;  // too few ports
      const Network network(cluster);
      for (std::int64_t to = 0; to < 91; to += 7) {
        const auto names = path(network, 90, to);
        CHECK(names.ends_with("gpu" + std::to_string(to)));
      }
    }
  }
}

TEST_CASE("a fat tree takes as many tiers as its nodes need") {
  auto cluster = a100(2);
  cluster.fabric.kind = Fabric::Kind::fat_tree;
  CHECK(count(Network(cluster), Link::Kind::leaf_spine) == 0);  // 16 NICs under one leaf
  cluster.gpus = 8 * 64;
  CHECK(count(Network(cluster), Link::Kind::leaf_spine) > 0);
  CHECK(count(Network(cluster), Link::Kind::spine_core) == 0);
  cluster.gpus = 8 * 256;
  CHECK(count(Network(cluster), Link::Kind::spine_core) > 0);
}

TEST_CASE("oversubscription leaves a leaf fewer cables upwards") {
  auto cluster = a100(64);
  const auto upwards = [&] {
    double rate = 0;
    const Network network(cluster);
    for (const auto& link : network.links())
      if (link.kind == Link::Kind::leaf_spine && link.from == "leaf0")
        rate += link.bandwidth.value / 22.5e9;
    return rate;
  };
  CHECK(upwards() == Approx(20));
  cluster.fabric.oversubscription = {3.0};
  CHECK(upwards() == Approx(10));
}

TEST_CASE("a torus joins each node to six neighbours") {
  auto cluster = a100(27);
  cluster.fabric.kind = Fabric::Kind::torus_3d;
  const Network network(cluster);
  int neighbours = 0;
  for (const auto& link : network.links())
    neighbours += link.kind == Link::Kind::leaf_spine && link.from == "leaf13" ? 1 : 0;
  CHECK(neighbours == 6);
}

TEST_CASE("equal-cost routes spread over the spines and repeat on every run") {
  auto cluster = a100(64);
  cluster.node.nvlink.kind = NvLink::Kind::none;
  const Network network(cluster), again(cluster);
  std::set<std::string> spines;
  for (std::int64_t to = 8 * 40; to < 8 * 60; to += 8) {
    CHECK(path(network, 0, to) == path(again, 0, to));
    const auto route = network.route(0, to);
    REQUIRE(route.size() == 6);
    spines.insert(network.links()[static_cast<std::size_t>(route[2])].to);
  }
  CHECK(spines.size() > 5);
}

TEST_CASE("impossible clusters are refused with a reason") {
  const auto refuse = [](auto change, const char* reason) {
    auto cluster = a100(2);
    change(cluster);
    CHECK_THROWS_WITH(Network(cluster), reason);
  };
  refuse([](Cluster& c) { c.gpus = 0; }, "a cluster needs at least one GPU");
  refuse([](Cluster& c) { c.node.gpus = 0; }, "a node needs at least one GPU");
  refuse([](Cluster& c) { c.node.nvlink.bandwidth = {0}; },
         "the NVLink bandwidth must be more than zero");
  refuse([](Cluster& c) { c.node.pcie.bandwidth = {0}; },
         "the PCIe bandwidth must be more than zero");
  refuse([](Cluster& c) { c.node.nics.count = 0; }, "several nodes need at least one NIC each");
  refuse([](Cluster& c) { c.node.nics.bandwidth = {0}; },
         "the NIC bandwidth must be more than zero");
  refuse([](Cluster& c) { c.fabric.link_bandwidth = {0}; },
         "the link bandwidth of the fabric must be more than zero");
  refuse([](Cluster& c) { c.fabric.radix = 1; }, "a switch needs at least two ports");
  refuse([](Cluster& c) { c.fabric.oversubscription = {0}; },
         "oversubscription must be more than zero");
  refuse([](Cluster& c) { c.gpus = 8 * 5, c.fabric.tiers = 1; },
         "the fabric needs 2 tiers of switches, not 1");
  refuse([](Cluster& c) { c.gpus = 1 << 21; },
         "a network of more than 1,048,576 GPUs is not drawn");
  CHECK_THROWS_WITH(Network(a100(1)).route(0, 8), "the cluster has no such GPU");
}

}  // namespace
}  // namespace network_spec

// SPDX-License-Identifier: Apache-2.0
// The ports that an all-to-all crosses.
#include <map>
#include <vector>

#include "tests/catch.hpp"
#include "tests/topology/samples.hpp"
#include "topology/ports.hpp"

namespace all_to_all_spec {

using namespace topology;
namespace {

using samples::a100;
using Nodes = std::vector<std::vector<std::int64_t>>;
using Shares = std::map<std::string, std::uint32_t>;

Shares told(const Ports& ports, const std::vector<PortUse>& uses) {
  Shares shares;
  for (const auto& [port, times] : uses) shares[ports.name(port)] += times;
  return shares;
}

// The first `members` GPUs of each of the nodes.
Nodes nodes_of(const Cluster& cluster, std::int64_t members) {
  Nodes nodes(static_cast<std::size_t>(cluster.nodes()));
  for (std::size_t node = 0; node < nodes.size(); ++node)
    for (std::int64_t i = 0; i < members; ++i)
      nodes[node].push_back(static_cast<std::int64_t>(node) * cluster.node.gpus + i);
  return nodes;
}

}  // namespace

TEST_CASE("two GPUs on each of two nodes: four messages leave a node, over two NICs") {
  // The counts are halves of messages. A GPU sends one message on its node; by rail, one of its two
  // messages to the other node goes over its neighbour.
  auto cluster = a100(2);
  cluster.fabric.kind = Fabric::Kind::rail_only;
  const Ports ports(cluster);
  std::vector<PortUse> uses;
  CHECK(ports.all_to_all(nodes_of(cluster, 2), 2, uses) == 4);
  const auto shares = told(ports, uses);
  CHECK(shares.at("nic0.0:out") == 4);
  CHECK(shares.at("nic1.1:in") == 4);
  CHECK(shares.at("gpu0.nvlink:out") == 4);
  CHECK(shares.at("gpu9.nvlink:in") == 4);
  CHECK(shares.size() == 8 + 8);
}

TEST_CASE("an all-to-all crosses every port as often as its messages do, one by one") {
  using Kind = Fabric::Kind;
  auto cluster = a100(GENERATE(2, 5, 12));
  cluster.fabric.kind = GENERATE(Kind::fat_tree, Kind::rail_fat_tree, Kind::rail_only,
                                 Kind::dragonfly_plus, Kind::torus_3d);
  cluster.fabric.radix = GENERATE(4, 16);
  cluster.fabric.oversubscription = {3};
  cluster.node.nvlink.kind =
      GENERATE(NvLink::Kind::nvswitch, NvLink::Kind::pairs, NvLink::Kind::none);
  const auto nodes = nodes_of(cluster, 8);
  const Ports ports(cluster);
  std::vector<PortUse> uses, one_by_one;
  const int nics = 8;
  const auto leaving = ports.all_to_all(nodes, nics, uses);
  CHECK(leaving == 8 * (cluster.gpus - 8));
  for (std::int64_t from = 0; from < cluster.gpus; ++from)
    for (std::int64_t to = 0; to < cluster.gpus; ++to)
      for (int share = 0; share < nics; ++share) ports.message(from, to, one_by_one);
  CHECK(told(ports, uses) == told(ports, one_by_one));
}

TEST_CASE("messages cross between leaves if their receivers are under other leaves") {
  // Six nodes have one NIC each, three to a leaf: each of three members sends three of its five
  // messages to the other leaf.
  auto cluster = a100(6);
  cluster.node.nics.count = 1;
  cluster.fabric.kind = Fabric::Kind::fat_tree;
  cluster.fabric.radix = 4;
  cluster.fabric.oversubscription = {3};
  const Ports ports(cluster);
  std::vector<PortUse> uses;
  CHECK(ports.all_to_all(nodes_of(cluster, 1), 1, uses) == 5);
  const auto shares = told(ports, uses);
  CHECK(shares.at("nic4.0:in") == 5);
  CHECK(shares.at("leaf0:up") == 9);
  CHECK(shares.at("leaf1:down") == 9);
}

}  // namespace all_to_all_spec

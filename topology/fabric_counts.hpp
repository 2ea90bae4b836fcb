// SPDX-License-Identifier: Apache-2.0
// The numbers of a fabric's switches, and of the ports of each that go down and up.
#pragma once
#include <cstddef>
#include <cstdint>

#include "topology/cluster.hpp"

namespace topology {

// Bandwidth down over bandwidth up of a switch of a tier, 0 the lowest. Throws
// std::invalid_argument where it is not above zero.
double oversubscription(const Fabric& fabric, std::size_t tier);

struct LeafPorts {
  int down, up;
};
// Ports of a lowest switch, as the oversubscription of the first tier divides them. Throws where
// it is not above zero.
LeafPorts leaf_ports(const Fabric& fabric);
// Leaves of a fat tree. By rail, a leaf takes one NIC of each node of a block of `block_nodes`
// nodes, so that a block has a leaf for each NIC of a node; nodes too few to fill a block share
// leaves among `leaf_rails` rails. Otherwise a block is one leaf that takes whole nodes.
struct Leaves {
  std::int64_t block_nodes, blocks, leaf_rails, count;
  std::int64_t in_block() const { return count / blocks; }
};
Leaves leaves_of(std::int64_t nodes, std::int64_t nics, int ports_down, bool rails);
// The number of tiers of switches that join `leaves` leaves. Throws where the fabric's own number
// is too few.
int tiers_needed(std::int64_t leaves, const Fabric& fabric);
struct TorusBox {
  std::int64_t x, y, z;
};
TorusBox torus_box(std::int64_t nodes);  // of least circumference that the nodes fill exactly

}  // namespace topology

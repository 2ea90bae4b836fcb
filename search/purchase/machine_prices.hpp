// SPDX-License-Identifier: Apache-2.0
// What the machines of a cluster cost and draw, as their descriptions have it.
#pragma once
#include <optional>

#include "topology/cluster.hpp"
#include "units/quantity.hpp"

namespace search {

// Of a node, the mean over all of them where there are several kinds; absent: of a kind nobody
// knows.
std::optional<units::Money> price_per_node(const topology::Cluster& cluster);

// A node's share of the fabric's switches; cables and their ends are not in it. Nothing where there
// is one node, or where the price of a switch is not known.
units::Money switches_per_node(const topology::Cluster& cluster);

// What a node draws at most, without PUE and switches: the mean over all. 0: not known.
units::Watts power_per_node(const topology::Cluster& cluster);

// Nodes in a rack of 41 kW (four DGX H100, as in NVIDIA's reference architecture), at least one.
double nodes_fed_by_rack(units::Watts nameplate);

}  // namespace search

// SPDX-License-Identifier: Apache-2.0
// Prices and powers of a cluster's machines, from their descriptions.
#pragma once
#include <optional>

#include "topology/cluster.hpp"
#include "units/quantity.hpp"

namespace search {

// The price of a node, the mean over all of them; absent if the price of a kind is not known.
std::optional<units::Money> price_per_node(const topology::Cluster& cluster);

// A node's share of the price of the fabric's switches, without cables and their ends. Nothing
// where there is one node, or where the price of a switch is not known.
units::Money switches_per_node(const topology::Cluster& cluster);

// The most power that a node draws, without PUE and switches: the mean over all nodes. 0: not
// known.
units::Watts power_per_node(const topology::Cluster& cluster);

// The number of nodes in a rack of 41 kW (four DGX H100, as in NVIDIA's reference architecture), at
// least one.
double nodes_fed_by_rack(units::Watts nameplate);

}  // namespace search

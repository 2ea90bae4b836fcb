// SPDX-License-Identifier: Apache-2.0
// The parts of a fabric of a given size.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "topology/cluster.hpp"

namespace topology {

struct FabricTier {
  std::string name;  // "leaf", "spine", "core"; "router" of a torus
  std::int64_t switches = 0;
  std::int64_t cables_down = 0;  // to the tier below; of the lowest, to the NICs
};

struct FabricPlan {
  std::int64_t nodes = 0, endpoints = 0;  // endpoints: NICs on the fabric
  std::vector<FabricTier> tiers;          // lowest first
  std::int64_t cables_across = 0;         // between switches of one tier: torus, dragonfly+
  std::int64_t switches = 0, cables = 0;
  // Payload in one direction between two halves of the nodes, each numbered consecutively; rails
  // that no cable joins cross inside the nodes.
  units::BytesPerSecond bisection;
  int hops = 0;                       // switches between the two nodes furthest apart
  units::Seconds latency;             // of a message between them: NICs, switches, no software
  std::optional<units::Watts> power;  // of the switches; nothing where one's is not known
  std::optional<units::Money> price;
  friend bool operator==(const FabricPlan&, const FabricPlan&) = default;
};

// Counts switches and cables as tests/topology/fabric_wiring.cpp wires them, and as many as are
// needed where it draws one for several. Throws std::invalid_argument for a cluster that the fabric
// cannot join, or whose numbers are impossible. O(1), but O(nodes) for a torus.
FabricPlan plan_of(const Cluster& cluster);

}  // namespace topology

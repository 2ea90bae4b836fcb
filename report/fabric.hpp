// SPDX-License-Identifier: Apache-2.0
// Fabrics: the parts of one at a given size, and one as a catalog entry.
#pragma once
#include <string>

#include "topology/cluster.hpp"
#include "topology/fabric_plan.hpp"

namespace report {

// Lines of "# tiers: …" that may follow the entry's YAML: switches, cables, bisection, latency,
// power and price of this many nodes.
std::string fabric_facts(const topology::FabricPlan& plan, const topology::Cluster& cluster);

// The entry as fabric_json (catalog.hpp) has it, with the same facts under "plan".
std::string fabric_facts_json(const topology::FabricPlan& plan, const topology::Cluster& cluster);

// A measured fabric as a catalog entry. `source` says where the measurements come from.
std::string fabric_yaml(const topology::Fabric& fabric, const std::string& source);

}  // namespace report

// SPDX-License-Identifier: Apache-2.0
#include "report/racks.hpp"

#include <algorithm>

#include "scenarios/catalog.hpp"
#include "units/ceil_div.hpp"

namespace report {

std::optional<RackCount> counted_in_racks(const topology::Cluster& cluster) {
  const auto& node = cluster.node;
  if (node.tray <= 0) return {};
  int whole = node.gpus;
  if (scenarios::catalog_text(scenarios::Kind::node, node.name))
    whole = std::max(whole, scenarios::catalog_node(node.name).gpus);
  RackCount count;
  count.racks = cluster.nodes();
  count.tray_gpus = node.tray;
  count.rack_gpus = node.gpus;
  count.last_rack_gpus = cluster.gpus - (count.racks - 1) * node.gpus;
  const auto trays = [&](std::int64_t gpus) {
    return units::ceil_div(gpus, std::int64_t{node.tray});
  };
  count.trays = (count.racks - 1) * trays(node.gpus) + trays(count.last_rack_gpus);
  count.whole_rack_trays = static_cast<int>(trays(whole));
  count.empty_trays = count.racks * count.whole_rack_trays - count.trays;
  return count;
}

}  // namespace report

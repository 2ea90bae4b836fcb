// SPDX-License-Identifier: Apache-2.0
#include "topology/fabric_counts.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "units/ceil_div.hpp"

namespace topology {

using units::ceil_div;

double oversubscription(const Fabric& fabric, std::size_t tier) {
  const auto& all = fabric.oversubscription;
  const double o = tier < all.size() ? all[tier] : 1.0;
  if (!(o > 0)) throw std::invalid_argument("oversubscription must be more than zero");
  return o;
}

LeafPorts leaf_ports(const Fabric& fabric) {
  const double o = oversubscription(fabric, 0);
  const int down = std::clamp(static_cast<int>(fabric.radix * o / (1 + o)), 1, fabric.radix - 1);
  return {down, fabric.radix - down};
}

Leaves leaves_of(std::int64_t nodes, std::int64_t nics, int ports_down, bool rails) {
  const std::int64_t on_leaf = rails ? 1 : std::max<std::int64_t>(1, nics);
  const std::int64_t block_nodes = std::max<std::int64_t>(1, ports_down / on_leaf);
  const auto blocks = ceil_div(nodes, block_nodes);
  if (!rails) return {block_nodes, blocks, nics, blocks};
  const std::int64_t fit = blocks > 1 ? 1 : ports_down / std::max<std::int64_t>(1, nodes);
  const auto leaf_rails = std::clamp<std::int64_t>(fit, 1, std::max<std::int64_t>(1, nics));
  return {block_nodes, blocks, leaf_rails, blocks * ceil_div(nics, leaf_rails)};
}

int tiers_needed(std::int64_t leaves, const Fabric& fabric) {
  // Every tier more joins radix / 2 times as many.
  int least = leaves <= 1 ? 1 : 2;
  for (std::int64_t joined = fabric.radix; least > 1 && joined < leaves; ++least) {
    if (fabric.radix < 4)
      throw std::invalid_argument("switches of fewer than four ports cannot join so many leaves");
    joined *= fabric.radix / 2;
  }
  const int tiers = fabric.tiers.value_or(least);
  if (tiers < least)
    throw std::invalid_argument("the fabric needs " + std::to_string(least) +
                                " tiers of switches, not " + std::to_string(tiers));
  return tiers;
}

TorusBox torus_box(std::int64_t nodes) {
  TorusBox best{1, 1, nodes};
  for (std::int64_t x = 1; x * x * x <= nodes; ++x) {
    if (nodes % x != 0) continue;
    for (std::int64_t y = x; x * y * y <= nodes; ++y)
      if (nodes % (x * y) == 0 && x + y + nodes / (x * y) < best.x + best.y + best.z)
        best = {x, y, nodes / (x * y)};
  }
  return best;
}

}  // namespace topology

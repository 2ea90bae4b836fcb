// SPDX-License-Identifier: Apache-2.0
#include "search/purchase/machine_prices.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "topology/fabric_plan.hpp"

namespace search {
namespace {

// The mean of a node's figure over all nodes of all kinds.
template <class Quantity>
Quantity mean_of(const topology::Cluster& cluster, Quantity topology::Node::*figure) {
  const auto nodes = static_cast<double>(cluster.nodes());
  double first = nodes;
  Quantity sum;
  for (const auto& part : cluster.others) {
    first -= static_cast<double>(part.nodes);
    sum += static_cast<double>(part.nodes) * part.node.*figure;
  }
  return (sum + first * cluster.node.*figure) / nodes;
}

}  // namespace

std::optional<units::Money> price_per_node(const topology::Cluster& cluster) {
  for (std::size_t i = 0; i < cluster.kinds(); ++i)
    if (!(cluster.kind(i).price.value > 0)) return {};
  return mean_of(cluster, &topology::Node::price);
}

units::Money switches_per_node(const topology::Cluster& cluster) {
  if (cluster.nodes() < 2) return {};
  return topology::plan_of(cluster).price.value_or(units::Money{}) /
         static_cast<double>(cluster.nodes());
}

units::Watts power_per_node(const topology::Cluster& cluster) {
  return mean_of(cluster, &topology::Node::power);
}

double nodes_fed_by_rack(units::Watts nameplate) {
  constexpr units::Watts rack{41e3};
  if (!(nameplate.value > 0)) return 1;
  return std::max(1.0, std::floor(rack / nameplate));
}

}  // namespace search

// SPDX-License-Identifier: Apache-2.0
#include "topology/fabric_plan.hpp"

#include <algorithm>
#include <stdexcept>

#include "topology/fabric_counts.hpp"
#include "topology/paths.hpp"
#include "units/ceil_div.hpp"

namespace topology {
namespace {

using units::ceil_div;

void need_fabric(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(what);
}

void check_fabric(const Cluster& cluster) {
  need_fabric(cluster.gpus > 0 && cluster.node.gpus > 0, "a cluster needs at least one GPU");
  need_fabric(cluster.node.nics.count > 0, "several nodes need at least one NIC each");
  need_fabric(cluster.node.nics.bandwidth.value > 0, "the NIC bandwidth must be more than zero");
  need_fabric(cluster.fabric.link_bandwidth.value > 0 && cluster.fabric.efficiency > 0,
              "the link bandwidth of the fabric must be more than zero");
  need_fabric(cluster.fabric.radix >= 2, "a switch needs at least two ports");
}

class Counter {
 public:
  explicit Counter(const Cluster& cluster)
      : fabric_(cluster.fabric), nodes_(cluster.nodes()), rails_(cluster.node.nics.count) {
    plan.nodes = nodes_;
    plan.endpoints = nodes_ * rails_;
    half_ports_ = static_cast<double>(plan.endpoints) / 2 * nic_rate(cluster);
    cable_ = fabric_.link_bandwidth.value * fabric_.efficiency;
  }

  void one_tier(std::int64_t switches) {
    plan.tiers = {{"leaf", switches, plan.endpoints}};
    plan.hops = 1;
    plan.bisection.value = half_ports_;
  }

  void fat_tree(bool rails) {
    const auto ports = leaf_ports(fabric_);
    if (!rails) need_ports(ports.down);
    const auto counted = leaves_of(nodes_, rails_, ports.down, rails);
    const auto blocks = counted.blocks, leaves = counted.count;
    const int tiers = tiers_needed(leaves, fabric_);
    one_tier(leaves);
    if (blocks > 1) plan.hops = 2 * tiers - 1;
    if (tiers == 1) return;
    const std::int64_t up = leaves * ports.up;
    plan.tiers.push_back({"spine", ceil_div(up, fabric_.radix), up});
    if (blocks > 1) cross(up);  // nodes of one block meet at its leaves
    const std::int64_t half = std::max(1, fabric_.radix / 2);
    auto below = up;
    for (int tier = 2; tier < tiers; ++tier) {
      // Switches of a tier between have half of their ports downwards.
      plan.tiers.back().switches =
          tier == 2 ? ceil_div(leaves, half) * ports.up : ceil_div(below, half);
      below =
          static_cast<std::int64_t>(static_cast<double>(below) /
                                    oversubscription(fabric_, static_cast<std::size_t>(tier) - 1));
      const auto name = tier == 2 ? "core" : "core " + std::to_string(tier - 1);
      plan.tiers.push_back(
          {name, std::max<std::int64_t>(1, ceil_div(below, fabric_.radix)), below});
      cross(below);
    }
  }

  void dragonfly_plus() {
    const std::int64_t half = std::max(1, fabric_.radix / 2);
    need_ports(half);
    const auto leaves = leaves_of(nodes_, rails_, static_cast<int>(half), false).count;
    const std::int64_t groups = ceil_div(leaves, half);
    one_tier(leaves);
    plan.tiers.push_back({"spine", groups * half, leaves * half});
    plan.hops = leaves == 1 ? 1 : groups == 1 ? 3 : 4;
    if (groups == 1) return cross(leaves * half);
    plan.cables_across = groups * half * half / 2;
    // Each pair of groups shares its part of the spines' global ports.
    const double pair = static_cast<double>(half * half) / static_cast<double>(groups - 1);
    const std::int64_t pairs_cut = (groups / 2) * ceil_div(groups, 2);
    plan.bisection.value = std::min(half_ports_, static_cast<double>(pairs_cut) * pair * cable_);
  }

  void torus_3d() {
    const auto box = torus_box(nodes_);
    plan.tiers = {{"router", nodes_, plan.endpoints}};
    std::int64_t cut = 0;
    for (const auto side : {box.x, box.y, box.z}) {
      const std::int64_t across = nodes_ / side, closed = side > 2 ? 2 : side - 1;
      plan.cables_across += side > 2 ? nodes_ : across * (side - 1);
      plan.hops += static_cast<int>(side / 2);
      if (side == std::max({box.x, box.y, box.z})) cut = across * closed;
    }
    ++plan.hops;
    plan.bisection.value = std::min(half_ports_, static_cast<double>(cut) * cable_);
  }

  FabricPlan plan;

 private:
  // A leaf holds whole nodes.
  void need_ports(std::int64_t down) const {
    if (rails_ > down)
      throw std::invalid_argument("the " + std::to_string(rails_) +
                                  " NICs of a node do not fit the " + std::to_string(down) +
                                  " ports downwards of a leaf switch; raise radix");
  }
  void cross(std::int64_t cables) {
    plan.bisection.value = std::min(plan.bisection.value, static_cast<double>(cables) / 2 * cable_);
  }

  const Fabric& fabric_;
  std::int64_t nodes_;
  int rails_;
  double half_ports_ = 0, cable_ = 0;
};

void total(FabricPlan& plan, const Cluster& cluster) {
  plan.cables = plan.cables_across;
  for (const auto& tier : plan.tiers) {
    plan.switches += tier.switches;
    plan.cables += tier.cables_down;
  }
  plan.latency = 2 * cluster.node.nics.latency + plan.hops * cluster.fabric.latency;
  const auto count = static_cast<double>(plan.switches);
  if (cluster.fabric.switch_power.value > 0) plan.power = count * cluster.fabric.switch_power;
  if (cluster.fabric.switch_price.value > 0) plan.price = count * cluster.fabric.switch_price;
}

}  // namespace

FabricPlan plan_of(const Cluster& cluster) {
  check_fabric(cluster);
  Counter counter(cluster);
  switch (cluster.fabric.kind) {
    case Fabric::Kind::single_switch:
      counter.one_tier(1);
      break;
    case Fabric::Kind::rail_only:
      counter.one_tier(cluster.node.nics.count);
      break;
    case Fabric::Kind::fat_tree:
      counter.fat_tree(false);
      break;
    case Fabric::Kind::rail_fat_tree:
      counter.fat_tree(true);
      break;
    case Fabric::Kind::dragonfly_plus:
      counter.dragonfly_plus();
      break;
    case Fabric::Kind::torus_3d:
      counter.torus_3d();
      break;
  }
  total(counter.plan, cluster);
  return std::move(counter.plan);
}

}  // namespace topology

// SPDX-License-Identifier: Apache-2.0
// The value of another network for the chosen plans.
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "search/purchase/decision_parts.hpp"

namespace search {
namespace {

using topology::Fabric;

// Gives all NICs and links `factor` times their speed.
void scale_network(topology::Cluster& cluster, double factor) {
  const auto scale = [factor](units::BytesPerSecond& rate) { rate = factor * rate; };
  scale(cluster.node.nics.bandwidth);
  for (auto& part : cluster.others) scale(part.node.nics.bandwidth);
  scale(cluster.fabric.link_bandwidth);
}

struct Change {
  std::string what;
  topology::Cluster cluster;
};

std::vector<Change> other_fabrics(const topology::Cluster& cluster) {
  using enum Fabric::Kind;
  std::vector<Change> changes;
  const auto kind = cluster.fabric.kind;
  // Tables measured on a fabric say nothing of another one.
  if (cluster.nodes() < 2 || !cluster.fabric.measured.empty()) return changes;
  const auto& now = cluster.fabric.oversubscription;
  const double over = now.empty() ? 1 : now.front();
  if (kind == fat_tree || kind == rail_fat_tree) {
    for (const int ratio : {1, 2, 4}) {
      if (over == ratio && now.size() < 2) continue;
      auto other = cluster;
      other.fabric.oversubscription = {static_cast<double>(ratio)};
      changes.push_back({"oversubscription " + std::to_string(ratio) + ":1", std::move(other)});
    }
    auto other = cluster;
    other.fabric.kind = kind == fat_tree ? rail_fat_tree : fat_tree;
    changes.push_back({kind == fat_tree ? "rails" : "no rails", std::move(other)});
  }
  for (const double factor : {0.5, 2.0}) {
    auto other = cluster;
    scale_network(other, factor);
    const auto speed = std::min(other.node.nics.bandwidth, other.fabric.link_bandwidth);
    changes.push_back(
        {"NICs and links of " + std::to_string(std::lround(speed.value * 8e-9)) + " Gbit/s",
         std::move(other)});
  }
  return changes;
}

// The effect of that cluster on the option; the plans stay.
FabricEffect effect(const Purchase& purchase, PurchaseOption option, std::vector<Planned> plans,
                    const Purchasing& how, Change change) {
  for (auto& question : option.questions) question.scenario.cluster = change.cluster;
  for (auto& plan : plans) {
    plan.scenario.cluster = change.cluster;
    plan.forecast = forecast::simulate(plan.scenario);
    set_interval_and_correction(plan, how);
  }
  return {std::move(change.what), assess(purchase, option, plans)};
}

}  // namespace

std::vector<FabricEffect> fabric_effects(const Purchase& purchase, const PurchaseOption& option,
                                         const std::vector<Planned>& plans, const Purchasing& how) {
  std::vector<FabricEffect> effects;
  for (auto& change : other_fabrics(option.cluster())) try {
      effects.push_back(effect(purchase, option, plans, how, std::move(change)));
    } catch (const std::invalid_argument&) {
      // Fabrics that cannot join the nodes are left out.
    }
  return effects;
}

}  // namespace search

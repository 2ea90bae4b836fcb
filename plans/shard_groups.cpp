// SPDX-License-Identifier: Apache-2.0
#include "plans/shard_groups.hpp"

#include <algorithm>

namespace strategies {

namespace {

// The plan as far as it places what all layers of a stage share: experts may not fit it.
Placement without_experts(Plan plan) {
  plan.expert = 1;
  plan.expert_tensor.reset();
  return Placement(plan);
}

// Whether every stage has whole nodes to itself, each with equally many sharers of one copy.
bool stages_fill_nodes(const Plan& plan, const topology::Cluster& cluster) {
  const std::int64_t node = cluster.node.gpus;
  const bool in_order = plan.rank_order == Plan{}.rank_order && cluster.others.empty();
  const bool fills = plan.tensor * plan.context * plan.data % node == 0;
  return in_order && fills && node % plan.tensor == 0 && copies_of(plan) == 1;
}

}  // namespace

OnNodes sharers_on_nodes(const Plan& plan, const topology::Cluster& cluster) {
  const auto placement = without_experts(plan);
  OnNodes on;
  for (std::int64_t rank = 0; rank < placement.ranks(); ++rank) {
    if (placement.index_of_sharer(placement.at(rank)) != 0) continue;
    std::vector<std::int64_t> sharers;
    for (std::int64_t i = 0; i < placement.sharers(); ++i)
      sharers.push_back(placement.rank_of_sharer(i, placement.at(rank)));
    const auto shape = topology::shape_of(sharers, cluster);
    on.least = on.least == 0 ? shape.least_per_node : std::min(on.least, shape.least_per_node);
    on.most = std::max(on.most, shape.most_per_node);
  }
  return on;
}

bool shards_alike(const Plan& plan, const topology::Cluster& cluster) {
  if (stages_fill_nodes(plan, cluster)) return true;
  const auto on = sharers_on_nodes(plan, cluster);
  return on.least == on.most;
}

namespace {

// The number of sharers of one data-parallel group on a node: the same on every node
// (shards_alike).
std::int64_t sharers_on_node(const Plan& plan, const Placement& placement,
                             const topology::Cluster& cluster) {
  if (stages_fill_nodes(plan, cluster)) return cluster.node.gpus / plan.tensor;
  std::vector<std::int64_t> sharers;
  for (std::int64_t i = 0; i < placement.sharers(); ++i)
    sharers.push_back(placement.rank_of_sharer(i, {}));
  return topology::shape_of(sharers, cluster).least_per_node;
}

}  // namespace

std::int64_t dense_sharers(const Plan& plan) { return without_experts(plan).sharers(); }

bool groups_fill_nodes(const Plan& plan, std::int64_t ranks, const topology::Cluster& cluster) {
  if (ranks == 1 || ranks == dense_sharers(plan)) return true;
  if (!shards_alike(plan, cluster)) return false;
  const auto on = sharers_on_node(plan, without_experts(plan), cluster);
  return on % ranks == 0 || ranks % on == 0;
}

std::int64_t ranks_of_shard_group(const Plan& plan, const Placement& placement,
                                  const topology::Cluster& cluster) {
  using enum ShardGroup::Extent;
  if (plan.zero == 0) return placement.sharers();
  switch (plan.shard_group.extent) {
    case all:
      return placement.sharers();
    case node:
      return sharers_on_node(plan, placement, cluster);
    case ranks:
      return plan.shard_group.ranks;
  }
  return placement.sharers();
}

std::int64_t apart_ranks_of(const Placement& placement, std::int64_t dense) {
  if (placement.regroups()) return placement.apart_sharers();
  return std::max<std::int64_t>(1, placement.apart_sharers() * dense / placement.sharers());
}

bool groups_hold_all_parts(const Plan& plan, const topology::Cluster& cluster) {
  if (plan.shard_group == ShardGroup::all || !shards_alike(plan, cluster)) return true;
  auto sharded = plan;
  sharded.zero = std::max(1, plan.zero);
  const auto ranks = ranks_of_shard_group(sharded, without_experts(plan), cluster);
  return plan.tensor * ranks % (plan.expert * expert_tensor(plan)) == 0;
}

Halves halves_of(const topology::GroupShape& shape, int shards) {
  if (shards == 1) return {{.parts = shape.parts}, shape};
  // Spreads ranks over nodes as evenly as can be.
  const auto spread = [&](int ranks, int nodes) {
    return topology::GroupShape{.ranks = ranks,
                                .nodes = nodes,
                                .least_per_node = ranks / nodes,
                                .most_per_node = (ranks + nodes - 1) / nodes,
                                .parts = shape.parts};
  };
  const int most = shape.most_per_node, groups = shape.ranks / shards;
  const int nodes = std::min(shape.nodes, (shards + most - 1) / most);  // that a group lies on
  return {spread(shards, nodes), spread(groups, std::clamp(shape.nodes / nodes, 1, groups))};
}

}  // namespace strategies

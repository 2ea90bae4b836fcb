// SPDX-License-Identifier: Apache-2.0
#include "plans/shard_groups.hpp"

#include <algorithm>

#include "plans/placement.hpp"

namespace strategies {

OnNodes sharers_on_nodes(const Plan& plan, const topology::Cluster& cluster) {
  auto dense = plan;
  dense.expert = 1;
  dense.expert_tensor.reset();
  const Placement placement(dense);
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
  const std::int64_t node = cluster.node.gpus;
  const bool in_order = plan.rank_order == Plan{}.rank_order && cluster.others.empty();
  const bool fills = plan.tensor * plan.context * plan.data % node == 0;
  if (in_order && fills && node % plan.tensor == 0 && plan.schedule != ScheduleKind::dualpipe)
    return true;
  const auto on = sharers_on_nodes(plan, cluster);
  return on.least == on.most;
}

}  // namespace strategies

// SPDX-License-Identifier: Apache-2.0
// Groups of ranks that share states within a node (shard_group: node).
#pragma once
#include "plans/plan.hpp"
#include "topology/cluster.hpp"

namespace strategies {

// The least and the most ranks of a data-parallel group on one node, over all groups and their
// nodes. Experts do not matter to who shares the rest. O(ranks)
struct OnNodes {
  int least = 0, most = 0;
};
OnNodes sharers_on_nodes(const Plan& plan, const topology::Cluster& cluster);

// Whether every node divides states over equally many ranks, as FSDP's device mesh requires;
// otherwise some ranks would hold more than others. O(ranks), less where tensor x context x data
// fills whole nodes.
bool shards_alike(const Plan& plan, const topology::Cluster& cluster);

}  // namespace strategies

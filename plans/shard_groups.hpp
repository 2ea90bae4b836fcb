// SPDX-License-Identifier: Apache-2.0
// Groups of ranks that share one copy of what ZeRO divides (shard_group).
#pragma once
#include "plans/placement.hpp"
#include "plans/plan.hpp"
#include "topology/cluster.hpp"
#include "topology/collective.hpp"

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

// The ranks that share what all layers of a stage hold: of all replicas, parts of a sequence and
// copies of a mirrored pipeline. Others may share experts and regrouped layers (sums_gradients).
// O(1)
std::int64_t dense_sharers(const Plan& plan);

// Whether groups of `ranks` sharers fall together with nodes: nodes hold several whole groups, or
// groups fill several nodes; or one group has all sharers, or one sharer. As shards_alike.
bool groups_fill_nodes(const Plan& plan, std::int64_t ranks, const topology::Cluster& cluster);

// The number of ranks of the plan's shard groups, each of which holds one copy: all sharers without
// ZeRO. Holds where shards_alike and groups_fill_nodes do. `placement` is the plan's. O(1), but
// O(sharers) where shard_group is node and replicas do not fill whole nodes.
std::int64_t ranks_of_shard_group(const Plan& plan, const Placement& placement,
                                  const topology::Cluster& cluster);

// The number of ranks that share one copy of what is held apart, where shard groups have `dense`
// ranks: of experts, those of a shard group among the holders of the same ones
// (groups_hold_all_parts); of regrouped layers, all holders. O(1)
std::int64_t apart_ranks_of(const Placement& placement, std::int64_t dense);
// Whether each shard group holds every expert, and all equally often: so that as many copies are
// kept of experts as of all else. True where shards_alike is not. ZeRO's stage does not matter.
// It is as slow as ranks_of_shard_group.
bool groups_hold_all_parts(const Plan& plan, const topology::Cluster& cluster);

// A data-parallel group of this shape in groups of `shards` ranks: one such group, and the ranks of
// the same place in every such group. Exact where groups fill nodes alike, as they do but for
// experts that lie unevenly on nodes.
struct Halves {
  topology::GroupShape inside, across;
};
Halves halves_of(const topology::GroupShape& shape, int shards);

}  // namespace strategies

// SPDX-License-Identifier: Apache-2.0
// A sample of data-parallel replicas from which all others are known.
#pragma once
#include <cstdint>
#include <vector>

#include "plans/placement.hpp"
#include "topology/cluster.hpp"
#include "topology/ports.hpp"

namespace strategies {

// A block of `period` replicas fills whole nodes (and whole leaves, if leaves limit traffic), holds
// whole expert-parallel groups and whole shard groups, and such blocks fill the job. Blocks with
// the same devices, stragglers and degraded links can then be exchanged for one another, and one of
// each sort stands for all.
struct Sample {
  std::int64_t period = 1;
  std::vector<std::int64_t> replicas;   // those looked at, ascending
  std::vector<std::int64_t> weight;     // of each: how many replicas it stands for
  std::vector<std::uint32_t> place_of;  // by block: where its first replica's stand-in is above

  // Position in `replicas` of the one that stands for this replica.
  std::size_t stand_in(std::int64_t replica) const {
    return place_of[static_cast<std::size_t>(replica / period)] +
           static_cast<std::size_t>(replica % period);
  }
};

// `shards`: ranks of a shard group. O(blocks + GPUs that differ from the first kind).
Sample sample_of(const Placement& placement, const topology::Cluster& cluster,
                 const topology::Ports& ports, std::int64_t shards);
Sample every_replica(const Placement& placement);

}  // namespace strategies

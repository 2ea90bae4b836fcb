// SPDX-License-Identifier: Apache-2.0
// The groups of ranks that share parameters with a rank, member by member.
#pragma once
#include <vector>

#include "plans/placement.hpp"

namespace tests {

using Members = std::vector<std::int64_t>;

inline Members data_group(const strategies::Placement& placement, std::int64_t rank) {
  Members group;
  for (std::int64_t i = 0; i < placement.sharers(); ++i)
    group.push_back(placement.rank_of_sharer(i, placement.at(rank)));
  return group;
}

// The ranks of the same stage that hold the same experts.
inline Members expert_data_group(const strategies::Placement& placement, std::int64_t rank) {
  const auto here = placement.expert_at(rank);
  const auto stage = placement.at(rank).pipeline;
  Members group;
  for (std::int64_t other = 0; other < placement.ranks(); ++other) {
    auto there = placement.expert_at(other);
    there.data = here.data;
    if (there == here && placement.at(other).pipeline == stage) group.push_back(other);
  }
  return group;
}

}  // namespace tests

// SPDX-License-Identifier: Apache-2.0
// The groups of virtual stages that share memory in a pipeline.
#pragma once
#include <cstddef>
#include <vector>

#include "search/solvers/pipeline_problem.hpp"

namespace search {

// One way in which a device is full: the number of microbatches in flight of each member's chunk.
struct Load {
  ByteCount capacity = 0;
  std::vector<int> in_flight;  // by member
};

// Virtual stages that sit together on a device (or, mirrored, on two devices).
struct StageGroup {
  std::vector<int> members;  // virtual stages, ascending
  std::vector<Load> loads;
};

// The place of a virtual stage: its group, and its number among the group's members.
struct GroupMember {
  std::size_t group = 0, member = 0;
};

// The groups of all virtual stages, in the order of their lowest member.
std::vector<StageGroup> stage_groups(const PipelineProblem& problem);

// The memory that some members of a group use under each of its loads.
struct Usage {
  std::vector<ByteCount> held;  // fixed and kept, by load
  ByteCount transient = 0;

  explicit Usage(const StageGroup& group) : held(group.loads.size(), 0) {}
  void add(const StageGroup& group, std::size_t member, ByteCount fixed, ByteCount kept,
           ByteCount beside) {
    for (std::size_t l = 0; l < held.size(); ++l)
      held[l] += fixed + group.loads[l].in_flight[member] * kept;
    transient = std::max(transient, beside);
  }
  bool fits(const StageGroup& group) const {
    for (std::size_t l = 0; l < held.size(); ++l)
      if (held[l] + transient > group.loads[l].capacity) return false;
    return true;
  }
};

}  // namespace search

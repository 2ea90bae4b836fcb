// SPDX-License-Identifier: Apache-2.0
// The options of a virtual stage: an interval of layers, run in ways that fit and may pay off.
#pragma once
#include <span>
#include <vector>

#include "search/solvers/stage_groups.hpp"
#include "search/solvers/trellis.hpp"

namespace search {

// One way to run an interval of layers on a virtual stage.
struct StageOption {
  StageTimes times;
  ByteCount kept = 0, transient = 0;
  FrontierId frontier{};
  std::uint32_t point = 0;
};

// The options of the intervals that begin at a layer on a virtual stage, one by one.
class StageOptions {
 public:
  StageOptions(const PipelineProblem& problem, IntervalFrontiers& frontiers);

  const std::vector<StageGroup>& groups() const { return groups_; }
  const PipelineProblem::LayerRange& range(int stage) const {
    return ranges_[static_cast<std::size_t>(stage)];
  }
  GroupMember membership(int stage) const { return memberships_[static_cast<std::size_t>(stage)]; }

  // The options of an interval on a virtual stage whose group holds nothing else. `fastest`:
  // options that fit and are not slower than another in everything. `all`: also options that are
  // slower and need less memory.
  enum class Which { fastest, all };
  // All the memory of the group, or an even share of it: then all members fit together.
  enum class Capacity { all, share };
  void list(int stage, int first, int last, Which which, std::vector<StageOption>& out,
            Capacity capacity = Capacity::all);
  // The option with the least forward + backward + weight; false if none fits.
  bool fastest(int stage, int first, int last, StageOption& out, Capacity capacity = Capacity::all);
  // A lower bound on the time of the interval in any way: forward, backward and weight together.
  Picoseconds least_time(int first, int last) const {
    return least_time_[static_cast<std::size_t>(last)] -
           least_time_[static_cast<std::size_t>(first)];
  }
  IntervalFrontiers& frontiers() { return frontiers_; }
  // The times of a virtual stage that holds this interval at this price.
  StageTimes times(int stage, int first, int last, const Price& price) const {
    auto times = frontiers_.exchanged(first, last);
    times.forward += price.forward;
    times.backward += price.backward;
    times.weight += price.weight;
    const auto& more = besides_[static_cast<std::size_t>(stage)];
    for (const auto part : StageTimes::all()) times.*part += more.*part;
    return times;
  }

 private:
  ByteCount most_kept(int stage, int first, int last, ByteCount transient, Capacity capacity) const;

  IntervalFrontiers& frontiers_;
  std::vector<StageGroup> groups_;
  std::vector<GroupMember> memberships_;
  std::vector<Picoseconds> least_time_;  // sums over the first layers
  std::vector<StageTimes> besides_;      // by virtual stage
  std::vector<PipelineProblem::LayerRange> ranges_;
};

}  // namespace search

// SPDX-License-Identifier: Apache-2.0
// Which rank does what: ranks are numbered as GPUs are, node by node.
#pragma once
#include <cstdint>
#include <vector>

#include "strategies/plan.hpp"
#include "topology/cluster.hpp"
#include "topology/collective.hpp"

namespace strategies {

struct Coordinates {
  std::int64_t tensor = 0, data = 0, pipeline = 0;
  friend bool operator==(const Coordinates&, const Coordinates&) = default;
};

// Invariant: rank ↔ coordinates is one to one; plan.rank_order names the degrees, innermost first.
class Placement {
 public:
  explicit Placement(const Plan& plan);
  std::int64_t ranks() const { return ranks_; }
  std::int64_t rank_of(const Coordinates& at) const {
    return at.tensor * tensor_stride_ + at.data * data_stride_ + at.pipeline * pipeline_stride_;
  }
  Coordinates at(std::int64_t rank) const {
    return {rank / tensor_stride_ % tensor_, rank / data_stride_ % data_,
            rank / pipeline_stride_ % pipeline_};
  }
  std::vector<std::int64_t> tensor_group(std::int64_t rank) const;
  std::vector<std::int64_t> data_group(std::int64_t rank) const;
  std::int64_t tensor() const { return tensor_; }
  std::int64_t data() const { return data_; }
  std::int64_t pipeline() const { return pipeline_; }
  std::int64_t data_stride() const { return data_stride_; }  // ranks from a replica to the next

 private:
  std::int64_t tensor_, data_, pipeline_, ranks_;
  std::int64_t tensor_stride_ = 1, data_stride_ = 1, pipeline_stride_ = 1;
};

// Shape of a group that has siblings like itself, all of them communicating at once.
topology::GroupShape shape_with_siblings(const std::vector<std::int64_t>& gpus,
                                         const topology::Cluster& cluster);

// Ranks that cannot be told apart are one actor. Two ranks are alike if they are on the same stage,
// their groups and pipeline neighbours lie alike on the cluster, and the ranks there are alike in
// turn: colour refinement, so that what one actor does is exactly what each of its ranks does.
//
// Where a block of `period` data-parallel replicas fills whole nodes and blocks fill the job,
// moving every rank on by a block changes nothing: only the first block need be looked at.
class Folding {
 public:
  // actors[i]: actor of the i-th of ranks(), numbered in order of first appearance.
  Folding(const Placement& placement, std::int64_t period,
          const std::vector<std::uint32_t>& actors);

  std::uint32_t actor_of(std::int64_t rank) const { return actor_of_[index_of(rank)]; }
  std::int64_t period() const { return period_; }
  // The ranks of the first block, ascending: every actor has one among them.
  const std::vector<std::int64_t>& ranks() const { return ranks_; }
  const std::vector<std::int64_t>& representative() const { return representative_; }  // lowest
  const std::vector<std::int64_t>& multiplicity() const { return multiplicity_; }

 private:
  std::size_t index_of(std::int64_t rank) const;
  Placement placement_;
  std::int64_t period_;
  std::vector<std::int64_t> ranks_, representative_, multiplicity_;
  std::vector<std::uint32_t> actor_of_;  // by tensor, data mod period, pipeline
};

// Data-parallel replicas after which the placement repeats itself on the nodes; data() if it does
// not.
std::int64_t period_of(const Placement& placement, const topology::Cluster& cluster);
// Ranks of the first `period` replicas, ascending.
std::vector<std::int64_t> first_block(const Placement& placement, std::int64_t period);

// O(block · log block) per round, two rounds unless groups straddle nodes unevenly, and O(ranks)
// for the shapes of groups.
Folding fold(const Placement& placement, const topology::Cluster& cluster);
Folding unfolded(const Placement& placement);  // every rank an actor of its own

}  // namespace strategies

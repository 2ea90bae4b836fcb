// SPDX-License-Identifier: Apache-2.0
// Which rank does what: ranks are numbered as GPUs are, node by node.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "strategies/plan.hpp"
#include "topology/cluster.hpp"
#include "topology/collective.hpp"

namespace strategies {

struct Coordinates {
  std::int64_t tensor = 0, data = 0, pipeline = 0, context = 0;
  friend bool operator==(const Coordinates&, const Coordinates&) = default;
};

// Invariant: rank ↔ coordinates is one to one; plan.rank_order names the degrees, innermost first.
class Placement {
 public:
  explicit Placement(const Plan& plan);
  std::int64_t ranks() const { return ranks_; }
  std::int64_t rank_of(const Coordinates& at) const {
    return at.tensor * tensor_stride_ + at.data * data_stride_ + at.pipeline * pipeline_stride_ +
           at.context * context_stride_;
  }
  Coordinates at(std::int64_t rank) const {
    return {rank / tensor_stride_ % tensor_, rank / data_stride_ % data_,
            rank / pipeline_stride_ % pipeline_, rank / context_stride_ % context_};
  }
  std::vector<std::int64_t> tensor_group(std::int64_t rank) const;
  std::vector<std::int64_t> context_group(std::int64_t rank) const;
  std::vector<std::int64_t> data_group(std::int64_t rank) const;  // its sharers
  std::int64_t tensor() const { return tensor_; }
  std::int64_t data() const { return data_; }
  std::int64_t pipeline() const { return pipeline_; }
  std::int64_t context() const { return context_; }
  std::int64_t data_stride() const { return data_stride_; }  // ranks from a replica to the next

  // Copies of the model in the pipeline: in DualPipe two, so that stages s and pipeline - 1 - s
  // hold the same virtual stages.
  std::int64_t copies() const { return copies_; }
  // The lower of the stages that hold what this one holds.
  std::int64_t lead_of(std::int64_t stage) const {
    return copies_ == 1 ? stage : std::min(stage, pipeline_ - 1 - stage);
  }

  // Ranks that hold the same parameters, sum their gradients and share optimizer states: those of
  // all replicas, all parts of a sequence and all copies. They are counted in the order of their
  // numbers.
  std::int64_t sharers() const { return data_ * context_ * copies_; }
  std::int64_t sharer(const Coordinates& at) const;
  // The rank at the same place of another sharer.
  std::int64_t rank_of_sharer(std::int64_t sharer, Coordinates at) const;

 private:
  std::int64_t tensor_, data_, pipeline_, context_, copies_, ranks_;
  // What tells sharers apart, innermost first; along the pipeline, their copy.
  std::array<Degree, 3> sharing_{Degree::context, Degree::data, Degree::pipeline};
  std::int64_t tensor_stride_ = 1, data_stride_ = 1, pipeline_stride_ = 1, context_stride_ = 1;
};

}  // namespace strategies

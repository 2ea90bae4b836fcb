// SPDX-License-Identifier: Apache-2.0
// Which rank does what: ranks are numbered as GPUs are, node by node.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "plans/plan.hpp"
#include "topology/cluster.hpp"
#include "topology/collective.hpp"

namespace strategies {

struct Coordinates {
  std::int64_t tensor = 0, data = 0, pipeline = 0, context = 0;
  friend bool operator==(const Coordinates&, const Coordinates&) = default;
};

// A rank of a stage among those that divide the experts: it holds a part of each matrix (tensor) of
// some experts (expert), and those of the same part and experts (data) sum their gradients.
struct ExpertCoordinates {
  std::int64_t tensor = 0, expert = 0, data = 0;
  friend bool operator==(const ExpertCoordinates&, const ExpertCoordinates&) = default;
};

// Invariant: rank ↔ coordinates is one to one; plan.rank_order names the degrees, innermost first.
class Placement {
 public:
  // Throws std::invalid_argument if expert x expert_tensor does not divide the ranks of a stage.
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

  // Experts arrange the ranks of a stage anew, in the same order of degrees without context:
  // expert_tensor, expert, and what is left as data (Megatron-Core's parallel_state).
  ExpertCoordinates expert_at(std::int64_t rank) const;
  // The rank of a stage.
  std::int64_t rank_of(const ExpertCoordinates& at, std::int64_t pipeline) const;
  std::vector<std::int64_t> expert_group(std::int64_t rank) const;
  std::vector<std::int64_t> apart_tensor_group(std::int64_t rank) const;
  // Who exchange tokens outside the tensor-parallel group: the expert-parallel group, or, where
  // each rank has all experts, those that divide these otherwise than layers are; else it alone.
  std::vector<std::int64_t> token_group(std::int64_t rank) const;
  std::int64_t expert() const { return expert_; }
  std::int64_t expert_tensor() const { return expert_tensor_; }
  std::int64_t apart_sharers() const { return apart_data_ * copies_; }  // of the same experts
  // By their place among these, copies of a mirrored model innermost unless stages are outermost.
  std::int64_t apart_sharer(std::int64_t rank) const;
  std::int64_t rank_of_apart_sharer(std::int64_t sharer, std::int64_t like) const;
  // Layers that are regrouped take the place of experts: their tensor-parallel group, of ranks that
  // follow each other, is apart_tensor_group.
  bool regroups() const { return regroups_; }
  // The ranks at the same place of these groups in one of the plan's.
  std::vector<std::int64_t> regrouping_group(std::int64_t rank) const;
  // Other ranks share an expert's parameters than the other parameters.
  bool holds_apart() const { return expert_ > 1 || expert_tensor_ != tensor_; }
  bool exchanges_tokens() const {
    return holds_apart() && expert_ * expert_tensor_ > 1 && !regroups_;
  }
  // So many replicas after one another hold whole groups of those above, as every so many do; all
  // replicas where groups are spread over them.
  std::int64_t apart_replicas() const;
  // Places in an expert-data group that so many replicas fill, a multiple of those above.
  std::int64_t apart_sharers_in(std::int64_t replicas) const {
    return replicas * tensor_ * context_ / (expert_ * expert_tensor_);
  }

 private:
  std::int64_t stage_index(const Coordinates& at) const;
  bool outermost_stages() const { return pipeline_stride_ * pipeline_ == ranks_; }
  std::int64_t tensor_, data_, pipeline_, context_, copies_, ranks_;
  // What tells sharers apart, innermost first; along the pipeline, their copy.
  std::array<Degree, 3> sharing_{Degree::context, Degree::data, Degree::pipeline};
  std::int64_t tensor_stride_ = 1, data_stride_ = 1, pipeline_stride_ = 1, context_stride_ = 1;
  std::int64_t expert_, expert_tensor_, apart_data_;
  bool regroups_;
  // Among the ranks of a stage: of the coordinates, and of the expert coordinates.
  Coordinates stage_stride_{1, 1, 1, 1};
  ExpertCoordinates expert_stride_{1, 1, 1};
};

}  // namespace strategies

// SPDX-License-Identifier: Apache-2.0
// The coordinates of every rank in the plan's groups. Ranks are numbered as GPUs are, node by node.
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

// Whether expert x expert_tensor divides the ranks of a stage.
bool places_experts(const Plan& plan);

// Invariant: rank ↔ coordinates is one to one; plan.rank_order names the degrees, innermost first.
class Placement {
 public:
  // Throws std::invalid_argument unless places_experts.
  explicit Placement(const Plan& plan);
  std::int64_t ranks() const { return ranks_; }
  std::int64_t rank_of(const Coordinates& at) const {
    return at.tensor * stride_.tensor + at.data * stride_.data + at.pipeline * stride_.pipeline +
           at.context * stride_.context;
  }
  Coordinates at(std::int64_t rank) const {
    return {rank / stride_.tensor % size_.tensor, rank / stride_.data % size_.data,
            rank / stride_.pipeline % size_.pipeline, rank / stride_.context % size_.context};
  }
  std::int64_t tensor() const { return size_.tensor; }
  std::int64_t data() const { return size_.data; }
  std::int64_t pipeline() const { return size_.pipeline; }
  std::int64_t context() const { return size_.context; }
  std::int64_t data_stride() const { return stride_.data; }  // ranks from a replica to the next

  // Copies of the model in the pipeline: in DualPipe two, so that stages s and pipeline - 1 - s
  // hold the same virtual stages.
  std::int64_t copies() const { return copies_; }
  // The lower of the stages that hold the same virtual stages as this one.
  std::int64_t lead_of(std::int64_t stage) const {
    return copies_ == 1 ? stage : std::min(stage, size_.pipeline - 1 - stage);
  }

  // The number of ranks that hold the same parameters, sum their gradients and share optimizer
  // states: those of all replicas, all parts of a sequence and all copies. They are counted in the
  // order of their numbers.
  std::int64_t sharers() const { return size_.data * size_.context * copies_; }
  std::int64_t index_of_sharer(const Coordinates& at) const;
  // The rank at the same place of another sharer.
  std::int64_t rank_of_sharer(std::int64_t sharer, Coordinates at) const;

  // Experts arrange the ranks of a stage anew, in the same order of degrees without context:
  // expert_tensor, expert, and what is left as data (Megatron-Core's parallel_state).
  ExpertCoordinates expert_at(std::int64_t rank) const;
  // The rank at these coordinates of a stage.
  std::int64_t rank_of(const ExpertCoordinates& at, std::int64_t pipeline) const;
  std::int64_t expert() const { return experts_.expert; }
  std::int64_t expert_tensor() const { return experts_.tensor; }
  std::int64_t apart_sharers() const { return experts_.data * copies_; }  // sharers of one expert
  // The rank's place among the ranks that share what it holds apart; copies of a mirrored model are
  // innermost unless stages are outermost.
  std::int64_t index_of_apart_sharer(std::int64_t rank) const;
  std::int64_t rank_of_apart_sharer(std::int64_t sharer, std::int64_t like) const;
  // Whether layers are regrouped. They take the place of experts: their tensor-parallel group, of
  // ranks that follow each other, is apart_tensor_group.
  bool regroups() const { return regroups_; }
  // Whether parameters of experts, or of regrouped layers, have other sharers than the rest.
  bool holds_apart() const { return experts_.expert > 1 || experts_.tensor != size_.tensor; }
  bool exchanges_tokens() const {
    return holds_apart() && experts_.expert * experts_.tensor > 1 && !regroups_;
  }
  // The smallest number of consecutive replicas whose ranks form whole groups of experts, as each
  // next such number of them does; all replicas where groups are spread over them.
  std::int64_t apart_replicas() const;
  // The number of places in an expert-data group that `replicas` replicas fill; `replicas` is a
  // multiple of apart_replicas().
  std::int64_t apart_sharers_in(std::int64_t replicas) const {
    return replicas * size_.tensor * size_.context / (experts_.expert * experts_.tensor);
  }

 private:
  std::int64_t stage_index(const Coordinates& at) const;
  bool outermost_stages() const { return stride_.pipeline * size_.pipeline == ranks_; }
  Coordinates size_;           // the degrees
  ExpertCoordinates experts_;  // the same of those that divide the experts
  std::int64_t copies_, ranks_;
  bool regroups_;
  // The degrees by which sharers differ, innermost first; along the pipeline they differ by their
  // copy.
  std::array<Degree, 3> sharing_{Degree::context, Degree::data, Degree::pipeline};
  // Distance from one rank to the next: among all ranks, and among those of a stage.
  Coordinates stride_{1, 1, 1, 1}, stage_stride_{1, 1, 1, 1};
  ExpertCoordinates expert_stride_{1, 1, 1};
};

// The groups that the rank belongs to, itself included.
std::vector<std::int64_t> tensor_group(const Placement& placement, std::int64_t rank);
std::vector<std::int64_t> context_group(const Placement& placement, std::int64_t rank);
std::vector<std::int64_t> expert_group(const Placement& placement, std::int64_t rank);
std::vector<std::int64_t> apart_tensor_group(const Placement& placement, std::int64_t rank);
// The ranks that exchange tokens with `rank` outside its tensor-parallel group: the expert-parallel
// group; or, if each rank has all experts, the ranks that divide the experts otherwise than layers
// are divided; else `rank` alone.
std::vector<std::int64_t> token_group(const Placement& placement, std::int64_t rank);
// The ranks of its tensor_group at the same place of their apart_tensor_group.
std::vector<std::int64_t> regrouping_group(const Placement& placement, std::int64_t rank);

}  // namespace strategies

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

}  // namespace strategies

// SPDX-License-Identifier: Apache-2.0
#include "strategies/placement.hpp"

#include <algorithm>

namespace strategies {

Placement::Placement(const Plan& plan)
    : tensor_(plan.tensor),
      data_(plan.data),
      pipeline_(plan.pipeline),
      ranks_(plan.tensor * plan.data * plan.pipeline) {
  std::int64_t stride = 1;
  for (Degree degree : plan.rank_order) switch (degree) {
      case Degree::tensor:
        tensor_stride_ = stride;
        stride *= tensor_;
        break;
      case Degree::data:
        data_stride_ = stride;
        stride *= data_;
        break;
      case Degree::pipeline:
        pipeline_stride_ = stride;
        stride *= pipeline_;
        break;
      case Degree::context:
      case Degree::expert:
        break;
    }
}

std::vector<std::int64_t> Placement::tensor_group(std::int64_t rank) const {
  auto where = at(rank);
  std::vector<std::int64_t> group;
  for (where.tensor = 0; where.tensor < tensor_; ++where.tensor) group.push_back(rank_of(where));
  return group;
}

std::vector<std::int64_t> Placement::data_group(std::int64_t rank) const {
  auto where = at(rank);
  std::vector<std::int64_t> group;
  for (where.data = 0; where.data < data_; ++where.data) group.push_back(rank_of(where));
  return group;
}

}  // namespace strategies

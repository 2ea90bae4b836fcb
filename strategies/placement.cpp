// SPDX-License-Identifier: Apache-2.0
#include "strategies/placement.hpp"

#include <algorithm>

namespace strategies {

Placement::Placement(const Plan& plan)
    : tensor_(plan.tensor),
      data_(plan.data),
      pipeline_(plan.pipeline),
      context_(plan.context),
      ranks_(plan.tensor * plan.data * plan.pipeline * plan.context) {
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
        context_stride_ = stride;
        stride *= context_;
        break;
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

std::vector<std::int64_t> Placement::context_group(std::int64_t rank) const {
  auto where = at(rank);
  std::vector<std::int64_t> group;
  for (where.context = 0; where.context < context_; ++where.context)
    group.push_back(rank_of(where));
  return group;
}

std::vector<std::int64_t> Placement::data_group(std::int64_t rank) const {
  const auto where = at(rank);
  std::vector<std::int64_t> group;
  for (std::int64_t i = 0; i < sharers(); ++i) group.push_back(rank_of_sharer(i, where));
  return group;
}

std::int64_t Placement::rank_of_sharer(std::int64_t sharer, Coordinates at) const {
  const bool inner = context_stride_ < data_stride_;
  at.context = inner ? sharer % context_ : sharer / data_;
  at.data = inner ? sharer / context_ : sharer % data_;
  return rank_of(at);
}

}  // namespace strategies

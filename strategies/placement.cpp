// SPDX-License-Identifier: Apache-2.0
#include "strategies/placement.hpp"

#include <algorithm>

namespace strategies {

Placement::Placement(const Plan& plan)
    : tensor_(plan.tensor),
      data_(plan.data),
      pipeline_(plan.pipeline),
      context_(plan.context),
      copies_(plan.schedule == ScheduleKind::dualpipe ? 2 : 1),
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
  std::ranges::sort(sharing_, {}, [&](Degree degree) {
    return degree == Degree::data      ? data_stride_
           : degree == Degree::context ? context_stride_
                                       : pipeline_stride_;
  });
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

std::int64_t Placement::sharer(const Coordinates& at) const {
  std::int64_t count = 1, sharer = 0;
  for (const auto degree : sharing_) {
    const bool data = degree == Degree::data, context = degree == Degree::context;
    sharer += count * (data ? at.data : context ? at.context : at.pipeline != lead_of(at.pipeline));
    count *= data ? data_ : context ? context_ : copies_;
  }
  return sharer;
}

std::int64_t Placement::rank_of_sharer(std::int64_t sharer, Coordinates at) const {
  const auto next = [&](std::int64_t count) {
    const auto digit = sharer % count;
    sharer /= count;
    return digit;
  };
  for (const auto degree : sharing_)
    if (degree == Degree::data) {
      at.data = next(data_);
    } else if (degree == Degree::context) {
      at.context = next(context_);
    } else {
      const auto lead = lead_of(at.pipeline);
      at.pipeline = next(copies_) == 0 ? lead : pipeline_ - 1 - lead;
    }
  return rank_of(at);
}

}  // namespace strategies

// SPDX-License-Identifier: Apache-2.0
#include "plans/placement.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace strategies {

Placement::Placement(const Plan& plan)
    : tensor_(plan.tensor),
      data_(plan.data),
      pipeline_(plan.pipeline),
      context_(plan.context),
      copies_(plan.schedule == ScheduleKind::dualpipe ? 2 : 1),
      ranks_(plan.tensor * plan.data * plan.pipeline * plan.context),
      expert_(plan.expert),
      expert_tensor_(plan.layer_tensor.value_or(strategies::expert_tensor(plan))),
      apart_data_(tensor_ * data_ * context_ / (expert_ * expert_tensor_)),
      regroups_(plan.layer_tensor.has_value()) {
  if (apart_data_ * expert_ * expert_tensor_ != tensor_ * data_ * context_)
    throw std::invalid_argument("expert x expert_tensor must divide tensor x context x data");
  std::int64_t stride = 1, in_stage = 1, of_experts = 1;
  const auto take = [](std::int64_t& of, std::int64_t& next, std::int64_t degree) {
    of = next;
    next *= degree;
  };
  for (Degree degree : plan.rank_order) switch (degree) {
      case Degree::tensor:
        take(tensor_stride_, stride, tensor_);
        take(stage_stride_.tensor, in_stage, tensor_);
        take(expert_stride_.tensor, of_experts, expert_tensor_);
        break;
      case Degree::data:
        take(data_stride_, stride, data_);
        take(stage_stride_.data, in_stage, data_);
        take(expert_stride_.data, of_experts, apart_data_);
        break;
      case Degree::pipeline:
        take(pipeline_stride_, stride, pipeline_);
        break;
      case Degree::context:
        take(context_stride_, stride, context_);
        take(stage_stride_.context, in_stage, context_);
        break;
      case Degree::expert:
        take(expert_stride_.expert, of_experts, expert_);
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

std::int64_t Placement::stage_index(const Coordinates& at) const {
  return at.tensor * stage_stride_.tensor + at.data * stage_stride_.data +
         at.context * stage_stride_.context;
}

ExpertCoordinates Placement::expert_at(std::int64_t rank) const {
  const auto i = stage_index(at(rank));
  return {i / expert_stride_.tensor % expert_tensor_, i / expert_stride_.expert % expert_,
          i / expert_stride_.data % apart_data_};
}

std::int64_t Placement::rank_of(const ExpertCoordinates& at, std::int64_t pipeline) const {
  const auto i = at.tensor * expert_stride_.tensor + at.expert * expert_stride_.expert +
                 at.data * expert_stride_.data;
  return rank_of({.tensor = i / stage_stride_.tensor % tensor_,
                  .data = i / stage_stride_.data % data_,
                  .pipeline = pipeline,
                  .context = i / stage_stride_.context % context_});
}

namespace {

// Ranks of a stage that differ from this one in one place only.
std::vector<std::int64_t> along(const Placement& placement, std::int64_t rank,
                                std::int64_t ExpertCoordinates::*place, std::int64_t count) {
  const auto stage = placement.at(rank).pipeline;
  auto where = placement.expert_at(rank);
  std::vector<std::int64_t> group;
  for (where.*place = 0; where.*place < count; ++(where.*place))
    group.push_back(placement.rank_of(where, stage));
  return group;
}

}  // namespace

std::vector<std::int64_t> Placement::expert_group(std::int64_t rank) const {
  return along(*this, rank, &ExpertCoordinates::expert, expert_);
}

std::vector<std::int64_t> Placement::apart_tensor_group(std::int64_t rank) const {
  return along(*this, rank, &ExpertCoordinates::tensor, expert_tensor_);
}

std::vector<std::int64_t> Placement::regrouping_group(std::int64_t rank) const {
  auto group = tensor_group(rank);
  const auto place = expert_at(rank).tensor;
  std::erase_if(group, [&](std::int64_t other) { return expert_at(other).tensor != place; });
  return group;
}

std::vector<std::int64_t> Placement::token_group(std::int64_t rank) const {
  if (!exchanges_tokens()) return {rank};
  return expert_ > 1 ? expert_group(rank) : apart_tensor_group(rank);
}

std::int64_t Placement::apart_sharer(std::int64_t rank) const {
  const auto stage = at(rank).pipeline, place = expert_at(rank).data;
  const std::int64_t copy = stage == lead_of(stage) ? 0 : 1;
  return outermost_stages() ? copy * apart_data_ + place : place * copies_ + copy;
}

std::int64_t Placement::rank_of_apart_sharer(std::int64_t sharer, std::int64_t like) const {
  const auto lead = lead_of(at(like).pipeline);
  const auto copy = outermost_stages() ? sharer / apart_data_ : sharer % copies_;
  auto there = expert_at(like);
  there.data = outermost_stages() ? sharer % apart_data_ : sharer / copies_;
  return rank_of(there, copy == 0 ? lead : pipeline_ - 1 - lead);
}

std::int64_t Placement::apart_replicas() const {
  if (!holds_apart()) return 1;
  const auto replica = tensor_ * context_, experts = expert_ * expert_tensor_;
  const bool in_turn = stage_stride_.data == replica && expert_stride_.data == experts;
  return in_turn ? std::lcm(replica, experts) / replica : data_;
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

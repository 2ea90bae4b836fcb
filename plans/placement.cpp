// SPDX-License-Identifier: Apache-2.0
#include "plans/placement.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace strategies {

namespace {

std::int64_t ranks_of_stage(const Plan& plan) { return plan.tensor * plan.data * plan.context; }
// The tensor degree of what is held apart.
std::int64_t apart_tensor(const Plan& plan) {
  return plan.layer_tensor.value_or(strategies::expert_tensor(plan));
}

}  // namespace

bool places_experts(const Plan& plan) {
  return ranks_of_stage(plan) % (plan.expert * apart_tensor(plan)) == 0;
}

Placement::Placement(const Plan& plan)
    : size_{.tensor = plan.tensor,
            .data = plan.data,
            .pipeline = plan.pipeline,
            .context = plan.context},
      experts_{.tensor = apart_tensor(plan), .expert = plan.expert},
      copies_(copies_of(plan)),
      ranks_(ranks_of_stage(plan) * plan.pipeline),
      regroups_(plan.layer_tensor.has_value()) {
  experts_.data = ranks_of_stage(plan) / (experts_.expert * experts_.tensor);
  if (!places_experts(plan))
    throw std::invalid_argument("expert x expert_tensor must divide tensor x context x data");
  std::int64_t stride = 1, in_stage = 1, of_experts = 1;
  const auto take = [](std::int64_t& of, std::int64_t& next, std::int64_t degree) {
    of = next;
    next *= degree;
  };
  for (Degree degree : plan.rank_order) switch (degree) {
      case Degree::tensor:
        take(stride_.tensor, stride, size_.tensor);
        take(stage_stride_.tensor, in_stage, size_.tensor);
        take(expert_stride_.tensor, of_experts, experts_.tensor);
        break;
      case Degree::data:
        take(stride_.data, stride, size_.data);
        take(stage_stride_.data, in_stage, size_.data);
        take(expert_stride_.data, of_experts, experts_.data);
        break;
      case Degree::pipeline:
        take(stride_.pipeline, stride, size_.pipeline);
        break;
      case Degree::context:
        take(stride_.context, stride, size_.context);
        take(stage_stride_.context, in_stage, size_.context);
        break;
      case Degree::expert:
        take(expert_stride_.expert, of_experts, experts_.expert);
        break;
    }
  std::ranges::sort(sharing_, {}, [&](Degree degree) {
    return degree == Degree::data      ? stride_.data
           : degree == Degree::context ? stride_.context
                                       : stride_.pipeline;
  });
}

std::int64_t Placement::stage_index(const Coordinates& at) const {
  return at.tensor * stage_stride_.tensor + at.data * stage_stride_.data +
         at.context * stage_stride_.context;
}

ExpertCoordinates Placement::expert_at(std::int64_t rank) const {
  const auto i = stage_index(at(rank));
  return {i / expert_stride_.tensor % experts_.tensor, i / expert_stride_.expert % experts_.expert,
          i / expert_stride_.data % experts_.data};
}

std::int64_t Placement::rank_of(const ExpertCoordinates& at, std::int64_t pipeline) const {
  const auto i = at.tensor * expert_stride_.tensor + at.expert * expert_stride_.expert +
                 at.data * expert_stride_.data;
  return rank_of({.tensor = i / stage_stride_.tensor % size_.tensor,
                  .data = i / stage_stride_.data % size_.data,
                  .pipeline = pipeline,
                  .context = i / stage_stride_.context % size_.context});
}

std::int64_t Placement::index_of_apart_sharer(std::int64_t rank) const {
  const auto stage = at(rank).pipeline, place = expert_at(rank).data;
  const std::int64_t copy = stage == lead_of(stage) ? 0 : 1;
  return outermost_stages() ? copy * experts_.data + place : place * copies_ + copy;
}

std::int64_t Placement::rank_of_apart_sharer(std::int64_t sharer, std::int64_t like) const {
  const auto lead = lead_of(at(like).pipeline);
  const auto copy = outermost_stages() ? sharer / experts_.data : sharer % copies_;
  auto there = expert_at(like);
  there.data = outermost_stages() ? sharer % experts_.data : sharer / copies_;
  return rank_of(there, copy == 0 ? lead : size_.pipeline - 1 - lead);
}

std::int64_t Placement::apart_replicas() const {
  if (!holds_apart()) return 1;
  const auto replica = size_.tensor * size_.context, experts = experts_.expert * experts_.tensor;
  const bool in_turn = stage_stride_.data == replica && expert_stride_.data == experts;
  return in_turn ? std::lcm(replica, experts) / replica : size_.data;
}

std::int64_t Placement::index_of_sharer(const Coordinates& at) const {
  std::int64_t count = 1, sharer = 0;
  for (const auto degree : sharing_) {
    const bool data = degree == Degree::data, context = degree == Degree::context;
    sharer += count * (data ? at.data : context ? at.context : at.pipeline != lead_of(at.pipeline));
    count *= data ? size_.data : context ? size_.context : copies_;
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
      at.data = next(size_.data);
    } else if (degree == Degree::context) {
      at.context = next(size_.context);
    } else {
      const auto lead = lead_of(at.pipeline);
      at.pipeline = next(copies_) == 0 ? lead : size_.pipeline - 1 - lead;
    }
  return rank_of(at);
}

namespace {

// The ranks that differ from this one in one coordinate only.
std::vector<std::int64_t> along(const Placement& placement, std::int64_t rank,
                                std::int64_t Coordinates::*place, std::int64_t count) {
  auto where = placement.at(rank);
  std::vector<std::int64_t> group;
  for (where.*place = 0; where.*place < count; ++(where.*place))
    group.push_back(placement.rank_of(where));
  return group;
}
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

std::vector<std::int64_t> tensor_group(const Placement& placement, std::int64_t rank) {
  return along(placement, rank, &Coordinates::tensor, placement.tensor());
}

std::vector<std::int64_t> context_group(const Placement& placement, std::int64_t rank) {
  return along(placement, rank, &Coordinates::context, placement.context());
}

std::vector<std::int64_t> expert_group(const Placement& placement, std::int64_t rank) {
  return along(placement, rank, &ExpertCoordinates::expert, placement.expert());
}

std::vector<std::int64_t> apart_tensor_group(const Placement& placement, std::int64_t rank) {
  return along(placement, rank, &ExpertCoordinates::tensor, placement.expert_tensor());
}

std::vector<std::int64_t> regrouping_group(const Placement& placement, std::int64_t rank) {
  auto group = tensor_group(placement, rank);
  const auto place = placement.expert_at(rank).tensor;
  std::erase_if(group,
                [&](std::int64_t other) { return placement.expert_at(other).tensor != place; });
  return group;
}

std::vector<std::int64_t> token_group(const Placement& placement, std::int64_t rank) {
  if (!placement.exchanges_tokens()) return {rank};
  return placement.expert() > 1 ? expert_group(placement, rank)
                                : apart_tensor_group(placement, rank);
}

}  // namespace strategies

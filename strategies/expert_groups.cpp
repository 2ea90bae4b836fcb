// SPDX-License-Identifier: Apache-2.0
// Expert parallelism (Megatron-Core): the ranks of a stage, arranged anew for the experts. Those of
// an expert-parallel group exchange tokens; those that hold the same experts sum their gradients
// and share their states, however the rest of the model is divided.
#include <algorithm>
#include <set>

#include "strategies/lowering.hpp"

namespace strategies {

void Lowering::find_expert_groups() {
  expert_groups_of_stage_.resize(static_cast<std::size_t>(stages()));
  if (!placement_.exchanges_tokens()) return;
  Known known;
  for (auto rank : folding_.ranks()) {
    const auto place = placement_.expert_at(rank);
    if ((placement_.expert() > 1 ? place.expert : place.tensor) != 0) continue;
    const auto group = placement_.token_group(rank);
    const auto stage = static_cast<int>(placement_.at(rank).pipeline);
    auto actors = new_group(group, known);
    if (actors.empty()) continue;
    std::set<std::size_t> writers;
    for (auto actor : actors) writers.insert(writer_of_actor_[actor]);
    expert_groups_of_stage_[static_cast<std::size_t>(placement_.lead_of(stage))].push_back(
        {stage,
         std::move(actors),
         rank,
         topology::shape_of(group, job_.cluster),
         {writers.begin(), writers.end()}});
  }
}

void Lowering::find_apart_groups() {
  apart_groups_of_stage_.resize(static_cast<std::size_t>(stages()));
  if (!placement_.holds_apart() || placement_.apart_sharers() == 1) return;
  Known known;
  for (auto rank : folding_.ranks()) {
    const auto stage = static_cast<int>(placement_.at(rank).pipeline);
    if (placement_.expert_at(rank).data != 0 || placement_.lead_of(stage) != stage ||
        !holds_apart(stage))
      continue;
    auto actors = new_group(folding_.apart_sharers(rank), known);
    if (actors.empty()) continue;
    apart_groups_of_stage_[static_cast<std::size_t>(stage)].push_back(
        {.stage = stage,
         .actors = std::move(actors),
         .rank = rank,
         .shape = folding_.data_shape(FlowKind::expert_ring, rank),
         .ring = FlowKind::expert_ring});
  }
}

bool Lowering::holds_apart(int stage) const { return parameters_of(stage).apart > 0; }

bool Lowering::shares_parameters(int stage) const {
  const auto at = static_cast<std::size_t>(stage);
  return !groups_of_stage_[at].empty() || !apart_groups_of_stage_[at].empty();
}

bool Lowering::divides_parameters(int stage) const {
  const auto at = static_cast<std::size_t>(stage);
  return !apart_groups_of_stage_[at].empty() ||
         std::ranges::any_of(groups_of_stage_[at],
                             [&](const Group& group) { return traffic_.shards_of(group) > 1; });
}

void Lowering::data_collective(int stage, const Parameters& parameters, bool gathers,
                               LabelKind label, const std::vector<sim::EventId>& after) {
  const auto at = static_cast<std::size_t>(stage);
  data_collective(groups_of_stage_[at], parameters.of(Held::with_layer), gathers, label, after);
  if (parameters.apart > 0)
    data_collective(apart_groups_of_stage_[at], parameters.of(Held::apart), gathers, label, after);
}

sim::Picoseconds Lowering::data_time(int stage, const Parameters& parameters, bool gathers) const {
  const auto at = static_cast<std::size_t>(stage);
  const auto time = [&](const std::vector<Group>& groups, const Shared& what) {
    if (groups.empty()) return sim::Picoseconds{0};
    const auto& group = groups.front();
    return to_ticks(
        (gathers ? traffic_.gathering(group, what) : traffic_.reduction(group, what)).time());
  };
  auto sum = time(groups_of_stage_[at], parameters.of(Held::with_layer));
  if (parameters.apart > 0) sum += time(apart_groups_of_stage_[at], parameters.of(Held::apart));
  return sum;
}

}  // namespace strategies

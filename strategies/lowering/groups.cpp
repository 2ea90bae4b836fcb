// SPDX-License-Identifier: Apache-2.0
#include "strategies/lowering/groups.hpp"

#include <set>
#include <utility>

namespace strategies {

namespace {

// Groups of one kind, while they are found.
class GroupFinder {
 public:
  GroupFinder(Cast& cast, FlowKind kind)
      : folding_(cast.folding), groups_(cast.groups[static_cast<std::size_t>(kind)]) {}

  // The actors of these ranks, ascending; none if a group of them was asked for before.
  std::vector<std::uint32_t> new_group(const std::vector<std::int64_t>& ranks) {
    std::set<std::uint32_t> actors;
    for (auto rank : ranks) actors.insert(folding_.actor_of(rank));
    std::vector<std::uint32_t> group(actors.begin(), actors.end());
    if (!known_.insert(group).second) group.clear();
    return group;
  }
  void add(std::int64_t stage, Group group) {
    groups_[static_cast<std::size_t>(stage)].push_back(std::move(group));
  }

 private:
  const Folding& folding_;
  std::vector<std::vector<Group>>& groups_;  // by stage
  std::set<std::vector<std::uint32_t>> known_;
};

// The ranks looked at that hold the same parameters as a rank of the first replica.
std::vector<std::int64_t> ranks_like(const Cast& cast, Coordinates where) {
  const auto& placement = cast.placement;
  const auto lead = where.pipeline;
  std::vector<std::int64_t> sharers;
  for (std::int64_t copy = 0; copy < placement.copies(); ++copy) {
    where.pipeline = copy == 0 ? lead : placement.pipeline() - 1 - lead;
    for (auto replica : cast.folding.replicas())
      for (where.context = 0; where.context < placement.context(); ++where.context) {
        where.data = replica;
        sharers.push_back(placement.rank_of(where));
      }
  }
  return sharers;
}

}  // namespace

void add_context_groups(Cast& cast) {
  const auto& placement = cast.placement;
  if (placement.context() == 1) return;
  GroupFinder finder(cast, FlowKind::context);
  for (auto rank : cast.folding.ranks()) {
    const auto where = placement.at(rank);
    if (where.context != 0) continue;
    const auto group = context_group(placement, rank);
    auto actors = finder.new_group(group);
    if (actors.empty()) continue;
    finder.add(placement.lead_of(where.pipeline), {static_cast<int>(where.pipeline),
                                                   std::move(actors),
                                                   rank,
                                                   topology::shape_of(group, cast.job.cluster),
                                                   {cast.writer_of[cast.folding.actor_of(rank)]}});
  }
}

void add_expert_groups(Cast& cast) {
  const auto& placement = cast.placement;
  if (!placement.exchanges_tokens()) return;
  GroupFinder finder(cast, FlowKind::expert);
  for (auto rank : cast.folding.ranks()) {
    const auto place = placement.expert_at(rank);
    if ((placement.expert() > 1 ? place.expert : place.tensor) != 0) continue;
    const auto group = token_group(placement, rank);
    const auto stage = placement.at(rank).pipeline;
    auto actors = finder.new_group(group);
    if (actors.empty()) continue;
    std::set<std::size_t> writers;
    for (auto actor : actors) writers.insert(cast.writer_of[actor]);
    finder.add(placement.lead_of(stage), {static_cast<int>(stage),
                                          std::move(actors),
                                          rank,
                                          topology::shape_of(group, cast.job.cluster),
                                          {writers.begin(), writers.end()}});
  }
}

void add_sharers(Cast& cast) {
  const auto& placement = cast.placement;
  if (placement.sharers() == 1) return;
  GroupFinder finder(cast, FlowKind::ring);
  for (auto rank : cast.folding.ranks()) {
    const auto where = placement.at(rank);
    const auto lead = where.pipeline;
    if (where.data != 0 || where.context != 0 || placement.lead_of(lead) != lead) continue;
    auto actors = finder.new_group(ranks_like(cast, where));
    if (actors.empty()) continue;
    finder.add(lead, {static_cast<int>(lead), std::move(actors), rank,
                      cast.folding.data_shape(FlowKind::ring, rank)});
  }
}

void add_apart_sharers(Cast& cast) {
  const auto& placement = cast.placement;
  if (!placement.holds_apart() || placement.apart_sharers() == 1) return;
  GroupFinder finder(cast, FlowKind::expert_ring);
  for (auto rank : cast.folding.ranks()) {
    const auto stage = placement.at(rank).pipeline;
    if (placement.expert_at(rank).data != 0 || placement.lead_of(stage) != stage ||
        parameters_of(cast, static_cast<int>(stage)).apart <= 0)
      continue;
    auto actors = finder.new_group(cast.folding.apart_sharers(rank));
    if (actors.empty()) continue;
    finder.add(stage, {.stage = static_cast<int>(stage),
                       .actors = std::move(actors),
                       .rank = rank,
                       .shape = cast.folding.data_shape(FlowKind::expert_ring, rank),
                       .ring = FlowKind::expert_ring});
  }
}

}  // namespace strategies

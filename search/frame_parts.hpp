// SPDX-License-Identifier: Apache-2.0
// Private to the room: what the parts of a frame share.
#pragma once
#include <algorithm>
#include <cstdint>

#include "forecast/scenario.hpp"
#include "plans/placement.hpp"
#include "plans/schedule_layout.hpp"
#include "strategies/lower.hpp"

namespace search {

// Gradients of inputs and weights apart.
inline bool runs_graded(strategies::ScheduleKind schedule) {
  using enum strategies::ScheduleKind;
  switch (schedule) {
    case gpipe:
    case one_f_one_b:
    case interleaved:
      return false;
    default:
      return true;
  }
}

// Of what a device holds, for its states.
inline strategies::ActorFacts facts_of(const strategies::Parameters& held, double cast,
                                       const strategies::Placement& placement, int shards,
                                       const strategies::Plan& plan) {
  strategies::ActorFacts facts;
  facts.parameters = held.all();
  facts.expert_parameters = held.experts;
  facts.cast = cast;
  facts.expert_shards = plan.zero >= 1 && placement.experts_apart()
                            ? static_cast<int>(placement.expert_sharers())
                            : shards;
  return facts;
}

// Over how many ranks ZeRO divides what is not experts.
inline int shards_of(const forecast::Scenario& scenario, const strategies::Plan& plan,
                     const strategies::Placement& placement) {
  if (plan.zero == 0) return 1;
  const auto all = placement.sharers();
  if (plan.shard_group == strategies::ShardGroup::all) return static_cast<int>(all);
  return static_cast<int>(std::min<std::int64_t>(all, scenario.cluster.node.gpus));
}

inline strategies::Layout layout_of(const strategies::Plan& plan) {
  return strategies::layout_of(plan.schedule, static_cast<int>(plan.pipeline),
                               static_cast<int>(plan.virtual_stages));
}

// Groups of more than one rank that some rank belongs to.
inline int communicators(const strategies::Placement& placement) {
  return (placement.tensor() > 1) + (placement.context() > 1) + (placement.sharers() > 1) +
         (placement.pipeline() > 1) + (placement.ranks() > 1) + (placement.expert() > 1);
}

}  // namespace search

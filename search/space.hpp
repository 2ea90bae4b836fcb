// SPDX-License-Identifier: Apache-2.0
// The plans that a search chooses from.
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "forecast/scenario.hpp"

namespace search {

// Values that a key of the plan may take: those that are listed, or all where none is, within
// bounds.
struct Values {
  std::vector<std::int64_t> listed;
  std::int64_t least = 0, most = std::numeric_limits<std::int64_t>::max();
  bool allow(std::int64_t value) const;
  friend bool operator==(const Values&, const Values&) = default;
};

struct Space {
  Values tensor, context, expert, expert_tensor, pipeline, virtual_stages, data, zero, micro_batch;
  std::optional<bool> sequence_parallel;            // absent: both
  std::vector<strategies::ScheduleKind> schedules;  // none: all
  // Recomputation chosen by dynamic programming, layer by layer, and the partition into stages;
  // otherwise as the scenario's plan has them.
  bool recompute = true, partition = true;
  friend bool operator==(const Space&, const Space&) = default;
};

// What a plan has but for the partition and what is recomputed: the degrees that decide what a
// layer costs, and those that decide how layers make a step.
//
// Calls `visit` with every plan of the space whose degrees fit the model, the cluster and the
// batch, once each, in ascending order of tensor, sequence_parallel, context, expert,
// expert_tensor, micro_batch, pipeline, zero, schedule, virtual_stages. Everything else is as in
// the scenario's plan. Plans that cannot differ are left out but for one: sequence parallelism and
// tensor 1, sharding with one replica, another schedule than 1f1b with pipeline 1.
void for_each_plan(const forecast::Scenario& scenario, const Space& space,
                   const std::function<void(const strategies::Plan&)>& visit);

}  // namespace search

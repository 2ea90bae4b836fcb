// SPDX-License-Identifier: Apache-2.0
// The plans that a search chooses from.
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "forecast/scenario.hpp"
#include "plans/schedules/refusal.hpp"

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
  // The tensor degree of layers that may be regrouped, each layer or not (Plan::layer_tensor);
  // empty if no layer is.
  Values layer_tensor{.listed = {}, .least = 1, .most = 0};
  std::optional<bool> sequence_parallel;            // absent: both
  std::vector<strategies::ScheduleKind> schedules;  // none: all
  // Whether recomputation is chosen by dynamic programming, layer by layer, and the partition into
  // stages; otherwise they are those of the scenario's plan.
  bool recompute = true, partition = true;
  // Whether interleaved pipelines also have partitions whose chunks differ by a layer, in any
  // order.
  bool chunks = false;
  std::vector<strategies::Recompute> recompute_ways;  // of a layer, none full_layers; none: all
  // Ways beside all of these that are no sets of modules (torchtitan's; rows of layers).
  std::vector<strategies::Recompute> further_ways;
  // false: no replica has more microbatches in a step than its pipeline has ranks.
  bool accumulate = true;
  friend bool operator==(const Space&, const Space&) = default;
};

// Calls `visit` with every choice of the degrees that decide what a layer costs: tensor,
// sequence_parallel, context, expert, expert_tensor, micro_batch and layer_tensor, in this order,
// ascending. Everything else is as in the scenario's plan.
void for_each_division(const forecast::Scenario& scenario, const Space& space,
                       const std::function<void(const strategies::Plan&)>& visit);

// Visits the degrees that decide how layers make a step, for one division, in ascending order of
// pipeline, zero, schedule, virtual_stages. Plans that cannot differ are left out but for one:
// sequence parallelism and tensor 1, sharding where one rank holds each parameter, more chunks than
// the fewest with pipeline 1, interleaved with one chunk where 1f1b is. With pipeline 1 1f1b stands
// for all schedules, although passes in pairs or in two parts hide communication otherwise. Left
// out, too, are plans that cannot be, shards within nodes, more on some than on others, and plans
// that are not simulated because they have too many passes (plans/schedules/limits.hpp).
void for_each_step(const forecast::Scenario& scenario, const Space& space,
                   const strategies::Plan& division,
                   const std::function<void(const strategies::Plan&)>& visit);

// Inside of such a choice of degrees the space holds:
//   partitions  gpipe and 1f1b: any that leaves no stage without the embedding, a layer or the
//               head; interleaved: the even one (plans/partition.hpp), uneven ones of
//               frameworks (cuts.hpp), and, if `chunks`, those whose chunks differ by a layer at
//               most; other schedules: the even one
//   recompute   each layer in one of the ways. Layers of a stage that are alike are
//               interchangeable, unless rows of them run again together. Where no tensor is
//               copied or compressed and no layer regrouped, a plan that recomputes less is never
//               slower: plans that recompute although the same plan fits without are left out.
//
// Visits by divisions, then steps, every plan of the space whose degrees fit the model, the cluster
// and the batch, once each. A plan here is all but the partition into stages and the recomputation.
void for_each_plan(const forecast::Scenario& scenario, const Space& space,
                   const std::function<void(const strategies::Plan&)>& visit);

// Returns whether for_each_plan visits any plan.
bool any_plan_in(const forecast::Scenario& scenario, const Space& space);

// Returns why the first plan that for_each_plan leaves out only for its number of passes is not
// simulated; nothing if there is none.
std::optional<strategies::Refusal> too_large_in(const forecast::Scenario& scenario,
                                                const Space& space);

}  // namespace search

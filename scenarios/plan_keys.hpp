// SPDX-License-Identifier: Apache-2.0
// Keys of a plan that take a word, a list or a mapping.
#pragma once
#include "plans/plan.hpp"
#include "scenarios/keys.hpp"

namespace scenarios {

// The form of ways in which a layer may run: one, or a list. `optimal` stands for all of Megatron's
// ways, and so does an empty list; per-op may be asked for in addition.
Form recompute_ways_form();
struct RecomputeWays {
  std::vector<strategies::Recompute> listed;
  std::vector<strategies::Recompute> further;  // if none are listed: in addition to all modules
};
RecomputeWays read_recompute_ways(const Cursor& at);

Key<strategies::Plan> recompute_key();
Key<strategies::Plan> layers_key();
Key<strategies::Plan> offload_key();
Key<strategies::Plan> shard_group_key();
Key<strategies::Plan> wrap_key();
Key<strategies::Plan> bucket_key();
Key<strategies::Plan> rank_order_key();
Key<strategies::Plan> layers_per_stage_key();

}  // namespace scenarios

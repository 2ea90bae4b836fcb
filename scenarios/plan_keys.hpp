// SPDX-License-Identifier: Apache-2.0
// Keys of a plan that take a word, a list or a mapping.
#pragma once
#include "plans/plan.hpp"
#include "scenarios/keys.hpp"

namespace scenarios {

// Ways in which a layer may run: one, or a list. `optimal` stands for all of Megatron's, and so
// does no way; per-op may be asked for besides.
Form recompute_ways_form();
struct RecomputeWays {
  std::vector<strategies::Recompute> listed;
  std::vector<strategies::Recompute> further;  // with none listed, beside all that are modules
};
RecomputeWays read_recompute_ways(const Cursor& at);

Key<strategies::Plan> recompute_key();
Key<strategies::Plan> layers_key();
Key<strategies::Plan> offload_key();
Key<strategies::Plan> wrap_key();
Key<strategies::Plan> bucket_key();
Key<strategies::Plan> rank_order_key();
Key<strategies::Plan> layers_per_stage_key();

}  // namespace scenarios

// SPDX-License-Identifier: Apache-2.0
// Keys of a plan that take a word, a list or a mapping.
#pragma once
#include "scenarios/keys.hpp"
#include "strategies/plan.hpp"

namespace scenarios {

// The parts of a layer that can be recomputed or offloaded alone.
const std::vector<Named<strategies::Module>>& modules();

Key<strategies::Plan> recompute_key();
Key<strategies::Plan> layers_key();
Key<strategies::Plan> offload_key();
Key<strategies::Plan> wrap_key();
Key<strategies::Plan> bucket_key();
Key<strategies::Plan> rank_order_key();
Key<strategies::Plan> layers_per_stage_key();

}  // namespace scenarios

// SPDX-License-Identifier: Apache-2.0
// The virtual stage of every layer.
#pragma once
#include <cstdint>
#include <vector>

#include "plans/plan.hpp"

namespace strategies {

// Layers per virtual stage, in model order. Given: plan.layers_per_stage. Even: as even as
// possible; the last gives up the first missing layer, then the first, then inwards in turn (the
// last carries the LM head, the first the embedding).
// Throws std::invalid_argument if the given list has the wrong length or sum.
std::vector<std::int64_t> layers_per_virtual_stage(const Plan& plan, std::int64_t layers);

}  // namespace strategies

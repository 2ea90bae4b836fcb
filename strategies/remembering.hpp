// SPDX-License-Identifier: Apache-2.0
// Costs that are asked for once.
#pragma once
#include "strategies/costs.hpp"

namespace strategies {

// Returns the same costs, which remember what they were asked before, kernels and collectives by
// all that they are. For one thread at a time; `costs` must outlive it.
Costs remembering(const Costs& costs);

}  // namespace strategies

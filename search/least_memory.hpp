// SPDX-License-Identifier: Apache-2.0
// What plans of these degrees hold on a device, at least. All in bytes.
#pragma once
#include "plans/memory.hpp"
#include "search/plan_bounds.hpp"

namespace search {

// What the smallest device has for tensors. `headroom`: share of memory that stays free; where it
// is not 0, what the allocator reserves beside the tensors must not take it.
double room_for_tensors(const PlanFacts& facts, double headroom);
// Weights, gradients and optimizer states of an average device.
double average_states(const PlanFacts& facts);
// Whether these fit: if not, nothing does, whatever is recomputed.
bool states_fit(const PlanFacts& facts, double headroom);
// The states of so many parameters, whatever else there is.
strategies::StaticMemory states_of(const PlanFacts& facts, const strategies::Parameters& held,
                                   double cast);
// What ZeRO leaves whole at some time, on every device.
double whole_units(const PlanFacts& facts);
// What about as many microbatches as there are stages keep, nothing recomputed, with the states.
double rough_memory(const PlanFacts& facts);

}  // namespace search

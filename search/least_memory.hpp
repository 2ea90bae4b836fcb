// SPDX-License-Identifier: Apache-2.0
// Lower bounds on the memory that plans of these degrees hold on a device, bytes.
#pragma once
#include "plans/memory.hpp"
#include "search/plan_bounds.hpp"

namespace search {

// The memory that the smallest device has for tensors. `headroom` is the share of memory that stays
// free; if it is not 0, the allocator's reserve beside the tensors must not take it.
double room_for_tensors(const PlanFacts& facts, double headroom);
// Weights, gradients and optimizer states of an average device, all of which are there when the
// optimizer begins.
double average_states(const PlanFacts& facts);
// Whether the states fit. If they do not, no plan of these degrees fits, whatever it recomputes.
bool states_fit(const PlanFacts& facts, double headroom);
// The states of `held` parameters, whatever else there is.
strategies::StaticMemory states_of(const PlanFacts& facts, const strategies::Parameters& held,
                                   double cast);
// The memory that ZeRO leaves whole at some time, on every device.
double whole_units(const PlanFacts& facts);
// A rough estimate: the states, and the activations of as many microbatches as there are stages,
// nothing recomputed.
double rough_memory(const PlanFacts& facts);

}  // namespace search

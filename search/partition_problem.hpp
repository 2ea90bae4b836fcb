// SPDX-License-Identifier: Apache-2.0
// The choice of stages and recomputation for layers, as a problem of bytes and picoseconds.
#pragma once
#include "plans/schedules/known_orders.hpp"
#include "search/plan_bounds.hpp"

namespace search {

// A problem whose bounds bound the step: nothing in it takes longer than in the simulation, and no
// memory is counted that could be left out, so that every plan that fits is found. `headroom`:
// share of memory that stays free. `orders` has orders that were found before and remembers new
// ones; null: none.
PipelineProblem pipeline_problem(const PlanBounds& bounds, const strategies::Costs& costs,
                                 double headroom, strategies::KnownOrders* orders = nullptr);

}  // namespace search

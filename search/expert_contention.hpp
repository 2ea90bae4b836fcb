// SPDX-License-Identifier: Apache-2.0
// A lower bound on the time that exchanges of experts take longer because messages and gradients
// share their links.
#pragma once
#include "search/plan_bounds.hpp"
#include "strategies/least_costs.hpp"

namespace search {

// Adds it to the layers of the plan's problem (pipeline_problem), and to its lane.
void add_expert_contention(PipelineProblem& problem, const PlanBounds& bounds,
                           const strategies::Costs& costs);

}  // namespace search

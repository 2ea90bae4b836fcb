// SPDX-License-Identifier: Apache-2.0
// The number of microbatches that a stage holds at once, by the order of its passes.
#pragma once
#include <vector>

#include "plans/schedules/order.hpp"

namespace strategies {

// The most activations that a stage holds at once, in full-stage units: a forward adds 1/parts, the
// end of the backward (or weight) pass removes it. `parts`: chunks that make one full stage.
double peak_in_flight(const std::vector<Slot>& slots, int parts);

// Pareto-maximal vectors (live microbatches per chunk) of what a stage holds at once.
std::vector<std::vector<int>> in_flight_vectors(const std::vector<Slot>& slots, int chunks);
// The same vectors for the least that a stage holds: passes of a pair take turns layer by layer,
// one fills while the other frees, and a pair counts when both are done.
std::vector<std::vector<int>> least_in_flight_vectors(const std::vector<Slot>& slots, int chunks);

}  // namespace strategies

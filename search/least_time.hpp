// SPDX-License-Identifier: Apache-2.0
// What no plan of these degrees can be faster than.
#pragma once
#include <optional>

#include "search/plan_bounds.hpp"
#include "strategies/pass_costs.hpp"

namespace search {

// No plan of these degrees takes less, wherever its layers sit and whatever they recompute, as if
// replicas exchanged nothing: the work of an average device, and the first microbatch's way to the
// last stage and back. O(layers)
sim::Picoseconds least_time_of_passes(const PlanFacts& facts);
// No device takes less for each layer that all of its chunks have: picoseconds of a step.
double least_time_of_chunks(const PlanFacts& facts);

// As least_time_of_passes, with what replicas exchange and what follows the last gradient.
sim::Picoseconds least_time(const PlanBounds& bounds);
// The same of a plan whose layers are cut as cut_of says: by heads and tails of what each device
// does, in whatever order. O(virtual stages · parts of a device³)
sim::Picoseconds least_time_as_cut(const PlanBounds& bounds);
// The same of what fits the memory of `problem` (pipeline_problem, in all ways); none: nothing.
std::optional<sim::Picoseconds> least_time_as_cut(const PlanBounds& bounds,
                                                  const PipelineProblem& problem);
// The same of DualPipe, slot by slot, where nothing is recomputed: pairs of passes wait for
// what they exchange. `chain`: the model's blocks. O(slots)
sim::Picoseconds least_time_of_pairs(const PlanBounds& bounds,
                                     const strategies::PassCosts::Segment& chain,
                                     strategies::PassCosts& times);

// How long it takes with layers cut as cut_of says, recomputation and interference counted
// roughly: a guess, no bound. `headroom`: share of memory that stays free. None: it does not seem
// to fit.
std::optional<sim::Picoseconds> guessed_time(const PlanBounds& bounds, double headroom);

}  // namespace search

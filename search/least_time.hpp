// SPDX-License-Identifier: Apache-2.0
// Lower bounds on the step time of all plans of these degrees.
#pragma once
#include <optional>

#include "search/plan_bounds.hpp"
#include "strategies/pass_costs.hpp"

namespace search {

// A lower bound on the step time, wherever layers sit and whatever they recompute, as if replicas
// exchanged nothing: the work of an average device, and the first microbatch's way to the last
// stage and back. O(layers)
sim::Picoseconds least_time_of_passes(const PlanFacts& facts);
// A lower bound on the time that a device takes in a step for each layer that all of its chunks
// have: picoseconds.
double least_time_of_chunks(const PlanFacts& facts);

// The bound of least_time_of_passes, with the exchanges of replicas and the work after the last
// gradient.
sim::Picoseconds least_time(const PlanBounds& bounds);
// The bound of least_time for a plan whose layers are cut as cut_of says: by heads and tails of
// each device's work, in whatever order. O(virtual stages · parts of a device³)
sim::Picoseconds least_time_as_cut(const PlanBounds& bounds);
// The same for plans that fit the memory of `problem` (pipeline_problem, in all ways); nothing if
// none does. Where orders are searched for, the microbatches in flight are not known, but the less
// time a step takes, the more there are on average: a bound below `target` holds of all plans, and
// one of `target` says that none is faster.
std::optional<sim::Picoseconds> least_time_as_cut(const PlanBounds& bounds,
                                                  const PipelineProblem& problem,
                                                  sim::Picoseconds target);
// The same for DualPipe, slot by slot, where nothing is recomputed: pairs of passes wait for their
// exchanges. `chain`: the model's blocks. O(slots)
sim::Picoseconds least_time_of_pairs(const PlanBounds& bounds, const strategies::Segment& chain,
                                     strategies::PassCosts& times);

// A guess of the step time, no bound: layers are cut as cut_of says, recomputation and interference
// count roughly. `headroom` is the share of memory that stays free. Nothing if the plan does not
// seem to fit.
std::optional<sim::Picoseconds> guessed_time(const PlanBounds& bounds, double headroom);

}  // namespace search

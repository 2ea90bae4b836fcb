// SPDX-License-Identifier: Apache-2.0
// The partition of layers into virtual stages, and the option of each layer, that make the fastest
// step that fits.
//
// The passes of a schedule run in a fixed order, so the step is the longest of very many paths,
// each a sum of stage times. The search knows a few of them: their maximum is a bound that grows
// with every layer placed, so partial partitions can be compared and pruned (labels). A partition
// that it finds is timed with the real order; if that takes longer, its critical path joins the
// known ones, until nothing beats the best found.
#pragma once
#include <limits>
#include <optional>
#include <vector>

#include "search/solvers/pipeline_problem.hpp"

namespace search {

// Limits of the work, in numbers that are the same on every machine.
struct PartitionLimits {
  int rounds = 1000;                     // critical paths learnt one after the other
  std::size_t comparisons = 50'000'000;  // of labels, in all rounds
  std::size_t passes = 20'000'000;       // timed while moving layers about
  // The time that a partition must beat: a bound that reaches it ends the search.
  Picoseconds target = std::numeric_limits<Picoseconds>::max();
};

struct PartitionResult {
  std::optional<Partition> best;  // none: nothing fits, if `proved`
  // A lower bound on the time of all partitions. Equal to the makespan if `proved`.
  Picoseconds lower_bound = 0;
  bool proved = false;
  int rounds = 0;
  std::size_t labels = 0;  // made in all rounds
};

// The fastest partition that fits, where it is found within the limits; else the fastest that was
// found, and a lower bound of all. Throws std::invalid_argument if there is no capacity for some
// device, or the order cannot run.
PartitionResult partition(const PipelineProblem& problem, const PartitionLimits& limits = {});

// The same with frontiers that are made once for problems of the same chain: other schedules,
// stages, microbatches and capacities. `frontiers` are of problem.chain.
PartitionResult partition(const PipelineProblem& problem, IntervalFrontiers& frontiers,
                          const PartitionLimits& limits = {});

// The layers cut where `first_layer` says (as in Partition), each virtual stage in ways that fit:
// the fastest, then, while a device is too full, those that cost least time for a byte. Nothing if
// no such ways were found. O(virtual stages · points of a frontier · passes)
std::optional<Partition> in_ways_that_fit(const PipelineProblem& problem,
                                          IntervalFrontiers& frontiers, const Timetable& timetable,
                                          const std::vector<int>& first_layer);

}  // namespace search

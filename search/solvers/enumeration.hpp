// SPDX-License-Identifier: Apache-2.0
// Every partition of a small pipeline, and every way to run its layers.
#pragma once
#include <optional>
#include <vector>

#include "search/solvers/pipeline_problem.hpp"

namespace search {

// All that fit, by cut; `makespan` is that of the problem's order. Layers of one virtual stage that
// are alike are interchangeable, unless neighbours matter: those that keep least come first. None
// if there are more than `most`, fitting or not. Exponential.
std::optional<std::vector<Partition>> every_partition(const PipelineProblem& problem,
                                                      const Timetable& timetable, std::size_t most);

// Writes the times of a partition whose cut and choices stand: of its virtual stages, and of all in
// the problem's order. `frontiers` are of problem.chain.
void write_times(const PipelineProblem& problem, IntervalFrontiers& frontiers,
                 const Timetable& timetable, Partition& partition);

// Bytes by which the fullest device exceeds its capacity; negative: what stays free.
ByteCount excess(const PipelineProblem& problem, const Partition& partition);

// Within every virtual stage, of layers that are alike those that keep least first.
void sort_choices(const PipelineProblem& problem, Partition& partition);

}  // namespace search

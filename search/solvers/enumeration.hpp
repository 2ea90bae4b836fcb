// SPDX-License-Identifier: Apache-2.0
// Every partition of a small pipeline, and every way to run its layers.
#pragma once
#include <optional>
#include <vector>

#include "search/solvers/pipeline_problem.hpp"

namespace search {

// All partitions that fit, by cut; `makespan` is that of the problem's order. Layers of one virtual
// stage that are alike are interchangeable, unless neighbours matter: those that keep least come
// first. Nothing if there are more than `most`, fitting or not. Exponential.
std::optional<std::vector<Partition>> every_partition(const PipelineProblem& problem,
                                                      const Timetable& timetable, std::size_t most);

// Writes the times of a partition whose cut and choices stand: those of its virtual stages, and of
// all in the problem's order. `frontiers` are of problem.chain.
void write_times(const PipelineProblem& problem, IntervalFrontiers& frontiers,
                 const Timetable& timetable, Partition& partition);

// The bytes by which the fullest device exceeds its capacity; negative: bytes that stay free.
ByteCount excess(const PipelineProblem& problem, const Partition& partition);

// Sorts the choices of alike layers within every virtual stage: those that keep least come first.
void sort_choices(const PipelineProblem& problem, Partition& partition);

}  // namespace search

// SPDX-License-Identifier: Apache-2.0
// A pipeline with given pass times, for studying schedules alone.
#pragma once
#include <cstddef>
#include <vector>

#include "plans/schedules/schedule.hpp"
#include "plans/schedules/walk.hpp"
#include "sim/engine.hpp"
#include "sim/program.hpp"

namespace strategies {

// Pass times of one full stage and one microbatch; a chunk takes its share of it. `slow[stage]`
// multiplies them (empty: 1). Times are ticks: whole numbers.
struct PassTimes {
  sim::Picoseconds forward, backward, weight, latency;
};

struct PipelineRun {
  struct Operation {
    int stage;
    Slot slot;
    sim::Picoseconds start, end;
    sim::EventId event;  // of the program; a pair is one
  };
  std::vector<Operation> operations;  // by stage, then in order
  sim::Program program;               // an actor for each stage
  sim::Trace trace;
};

// Times of a chunk's passes on every stage, as OrderInput::times has them.
std::vector<ChunkTimes> chunk_times(const Layout& layout, const PassTimes& times,
                                    const std::vector<double>& slow = {});

// Plays a schedule on devices of their own: passes cost `times`, edges between devices `latency`.
// `backward` covers both gradients where the schedule runs them as one pass: input + weight. A pair
// is one pass of forward + backward + weight, and its two operations start and end together.
PipelineRun run_pipeline(const Order& order, const Layout& layout, int microbatches,
                         const PassTimes& times, const std::vector<double>& slow = {});

// The figures of a run, in ticks.
struct PipelineFigures {
  sim::Picoseconds makespan = 0;         // from the first start to the last end
  sim::Picoseconds span = 0;             // the longest from a stage's first start to its last end
  std::vector<sim::Picoseconds> work;    // by stage: its passes, a pair counted once
  double bubble_fraction = 0;            // of the makespan in which the mean stage is idle
  double bubble_fraction_max_stage = 0;  // the same of the stage with most work
};
// O(operations)
PipelineFigures figures_of(const PipelineRun& run, std::size_t stages);

}  // namespace strategies

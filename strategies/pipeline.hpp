// SPDX-License-Identifier: Apache-2.0
// A pipeline with given pass times, for studying schedules alone.
#pragma once
#include <vector>

#include "plans/schedule.hpp"
#include "plans/walk.hpp"
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

// Times of a chunk's passes on every stage: what an OrderInput asks for.
std::vector<ChunkTimes> chunk_times(const Layout& layout, const PassTimes& times,
                                    const std::vector<double>& slow = {});

// Plays a schedule on devices of their own: passes cost `times`, edges between devices `latency`.
// `backward` covers both gradients where the schedule runs them as one pass: input + weight. A pair
// is one pass of forward + backward + weight, and its two operations start and end together.
PipelineRun run_pipeline(const Order& order, const Layout& layout, int microbatches,
                         const PassTimes& times, const std::vector<double>& slow = {});

}  // namespace strategies

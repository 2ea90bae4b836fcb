// SPDX-License-Identifier: Apache-2.0
// A pipeline with given pass times, for studying schedules alone.
#pragma once
#include <vector>

#include "sim/program.hpp"
#include "strategies/schedule.hpp"

namespace strategies {

// Virtual stage v of `stages`·chunks sits on stage v mod stages, as chunk v / stages.
struct ChunkPlace {
  int stage, chunk;
};
inline ChunkPlace place_of(int virtual_stage, int stages) {
  return {virtual_stage % stages, virtual_stage / stages};
}
inline int virtual_stage_of(int stage, int chunk, int stages) { return chunk * stages + stage; }

// Visits every slot of every stage once, each stage in its own order, a slot only after what it
// depends on: a forward after the forward of the virtual stage before; a backward after the
// backward of the virtual stage behind, and the last one's after its own forward. Stages take
// turns, lowest first, so the visiting order is deterministic. Calls visit(stage, slot).
// Throws std::invalid_argument if the orders wait for each other for ever. O(slots).
template <class Visit>
void walk(const Order& order, int chunks, int microbatches, Visit visit);

// Pass times of one full stage and one microbatch; a chunk takes 1/chunks of it. `slow[stage]`
// multiplies them (empty: 1). Times are ticks: whole numbers.
struct PassTimes {
  sim::Picoseconds forward, backward, weight, latency;
};

struct PipelineRun {
  struct Operation {
    int stage;
    Slot slot;
    sim::Picoseconds start, end;
  };
  std::vector<Operation> operations;  // by stage, then in order
};

// Plays a schedule on devices of their own: passes cost `times`, edges between devices `latency`.
// `backward` covers both gradients where the schedule runs them as one pass: input + weight.
PipelineRun run_pipeline(const Order& order, int chunks, int microbatches, const PassTimes& times,
                         const std::vector<double>& slow = {});

}  // namespace strategies

#include "strategies/walk.hpp"

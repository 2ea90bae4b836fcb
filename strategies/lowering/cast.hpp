// SPDX-License-Identifier: Apache-2.0
// The cast of a step: its actors, who of them run passes together and who communicate.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "plans/duties.hpp"
#include "plans/holdings.hpp"
#include "plans/placement.hpp"
#include "plans/schedules/schedule.hpp"
#include "strategies/data_traffic.hpp"
#include "strategies/folding.hpp"
#include "strategies/job.hpp"
#include "strategies/lowered.hpp"
#include "strategies/passes.hpp"

namespace strategies {

// Actors that run passes together: one tensor-parallel group (or one class of them).
struct Cell {
  int stage = 0;
  std::vector<std::uint32_t> actors;
  std::vector<std::int64_t> ranks;            // one of each actor
  std::vector<std::uint32_t> previous, next;  // pipeline neighbour of each actor, wrapping around
  std::vector<std::size_t> writers;           // of each actor; one for all where devices are alike
};

// Actors that communicate together: one data-, tensor-, context- or expert-parallel group (or one
// class of them).
struct Group {
  int stage = 0;
  std::vector<std::uint32_t> actors;
  std::int64_t rank = 0;  // one of its members
  topology::GroupShape shape;
  std::vector<std::size_t> writers;  // of members, in a group that divides layers
  FlowKind ring = FlowKind::ring;    // of a group that shares parameters
  operator Sharers() const { return {shape, ring}; }
};

// The microbatches of one data-parallel replica, and those of them that the program has.
struct Microbatches {
  std::int64_t all = 0, written = 0;
};

// cast_of (casting.hpp) makes it; then it is constant, but for the number of microbatches written.
// The two stages of a mirrored pair (DualPipe) run the same passes of the same virtual stages in
// step: cells and groups of both stand at the lower one, its lead.
struct Cast {
  // The job and what follows from its plan; without cells, groups and actors.
  Cast(const Job& of, const Costs& asked, Ranks ranks);

  Job job;
  const Costs& costs;
  DataDuties duties;  // of stages whose parameters others hold too
  Layout layout;
  Placement placement;
  Folding folding;
  std::vector<Segment> blocks;  // by virtual stage
  Microbatches microbatches;
  std::vector<std::shared_ptr<const PassWriter>> writers;
  std::vector<std::size_t> writer_of;    // by actor: index of its writer
  std::vector<std::vector<Cell>> cells;  // by stage
  // Groups by kind and stage. `ring`: actors that hold the same parameters; `expert_ring`: actors
  // that hold the same of the parameters held apart; `tensor`, `context`, `expert`: actors that
  // exchange inside layers.
  std::array<std::vector<std::vector<Group>>, flow_kinds> groups;
  Shards shards;
  std::vector<ActorFacts> actors;
  std::vector<InsideLinks> inside;  // as Lowered::inside

  int stages() const { return layout.stages; }
  int chunks() const { return layout.chunks; }
  const std::vector<Cell>& cells_at(int stage) const {
    return cells[static_cast<std::size_t>(stage)];
  }
  const std::vector<Group>& groups_at(FlowKind kind, int stage) const {
    return groups[static_cast<std::size_t>(kind)][static_cast<std::size_t>(stage)];
  }
  const Segment& blocks_at(int stage, int chunk) const {
    return blocks[static_cast<std::size_t>(virtual_stage_of(stage, chunk, layout))];
  }
  const Segment& blocks_in(int stage, const Slot& slot) const {
    return blocks_at(stage, slot.chunk);
  }
  DataTraffic traffic() const { return {job, costs, shards}; }
};

// Calls visit(actor) for every actor of a stage's cells.
template <class Visit>
void for_each_actor(const Cast& cast, int stage, Visit visit) {
  for (const auto& cell : cast.cells_at(stage))
    for (auto actor : cell.actors) visit(actor);
}

// Returns the GPU of a rank as kernels see it.
Gpu gpu_of(const Job& job, std::int64_t rank);

// Returns a slot of the lower stage of a mirrored pair as `stage` runs it.
Slot run_by(const Cast& cast, int stage, const Slot& slot);

// Returns the number of the embedding's parameters that a rank holds.
double embedding_words(const Cast& cast);
// Returns the parameters that a rank holds of blocks, or of all blocks of a stage. A head that
// shares the embedding of its own rank has none, and a copy of the embedding beside it counts as
// the head's.
Parameters parameters_of(const Cast& cast, const Block& block);
Parameters parameters_of(const Cast& cast, const Segment& segment);
Parameters parameters_of(const Cast& cast, int stage);
// Whether some rank of the stage has a part of parameters of which others have the rest.
bool divides_parameters(const Cast& cast, int stage);
// Whether some rank shares parameters of the stage with another.
bool shares_parameters(const Cast& cast, int stage);

// Whether the host holds optimizer states, and updates parameters; and whether it holds parameters.
bool host_optimizer(const Cast& cast);
bool host_parameters(const Cast& cast);
// Returns the bytes of a segment's activations on one rank that wait in host memory.
std::int64_t offloaded(const Cast& cast, const Segment& segment);

}  // namespace strategies

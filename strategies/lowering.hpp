// SPDX-License-Identifier: Apache-2.0
// The working state of lower(): one step being written. Private to the room.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "strategies/activity.hpp"
#include "strategies/folding.hpp"
#include "strategies/lower.hpp"

namespace strategies {

// Actors that run passes together: one tensor-parallel group (or one class of them).
struct Cell {
  int stage = 0;
  std::vector<std::uint32_t> actors;
  std::vector<std::int64_t> ranks;            // one of each actor
  std::vector<std::uint32_t> previous, next;  // pipeline neighbour of each actor, wrapping around
  std::vector<std::size_t> writers;           // of each actor; one for all where devices are alike
};

// Actors that communicate together: one data-, tensor- or context-parallel group (or one class of
// them).
struct Group {
  int stage = 0;
  std::vector<std::uint32_t> actors;
  std::int64_t rank = 0;  // one of its members
  topology::GroupShape shape;
  std::size_t writer = 0;  // of that member, in a group that divides layers
};

class Lowering {
 public:
  Lowering(const Job& job, const Costs& costs, Ranks ranks);
  Lowered run();

 private:
  // A run of a virtual stage's blocks that is played as one pass.
  using Segment = std::vector<Block>;

  void check_size() const;
  void check_length() const;
  void find_cells();
  void find_context_groups(const std::vector<std::size_t>& writer_of_actor);
  void find_data_groups();
  void describe_actors();
  Gpu gpu_of(std::int64_t rank) const;
  int stages() const { return static_cast<int>(job_.plan.pipeline); }
  int chunks() const { return layout_.chunks; }
  void find_order();
  ChunkTimes times_of(int stage);

  // Pipeline: one slot of one stage, on every cell of it. The two stages of a mirrored pair run the
  // same passes of the same virtual stages in step (lower_pairs.cpp): what is kept or done by stage
  // is kept and done for both under the lower one.
  void emit(int stage, const Slot& slot);
  void emit_pair(int stage, const Slot& forward, const Slot& backward);
  void begin_pair(int stage, const Slot& forward, const Slot& backward);
  void emit_passes(int stage, const Slot& slot);
  void emit_segment(int stage, const Slot& slot, const Segment& segment, double slowdown);
  Slot run_by(int stage, const Slot& slot) const;
  void await_input(int stage, const Slot& slot);
  const Segment& blocks_in(int stage, const Slot& slot) const {
    return blocks_[static_cast<std::size_t>(virtual_stage_of(stage, slot.chunk, layout_))];
  }
  void send_onwards(int stage, const Slot& slot);
  std::vector<Segment> segments_of(int virtual_stage, bool backward) const;
  // A piece of a pass whose body the program has.
  struct Part {
    sim::TemplateId body{};
    int waits_for = -1;
    std::optional<Exchange> then;
  };
  using Sequence = std::vector<Part>;
  // How a pass is written. `beside`: bytes that the forward pass needs beside which it runs, as the
  // second of a pair; negative: it runs on its own.
  struct Manner {
    double slowdown = 1.0;
    std::int64_t beside = -1;
    friend auto operator<=>(const Manner&, const Manner&) = default;
  };
  Pieces written(std::size_t writer, const Segment& segment, Pass pass, const Manner& how) const;
  const Sequence& sequence(std::size_t writer, const Segment& segment, Pass pass,
                           const Manner& how);
  const Sequence& sequence_of(std::size_t writer, const Segment& segment, Pass pass,
                              const Manner& how);
  // A segment being written: each writer's pieces, and, by piece and actor, its exchange.
  struct Running {
    std::vector<const Sequence*> pieces;
    std::size_t count = 0;
    std::vector<std::vector<sim::EventId>> exchanged;
  };
  void begin(Running& running, int stage, const Segment& segment, Pass pass, double slowdown,
             const Running* beside = nullptr);
  void emit_part(Running& running, int stage, const Slot& slot, std::size_t index);
  void emit_exchange(Running& running, int stage, const Slot& slot, std::size_t index);
  sim::Picoseconds exchanged_in(int stage, const Running& running) const;
  // What an op that sends takes before its traffic, and the traffic.
  struct Sent {
    sim::Picoseconds fixed = 0;
    std::uint32_t traffic = sim::no_traffic;
  };
  Sent sent(const topology::Sending& sending, FlowKind flow, std::int64_t rank);
  sim::OpId add_collective(sim::Lane lane, const Sent& sent, sim::Activity activity,
                           std::span<const sim::Participant> who, sim::Label label);
  const Sent& message(const Cell& cell, std::size_t index, bool forward);
  double slowdown(const Segment& segment, Pass pass, sim::Picoseconds beside);

  // Data parallelism.
  // What a slot shares with its data-parallel group: parameters before its segments, gradients
  // after each of them, or all of these at its end.
  struct Collectives {
    bool gathers = false, reduces = false, reduces_after = false;
    bool any() const { return gathers || reduces || reduces_after; }
  };
  Collectives collectives_of(int stage, const Slot& slot) const;
  bool overlaps_data() const;
  bool overlaps_parameters() const;
  // The stage gathers no more gradients of this chunk after the slot.
  bool is_last_backward(int stage, const Slot& slot) const;
  bool embeds_and_predicts() const;  // first and last virtual stage sit on one device
  double gradient_bytes() const;     // per parameter, as reduced
  double parameter_bytes() const;
  // Of one block or several; a head that shares the embedding of its own rank has none.
  double parameters_of(const Block& block) const;
  double parameters_of(const Segment& segment) const;
  topology::Sending reduction(const Group& group, double parameters) const;
  topology::Sending gathering(const Group& group, double parameters) const;
  bool sharded_in_node(const Group& group) const;
  // Adds a collective of every data group of the stage; each actor waits for its event in `after`.
  void data_collective(int stage, double parameters, bool gathers, LabelKind label,
                       const std::vector<sim::EventId>& after);

  // After the pipeline is drained.
  void tied_embedding();
  void finish_gradients();
  void gradient_norm();
  void optimizer();

  const Job job_;
  const Costs& costs_;
  const Layout layout_;
  Placement placement_;
  Folding folding_;
  bool every_rank_ = false;
  std::vector<std::vector<Block>> blocks_;  // by virtual stage
  std::vector<std::unique_ptr<PassWriter>> writers_;
  std::vector<Cell> cells_;
  std::vector<std::vector<std::size_t>> cells_of_stage_;
  std::vector<std::vector<Slot>> last_of_chunk_;     // [stage][chunk]
  std::vector<std::vector<Group>> groups_of_stage_;  // data-parallel
  std::vector<std::vector<Group>> tensor_groups_of_stage_, context_groups_of_stage_;
  std::map<std::tuple<std::size_t, Segment, Pass, Manner>, Sequence> sequences_;
  // The same again for whole virtual stages, which most passes are: [writer][virtual stage, pass].
  std::vector<std::vector<const Sequence*>> whole_sequences_;
  std::vector<std::optional<Sent>> messages_;  // [actor, direction], once asked for
  std::map<std::tuple<const Group*, double, bool>, Sent> data_sent_;
  std::vector<sim::Participant> who_;
  std::vector<sim::TemplateId> bodies_of_cell_;
  Running running_, beside_;  // the second of a pair
  std::optional<Slot> first_of_pair_;
  std::map<std::pair<const Group*, const Exchange*>, Sent> exchange_sent_;
  Lowered out_;

  std::vector<sim::EventId> arrival_;  // by actor: of the input of the slot being written
  std::vector<std::vector<sim::EventId>> arrived_forward_, arrived_backward_;  // [actor][chunk, mb]
  std::vector<sim::EventId> latest_;         // by actor: last pass
  std::vector<sim::EventId> ended_beside_;   // by actor: the pass of a pair that is not the latest
  std::vector<sim::EventId> before_latest_;  // by actor: the pass before it
  std::vector<sim::EventId> gathered_;       // by actor: what else the next segment waits for
  std::vector<sim::EventId> reduced_;        // by actor: last gradient collective
};

}  // namespace strategies

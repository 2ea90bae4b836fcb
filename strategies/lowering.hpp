// SPDX-License-Identifier: Apache-2.0
// The working state of lower(): one step being written. Private to the room.
#pragma once
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "strategies/activity.hpp"
#include "strategies/data_traffic.hpp"
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

// What takes more memory or time than there is, told from the plan's numbers: throws Refusal.
void check_numbers(const Job& job);
// As check_ticks(double): pieces of a pass, one after the other.
void check_ticks(const Pieces& pass);

class Lowering {
 public:
  Lowering(const Job& job, const Costs& costs, Ranks ranks);
  Lowered run();

 private:
  // A run of a virtual stage's blocks that is played as one pass.
  using Segment = std::vector<Block>;

  void check_size() const;
  void check_length() const;
  void check_links() const;
  double events_of_exchanges() const;
  void find_cells();
  Cell cell_of(int stage, const std::vector<std::int64_t>& group) const;
  Share share_of(std::int64_t rank) const;  // but what its tensor-parallel group settles
  void find_context_groups();
  void find_expert_groups();
  void find_data_groups();
  void find_apart_groups();
  // The actors of these ranks, ascending; none if they are `known`, to which they are added.
  using Known = std::set<std::vector<std::uint32_t>>;
  std::vector<std::uint32_t> new_group(const std::vector<std::int64_t>& ranks, Known& known) const;
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
  // A part of a pass, parameters that it needs whole and has not yet, and parameters whose
  // gradients are complete after it.
  struct Unit {
    Segment blocks;
    Parameters gathers, reduces;
  };
  std::vector<Unit> units_of(int virtual_stage, bool backward) const;
  std::vector<Unit> buckets_of(int virtual_stage, bool backward) const;
  // Blocks of which something is offloaded stand alone.
  std::vector<Unit> cut_at_offloaded(std::vector<Unit> units, bool backward) const;
  bool is_root(const Block& block) const;
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
  const std::vector<Group>& groups_of(FlowKind kind, int stage) const;
  static const Exchange& exchange_of(const Running& running, const Group& group, std::size_t index);
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

  // Before the slot, of the first virtual stage: its microbatch is loaded.
  void load_data(int stage, const Slot& slot);
  // Activations in host memory.
  std::int64_t offloaded(const Segment& segment) const;  // bytes
  bool offloads(int virtual_stage) const;
  sim::EventId copy(sim::Lane lane, std::uint32_t actor, std::int64_t bytes, const Slot& slot,
                    std::array<sim::EventId, 2> after);
  void hold(std::uint32_t actor, sim::EventId until);
  void copy_out(int stage, const Slot& slot, const Segment& segment);
  void fetch(int stage, const Slot& slot, const std::vector<sim::EventId>& ready);
  void before_segment(int stage, const Slot& slot, const Segment& segment);
  template <class Visit>
  void for_each_actor(int stage, Visit visit) const {
    for (auto cell : cells_of_stage_[static_cast<std::size_t>(stage)])
      for (auto actor : cells_[cell].actors) visit(actor);
  }

  // Data parallelism.
  // The stage gathers no more gradients of this chunk after the slot.
  bool is_last_backward(int stage, const Slot& slot) const;
  double words() const;  // parameters of the embedding on one rank
  double gradient_bytes() const { return traffic_.gradient_bytes(); }
  double parameter_bytes() const { return traffic_.parameter_bytes(); }
  // Of one block or several; a head that shares the embedding of its own rank has none, and a copy
  // of the embedding beside it counts as the head's.
  Parameters parameters_of(const Block& block) const;
  Parameters parameters_of(const Segment& segment) const;
  Parameters parameters_of(int stage) const;
  bool holds_apart(int stage) const;
  // Some rank of the stage has a part of what others have the rest of.
  bool divides_parameters(int stage) const;
  // Some rank shares parameters of the stage with another.
  bool shares_parameters(int stage) const;
  // What a pass does besides computing: gathers parameters, reduces gradients (with or after it),
  // copies them to the host, copies activations there or back.
  struct Duties {
    bool gathers = false, reduces = false, reduces_after = false, copies = false, away = false;
    bool any() const { return gathers || reduces || reduces_after || copies || away; }
  };
  Duties duties_of(int stage, const Slot& slot) const;
  void emit_units(int stage, const Slot& slot, const Duties& duties);
  // When the parameters of a unit may be gathered: after which of `ends` (before the pass, and
  // after each unit of it).
  std::size_t gathers_after(const std::vector<Unit>& units, std::size_t unit) const;
  bool prefetches() const;
  void gather_unit(int stage, const Parameters& parameters, const std::vector<sim::EventId>& after);
  sim::Picoseconds beside(int stage, const std::vector<Unit>& units, std::size_t unit,
                          const Duties& duties) const;
  void reduce(int stage, const Parameters& parameters);
  void compress(int stage, double parameters);
  // Adds a collective of every data group of the stage, and another of every group that shares
  // experts; each actor waits for its event in `after`.
  void data_collective(int stage, const Parameters& parameters, bool gathers, LabelKind label,
                       const std::vector<sim::EventId>& after);
  void data_collective(const std::vector<Group>& groups, const Shared& what, bool gathers,
                       LabelKind label, const std::vector<sim::EventId>& after);
  // What those take of the stage's first groups, on an idle network.
  sim::Picoseconds data_time(int stage, const Parameters& parameters, bool gathers) const;

  // After the pipeline is drained.
  void tied_embedding();
  void finish_gradients();
  void gradient_norm();
  void meet(units::Bytes size, sim::Label label);  // all ranks sum a few bytes
  void unscale();
  void optimizer();
  std::vector<sim::Step> optimizer_steps(std::uint32_t actor) const;
  sim::Picoseconds passes_of(std::uint32_t actor) const;
  sim::Picoseconds newton_schulz(std::uint32_t actor) const;
  // Runs a pass on an actor once its gradients are reduced.
  void add_update(std::uint32_t actor, sim::TemplateId body, LabelKind label);
  void gather_matrices();
  void describe_units(ActorFacts& facts) const;
  void describe_gradients(ActorFacts& facts) const;

  // Offloading of states.
  double share_of(const Parameters& parameters) const {
    return strategies::share_of(parameters, out_.shards);
  }
  bool host_optimizer() const { return job_.plan.offload.optimizer != Offload::Tier::none; }
  bool host_parameters() const { return job_.plan.offload.parameters != Offload::Tier::none; }
  // Every actor of the stage asks its host for this after its event in `after`, and finds the end
  // in `done`.
  void ask_host(int stage, const topology::HostWork& work, const std::vector<sim::EventId>& after,
                std::vector<sim::EventId>& done);
  void read_parameters(int stage, const Parameters& parameters,
                       const std::vector<sim::EventId>& after);
  void copy_gradients(int stage, const Parameters& parameters);
  void host_step();
  void return_parameters();

  const Job job_;
  const Costs& costs_;
  const DataTraffic traffic_{job_, costs_};
  const DataDuties data_duties_ = data_duties(job_.plan, job_.training, job_.software);
  const Layout layout_;
  Placement placement_;
  Folding folding_;
  bool every_rank_ = false;
  std::vector<std::vector<Block>> blocks_;  // by virtual stage
  std::vector<std::unique_ptr<PassWriter>> writers_;
  std::vector<std::size_t> writer_of_actor_;
  std::vector<Cell> cells_;
  std::vector<std::vector<std::size_t>> cells_of_stage_;
  std::vector<std::vector<Slot>> last_of_chunk_;     // [stage][chunk]
  std::vector<std::vector<Group>> groups_of_stage_;  // data-parallel
  std::vector<std::vector<Group>> apart_groups_of_stage_;
  std::vector<std::vector<Group>> tensor_groups_of_stage_, context_groups_of_stage_,
      expert_groups_of_stage_;
  std::map<std::tuple<std::size_t, Segment, Pass, Manner>, Sequence> sequences_;
  // The same again for whole virtual stages, which most passes are: [writer, virtual stage][pass].
  std::vector<std::array<const Sequence*, 4>> whole_sequences_;
  std::vector<std::optional<Sent>> messages_;  // [actor, direction], once asked for
  std::map<std::tuple<const Group*, Shared, bool>, Sent> data_sent_;
  std::map<std::pair<double, Gpu>, sim::TemplateId> packing_;
  std::vector<sim::Participant> who_;
  std::vector<sim::TemplateId> bodies_of_cell_;
  Running running_, beside_;  // the second of a pair
  std::optional<Slot> first_of_pair_;
  std::map<std::pair<const Group*, const Exchange*>, Sent> exchange_sent_;
  Lowered out_;

  struct Copy {
    sim::EventId copied;
    std::int64_t bytes;
  };
  struct Away {
    // Of each chunk and microbatch, what its forward pass copied out and no pass fetched yet.
    std::map<std::pair<int, std::int64_t>, std::vector<Copy>> copies;
    std::array<sim::EventId, 2> latest{sim::no_event, sim::no_event};  // copies out
    std::vector<sim::EventId> fetched;                                 // that no pass waits for yet
    std::int64_t held = 0;                                             // bytes on the host
  };
  std::vector<Away> away_;             // by actor
  std::vector<sim::EventId> arrival_;  // by actor: of the input of the slot being written
  std::vector<std::vector<sim::EventId>> arrived_forward_, arrived_backward_;  // [actor][chunk, mb]
  std::vector<std::vector<sim::EventId>> loaded_;  // [actor]: microbatches, in order
  std::size_t taken_ = 0;                          // of them, by the first virtual stage
  std::vector<sim::EventId> latest_;               // by actor: last pass
  std::vector<sim::EventId> ended_beside_;         // by actor: the pass of a pair not the latest
  std::vector<sim::EventId> before_latest_;        // by actor: the pass before it
  std::vector<sim::EventId> gathered_;             // by actor: what else the next segment waits for
  std::vector<sim::EventId> reduced_;              // by actor: last gradient collective
  std::vector<sim::EventId> read_;                 // by actor: parameters that the host had
  std::vector<sim::EventId> copied_;               // by actor: last gradients that the host has
  std::vector<std::optional<Slot>> last_slot_;     // by stage
};

}  // namespace strategies

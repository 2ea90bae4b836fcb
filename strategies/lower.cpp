// SPDX-License-Identifier: Apache-2.0
#include "strategies/lower.hpp"

#include <algorithm>

#include "strategies/lowering.hpp"
#include "strategies/outline.hpp"
#include "strategies/pipeline.hpp"

namespace strategies {

using sim::EventId;
using sim::no_event;

Lowering::Lowering(const Job& job, const Costs& costs, Ranks ranks)
    : job_(job),
      costs_(costs),
      layout_(layout_of(job.plan)),
      placement_(job.plan),
      folding_(placement_, job.cluster,
               job.plan.zero >= 1 && job.plan.shard_group == ShardGroup::node, ranks),
      every_rank_(ranks == Ranks::full),
      blocks_(blocks_of(job.model, job.plan, job.software.keep_sent_outputs)) {
  out_.microbatches = microbatches_of(job.plan, job.training);
  for (const auto& link : folding_.links()) {
    out_.program.add_link(link.capacity);
    out_.link_names.push_back(folding_.ports().name(link.port));
  }
  out_.links = folding_.links();
  find_cells();
  find_data_groups();
  find_apart_groups();
  describe_actors();
  const auto actors = folding_.representative().size();
  const auto slots =
      static_cast<std::size_t>(chunks()) * static_cast<std::size_t>(out_.microbatches);
  arrival_.assign(actors, no_event);
  arrived_forward_.assign(actors, std::vector<EventId>(slots, no_event));
  arrived_backward_ = arrived_forward_;
  whole_sequences_.resize(writers_.size() * blocks_.size());
  messages_.resize(2 * actors);
  away_.resize(actors);
  latest_ = before_latest_ = ended_beside_ = gathered_ = reduced_ = read_ = copied_ = arrival_;
  last_slot_.resize(static_cast<std::size_t>(stages()));
  find_order();
}

// What the passes of a stage's chunk take, on the average.
ChunkTimes Lowering::times_of(int stage) {
  const auto& cell = cells_[cells_of_stage_[static_cast<std::size_t>(stage)].front()];
  double work = 0;  // of all microbatches
  const auto time = [&](Pass pass) {
    sim::Picoseconds sum = 0;
    for (int chunk = 0; chunk < chunks(); ++chunk) {
      const auto v = static_cast<std::size_t>(virtual_stage_of(stage, chunk, layout_));
      const auto pieces = written(cell.writers.front(), blocks_[v], pass, {});
      check_ticks(pieces);
      const auto one = alone(pieces).total();
      work += static_cast<double>(one) * static_cast<double>(out_.microbatches);
      check_ticks(work);
      sum += one;
    }
    return sum / chunks();
  };
  return {time(Pass::forward), time(Pass::backward_input), time(Pass::backward_weight)};
}

void Lowering::find_order() {
  OrderInput input{.schedule = job_.plan.schedule,
                   .stages = stages(),
                   .chunks = layout_.parts(),
                   .microbatches = static_cast<int>(out_.microbatches),
                   .pairs = pairs_passes(job_.model, job_.plan, job_.software)};
  if (is_searched(job_.plan.schedule)) {
    for (int stage = 0; stage < stages(); ++stage) input.times.push_back(times_of(stage));
    const auto& cell = cells_[cells_of_stage_.front().front()];
    const auto& [fixed, traffic] = message(cell, 0, true);
    input.latency = fixed;
    if (traffic != sim::no_traffic) {
      const auto& sent = out_.program.traffic()[traffic];
      // At the rate of sound links, so that a fault somewhere does not change the order.
      input.latency += to_ticks(units::Seconds{sent.bytes / sent.cap});
    }
  }
  out_.order = order_of(input);
  for (const auto& slots : out_.order) {
    auto& last = last_of_chunk_.emplace_back(static_cast<std::size_t>(chunks()));
    for (const auto& slot : slots)
      if (slot.pass == Pass::backward || slot.pass == Pass::backward_weight)
        last[static_cast<std::size_t>(slot.chunk)] = slot;
  }
}

const Lowering::Sequence& Lowering::sequence(std::size_t writer, const Segment& segment, Pass pass,
                                             const Manner& how) {
  if (how != Manner{} || &segment < blocks_.data() || &segment >= blocks_.data() + blocks_.size())
    return sequence_of(writer, segment, pass, how);
  const auto v = static_cast<std::size_t>(&segment - blocks_.data());
  auto& found = whole_sequences_[writer * blocks_.size() + v][static_cast<std::size_t>(pass)];
  if (found == nullptr) found = &sequence_of(writer, segment, pass, how);
  return *found;
}

Pieces Lowering::written(std::size_t writer, const Segment& segment, Pass pass,
                         const Manner& how) const {
  auto pieces = pass == Pass::forward ? writers_[writer]->forward(segment, how.slowdown)
                                      : writers_[writer]->backward(segment, pass, how.slowdown);
  auto& first = pieces.front().body;
  first.drains = how.beside < 0 && stages() > 1 && job_.software.pipeline_sync;
  first.peak += std::max<std::int64_t>(0, how.beside);
  return pieces;
}

const Lowering::Sequence& Lowering::sequence_of(std::size_t writer, const Segment& segment,
                                                Pass pass, const Manner& how) {
  auto [found, fresh] = sequences_.try_emplace({writer, segment, pass, how});
  if (!fresh) return found->second;
  for (auto& piece : written(writer, segment, pass, how))
    found->second.push_back(
        {out_.program.add_template(std::move(piece.body)), piece.waits_for, piece.then});
  return found->second;
}

// Communication that runs beside a segment slows the share of it that it covers.
double Lowering::slowdown(const Segment& segment, Pass pass, sim::Picoseconds beside) {
  if (job_.software.interference <= 0 || beside <= 0) return 1.0;  // the usual case
  sim::Picoseconds alone = 0;
  for (const auto& part : sequence(0, segment, pass, {}))
    for (const auto& step : out_.program.body(part.body).steps)
      if (step.lane == sim::Lane::compute) alone += step.duration;
  return slowdown_beside(job_.software.interference, beside, alone);
}

void Lowering::emit_segment(int stage, const Slot& slot, const Segment& segment, double slow) {
  begin(running_, stage, segment, slot.pass, slow);
  for (std::size_t i = 0; i < running_.count; ++i) {
    emit_part(running_, stage, slot, i);
    emit_exchange(running_, stage, slot, i);
  }
}

void Lowering::emit_part(Running& running, int stage, const Slot& slot, std::size_t index) {
  const bool first = index == 0;
  const LabelKind label = slot.pass == Pass::forward          ? label_forward
                          : slot.pass == Pass::backward       ? label_backward
                          : slot.pass == Pass::backward_input ? label_backward_input
                                                              : label_backward_weight;
  for (auto cell_index : cells_of_stage_[static_cast<std::size_t>(stage)]) {
    const auto& cell = cells_[cell_index];
    const auto its = run_by(cell.stage, slot);
    const sim::Label named{label, static_cast<std::int16_t>(its.chunk), its.microbatch};
    const auto waits_for = (*running.pieces[cell.writers.front()])[index].waits_for;
    who_.clear();
    for (auto actor : cell.actors) {
      const auto awaited =
          waits_for < 0 ? no_event : running.exchanged[static_cast<std::size_t>(waits_for)][actor];
      who_.push_back({sim::ActorId{actor},
                      {first ? arrival_[actor] : awaited, first ? gathered_[actor] : no_event}});
    }
    bodies_of_cell_.clear();
    for (auto writer : cell.writers)
      bodies_of_cell_.push_back((*running.pieces[writer])[index].body);
    const auto op = bodies_of_cell_.size() == 1
                        ? out_.program.add_pass(bodies_of_cell_.front(), who_, named)
                        : out_.program.add_pass(bodies_of_cell_, who_, named);
    for (std::uint32_t i = 0; i < who_.size(); ++i) {
      const auto actor = cell.actors[i];
      if (first) before_latest_[actor] = latest_[actor];
      latest_[actor] = out_.program.event(op, i);
      if (first) arrival_[actor] = gathered_[actor] = no_event;
    }
  }
}

namespace {

LabelKind label_of(FlowKind exchange) {
  switch (exchange) {
    case FlowKind::context:
      return label_context_exchange;
    case FlowKind::expert:
      return label_expert_exchange;
    default:
      return label_exchange;
  }
}

}  // namespace

const std::vector<Group>& Lowering::groups_of(FlowKind kind, int stage) const {
  const auto& groups = kind == FlowKind::context  ? context_groups_of_stage_
                       : kind == FlowKind::expert ? expert_groups_of_stage_
                                                  : tensor_groups_of_stage_;
  return groups[static_cast<std::size_t>(stage)];
}

// The slowest of what members make of it: what they do besides can depend on where they lie.
const Exchange& Lowering::exchange_of(const Running& running, const Group& group,
                                      std::size_t index) {
  const auto of = [&](std::size_t writer) -> const Exchange& {
    return *(*running.pieces[writer])[index].then;
  };
  const auto slower = [&](std::size_t a, std::size_t b) {
    const auto &x = of(a).sending, &y = of(b).sending;
    return std::pair(x.time(), x.fixed) < std::pair(y.time(), y.fixed);
  };
  return of(*std::ranges::max_element(group.writers, slower));
}

// What layers exchange after a piece. What follows the segment waits for its last exchange.
void Lowering::emit_exchange(Running& running, int stage, const Slot& slot, std::size_t index) {
  const auto at = static_cast<std::size_t>(stage);
  const auto& first = *running.pieces[cells_[cells_of_stage_[at].front()].writers.front()];
  if (!first[index].then) return;
  const auto kind = first[index].then->group;
  for (const auto& group : groups_of(kind, stage)) {
    const auto& exchange = exchange_of(running, group, index);
    const auto its = run_by(group.stage, slot);
    who_.clear();
    for (auto actor : group.actors)
      who_.push_back({sim::ActorId{actor}, {latest_[actor], no_event}});
    auto [known, fresh] = exchange_sent_.try_emplace({&group, &exchange});
    if (fresh) known->second = sent(exchange.sending, kind, group.rank);
    const auto op =
        add_collective(sim::Lane::exchange, known->second, exchange.activity, who_,
                       {label_of(kind), static_cast<std::int16_t>(its.chunk), its.microbatch});
    for (std::uint32_t i = 0; i < who_.size(); ++i) {
      running.exchanged[index][group.actors[i]] = out_.program.event(op, i);
      if (index + 1 == first.size()) latest_[group.actors[i]] = out_.program.event(op, i);
    }
  }
}

Lowering::Sent Lowering::sent(const topology::Sending& sending, FlowKind flow, std::int64_t rank) {
  const auto& links = folding_.uses(flow, rank);
  if (links.empty() || sending.bytes.value <= 0) return {to_ticks(sending.time())};
  const double shares = folding_.shares(flow, rank);
  return {to_ticks(sending.fixed), out_.program.add_traffic({links, sending.bytes.value / shares,
                                                             sending.rate.value / shares})};
}

sim::OpId Lowering::add_collective(sim::Lane lane, const Sent& sent, sim::Activity activity,
                                   std::span<const sim::Participant> who, sim::Label label) {
  const auto op = out_.program.add_collective(lane, sent.fixed, activity, who, label);
  if (sent.traffic != sim::no_traffic) out_.program.send_over_links(op, sent.traffic);
  return op;
}

// One message to the pipeline neighbour: with sequence parallelism, or where the software scatters,
// each tensor-parallel rank sends its part only.
const Lowering::Sent& Lowering::message(const Cell& cell, std::size_t index, bool forward) {
  auto& known = messages_[2 * cell.actors[index] + (forward ? 1 : 0)];
  if (known) return *known;
  const units::Bytes bytes{message_bytes(job_.share())};
  const bool split =
      job_.plan.tensor > 1 && (job_.plan.sequence_parallel || job_.software.scatter_gather);
  const auto rank = cell.ranks[index];
  auto there = placement_.at(rank);
  there.pipeline = (there.pipeline + (forward ? 1 : -1) + stages()) % stages();
  auto sending = costs_.transfer(bytes, rank, placement_.rank_of(there));
  known = sent(sending, forward ? FlowKind::onward : FlowKind::back, rank);
  if (split && !job_.plan.sequence_parallel)
    known->fixed += writers_[cell.writers.front()]->row_gather();
  return *known;
}

void Lowering::send_onwards(int stage, const Slot& slot) {
  const bool forward = slot.pass == Pass::forward;
  if (slot.pass == Pass::backward_weight) return;
  const bool overlapped = job_.plan.overlap.pipeline.value_or(job_.software.overlap_pipeline);
  for (auto cell_index : cells_of_stage_[static_cast<std::size_t>(stage)]) {
    const auto& cell = cells_[cell_index];
    const auto its = run_by(cell.stage, slot);
    const ChunkPlace here{cell.stage, its.chunk};
    const auto there = forward ? behind(here, layout_) : before(here, layout_);
    if (!there) return;
    const auto index =
        static_cast<std::size_t>(there->chunk) * static_cast<std::size_t>(out_.microbatches) +
        static_cast<std::size_t>(its.microbatch);
    const bool onward = there->stage == (cell.stage + 1) % stages();
    for (std::size_t i = 0; i < cell.actors.size(); ++i) {
      const auto actor = cell.actors[i];
      const auto peer = onward ? cell.next[i] : cell.previous[i];
      auto& arrived =
          (forward ? arrived_forward_
                   : arrived_backward_)[there->stage == cell.stage ? actor : peer][index];
      if (there->stage == cell.stage) {
        arrived = latest_[actor];
        continue;
      }
      const auto& [fixed, traffic] = message(cell, i, onward);
      const auto op = out_.program.add_transfer(
          overlapped ? sim::Op::Kind::transfer : sim::Op::Kind::blocking, fixed, pipeline_comm,
          {sim::ActorId{actor}, {latest_[actor], ended_beside_[actor]}}, sim::ActorId{peer},
          {forward ? label_send_forward : label_send_backward, static_cast<std::int16_t>(its.chunk),
           its.microbatch});
      if (traffic != sim::no_traffic) out_.program.send_over_links(op, traffic);
      arrived = out_.program.event(op, 1);
    }
  }
}

Lowered Lowering::run() {
  check_size();
  // Every slot is a pass and, mostly, a transfer of two events.
  const auto slots = 2 * arrived_forward_.size() * static_cast<std::size_t>(layout_.parts()) *
                     static_cast<std::size_t>(out_.microbatches);
  out_.program.reserve(2 * slots, 3 * slots);
  walk(out_.order, layout_, static_cast<int>(out_.microbatches),
       [&](int stage, const Slot& slot) { emit(stage, slot); });
  finish_gradients();
  tied_embedding();
  unscale();
  if (!post_validates(job_.plan, job_.software)) gradient_norm();
  optimizer();
  check_length();
  check_links();
  out_.writer = std::move(writers_.front());
  return std::move(out_);
}

Lowered lower(const Job& job, const Costs& costs, Ranks ranks) {
  check_numbers(job);
  return Lowering(job, costs, ranks).run();
}

}  // namespace strategies

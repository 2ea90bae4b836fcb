// SPDX-License-Identifier: Apache-2.0
// Data parallelism. Volumes per step in units of the parameters, m microbatches: plain and ZeRO-1
// 2 (3 where ZeRO-1 all-reduces); ZeRO-2 m + 1 (it reduces every microbatch); ZeRO-3 3m, or 2m
// without resharding: passes of weight gradients alone read no parameters. Overlapped, gradients
// are reduced bucket by bucket as the backward pass fills them; a collective on the data lane
// begins when the last of its ranks has filled the bucket. Routed experts have sharers of their own
// (expert_groups.cpp), and collectives after the others'. Ranks that have parts of the same
// sequences (context parallelism) hold the same parameters: they sum gradients and share states as
// replicas do.
#include <set>

#include "plans/memory.hpp"
#include "strategies/lowering.hpp"
#include "strategies/pipeline.hpp"

namespace strategies {

using sim::EventId;
using sim::no_event;
using sim::Picoseconds;
using topology::Collective;

Parameters Lowering::parameters_of(const Block& block) const {
  const auto& cost = writers_.front()->cost(block);
  auto held = placement_.holds_apart() ? cost.parameters : cost.parameters.together();
  if (block.kind == Block::Kind::head) held += beside_head(job_.model, layout_, words());
  return held;
}

double Lowering::words() const {
  return static_cast<double>(extent_of(job_.share()).vocab * job_.model.hidden);
}

Parameters Lowering::parameters_of(const Segment& segment) const {
  Parameters sum;
  for (const auto& block : segment) sum += parameters_of(block);
  return sum;
}

Parameters Lowering::parameters_of(int stage) const {
  Parameters sum;
  for (int chunk = 0; chunk < chunks(); ++chunk)
    sum +=
        parameters_of(blocks_[static_cast<std::size_t>(virtual_stage_of(stage, chunk, layout_))]);
  return sum;
}

bool Lowering::is_last_backward(int stage, const Slot& slot) const {
  return slot ==
         last_of_chunk_[static_cast<std::size_t>(stage)][static_cast<std::size_t>(slot.chunk)];
}

void Lowering::data_collective(const std::vector<Group>& groups, const Shared& what, bool gathers,
                               LabelKind label, const std::vector<EventId>& after) {
  std::vector<sim::Participant> who;
  for (const auto& group : groups) {
    if (gathers && traffic_.shards_of(group) == 1) {
      if (host_parameters())
        for (auto actor : group.actors) gathered_[actor] = read_[actor];
      continue;
    }
    who.clear();
    for (auto actor : group.actors)
      who.push_back({sim::ActorId{actor}, {after[actor], gathers ? read_[actor] : no_event}});
    auto [known, fresh] = data_sent_.try_emplace({&group, what, gathers});
    if (fresh)
      known->second =
          gathers
              ? sent(traffic_.gathering(group, what),
                     traffic_.sharded_in_node(group) ? FlowKind::inside : group.ring, group.rank)
              : sent(traffic_.reduction(group, what), group.ring, group.rank);
    const auto op = add_collective(sim::Lane::data, known->second, data_comm, who, {label});
    for (std::uint32_t i = 0; i < who.size(); ++i)
      (gathers ? gathered_ : reduced_)[group.actors[i]] = out_.program.event(op, i);
  }
}

Lowering::Duties Lowering::duties_of(int stage, const Slot& slot) const {
  const bool shares = shares_parameters(stage), forward = slot.pass == Pass::forward;
  const bool completes = !forward && slot.pass != Pass::backward_input;  // weight gradients
  const bool last = completes && is_last_backward(stage, slot);
  const bool first = slot.microbatch == 0 || (layout_.kind == Layout::Kind::mirrored &&
                                              slot.microbatch == out_.microbatches / 2);
  const bool every = data_duties_.reduces == When::always;
  Duties duties;
  const bool again = slot.pass != Pass::backward_weight && data_duties_.gathers_again;
  duties.gathers = (data_duties_.gathers == When::always && (forward || again)) ||
                   (data_duties_.gathers == When::once && forward && first);
  duties.gathers = duties.gathers && (divides_parameters(stage) || host_parameters());
  duties.reduces = shares && data_duties_.beside && (last || (completes && every));
  duties.reduces_after = shares && !data_duties_.beside && completes && every;
  duties.copies = host_optimizer() && (last || (completes && job_.plan.offload.gradients));
  duties.away =
      offloads(virtual_stage_of(stage, slot.chunk, layout_)) && slot.pass != Pass::backward_weight;
  return duties;
}

sim::Picoseconds Lowering::beside(int stage, const std::vector<Unit>& units, std::size_t unit,
                                  const Duties& duties) const {
  Picoseconds sum = 0;
  if (duties.gathers && unit + 1 < units.size())
    sum += data_time(stage, units[unit + 1].gathers, true);
  if (duties.reduces && unit > 0) sum += data_time(stage, units[unit - 1].reduces, false);
  return sum;
}

// `ends[0]`: before the last unit of the pass before, or after it where that is the unit that is
// needed again; `ends[1]`: after that pass; `ends[2 + i]`: after unit i. Parameters on the host are
// read while the unit before them is gathered.
void Lowering::emit_units(int stage, const Slot& slot, const Duties& duties) {
  const int v = virtual_stage_of(stage, slot.chunk, layout_);
  const bool forward = slot.pass == Pass::forward;
  const bool communicates = duties.gathers || duties.reduces || duties.copies;
  auto units = job_.plan.zero == 3 ? units_of(v, !forward)
               : communicates      ? buckets_of(v, !forward)
                                   : std::vector<Unit>{Unit{blocks_[static_cast<std::size_t>(v)]}};
  if (duties.away) units = cut_at_offloaded(std::move(units), !forward);
  const auto& last = last_slot_[static_cast<std::size_t>(stage)];
  const bool again = last && last->chunk == slot.chunk && last->pass != Pass::backward_weight &&
                     ((last->pass == Pass::forward) != forward || units.size() == 1);
  std::vector<std::vector<EventId>> ends;
  if (duties.gathers) ends = {again ? latest_ : before_latest_, latest_};
  const bool reads = duties.gathers && job_.plan.zero == 3 && host_parameters();
  const auto read = [&](std::size_t i, std::size_t after) {
    if (reads && i < units.size() && units[i].gathers.all() > 0)
      read_parameters(stage, units[i].gathers, ends[after]);
  };
  const auto gather = [&](std::size_t i) {
    if (!duties.gathers || i >= units.size()) return;
    const auto after = gathers_after(units, i);
    if (!prefetches()) read(i, after);
    if (units[i].gathers.all() > 0) gather_unit(stage, units[i].gathers, ends[after]);
    if (prefetches()) read(i + 1, i);
  };
  if (duties.away && !forward) fetch(stage, slot, before_latest_);
  if (prefetches()) read(0, 0);
  gather(0);
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (duties.away) before_segment(stage, slot, units[i].blocks);
    emit_segment(stage, slot, units[i].blocks,
                 slowdown(units[i].blocks, slot.pass, beside(stage, units, i, duties)));
    if (duties.away && forward) copy_out(stage, slot, units[i].blocks);
    if (duties.gathers) ends.push_back(latest_);
    gather(i + 1);
    if (units[i].reduces.all() <= 0) continue;
    if (duties.reduces) reduce(stage, units[i].reduces);
    if (duties.copies && data_duties_.beside) copy_gradients(stage, units[i].reduces);
  }
}

void Lowering::emit_passes(int stage, const Slot& slot) {
  await_input(stage, slot);
  const auto duties = duties_of(stage, slot);
  if (duties.gathers || duties.reduces || duties.away || (duties.copies && data_duties_.beside))
    emit_units(stage, slot, duties);
  else
    emit_segment(stage, slot, blocks_in(stage, slot), 1.0);
  last_slot_[static_cast<std::size_t>(stage)] = slot;
  if (duties.reduces_after) reduce(stage, parameters_of(blocks_in(stage, slot)));
  if (duties.copies && !data_duties_.beside && (duties.reduces_after || !shares_parameters(stage)))
    copy_gradients(stage, parameters_of(blocks_in(stage, slot)));
  if (duties.reduces_after)
    // Nothing runs beside it: the next pass waits.
    for (auto cell : cells_of_stage_[static_cast<std::size_t>(stage)])
      for (auto actor : cells_[cell].actors) gathered_[actor] = reduced_[actor];
}

void Lowering::gather_unit(int stage, const Parameters& parameters,
                           const std::vector<EventId>& after) {
  if (shares_parameters(stage))
    return data_collective(stage, parameters, true, label_gather_parameters, after);
  for (auto cell : cells_of_stage_[static_cast<std::size_t>(stage)])
    for (auto actor : cells_[cell].actors) gathered_[actor] = read_[actor];
}

void Lowering::reduce(int stage, const Parameters& parameters) {
  compress(stage, parameters.all());
  data_collective(stage, parameters, false, label_reduce_gradients, latest_);
}

void Lowering::finish_gradients() {
  if (data_duties_.beside || data_duties_.reduces == When::always) return;
  for (int stage = 0; stage < stages(); ++stage) {
    if (!shares_parameters(stage)) continue;
    reduce(stage, parameters_of(stage));
    if (host_optimizer()) copy_gradients(stage, parameters_of(stage));
  }
}

// First and last stage hold a copy each of the embedding and sum its gradients, from ZeRO-2 on
// those that the reduction left to each rank.
void Lowering::tied_embedding() {
  if (!copies_embedding(job_.model, layout_)) return;
  const double parameters = summed_words(job_.plan, out_.shards, words());
  std::set<std::pair<std::uint32_t, std::uint32_t>> done;
  for (auto rank : folding_.ranks()) {
    auto where = placement_.at(rank);
    if (where.pipeline != 0) continue;
    where.pipeline = stages() - 1;
    const auto other = placement_.rank_of(where);
    const auto first = folding_.actor_of(rank);
    const auto last = folding_.actor_of(other);
    if (!done.emplace(first, last).second) continue;
    const std::array<sim::Participant, 2> who{
        {{sim::ActorId{first}, {latest_[first], reduced_[first]}},
         {sim::ActorId{last}, {latest_[last], reduced_[last]}}}};
    const std::array<std::int64_t, 2> ends{rank, other};
    const auto summed =
        sent(costs_.collective(Collective::all_reduce, units::Bytes{parameters * gradient_bytes()},
                               topology::shape_of(ends, job_.cluster)),
             FlowKind::tied, rank);
    const auto op = add_collective(sim::Lane::data, summed, data_comm, who, {label_tied_embedding});
    reduced_[first] = out_.program.event(op, 0);
    reduced_[last] = out_.program.event(op, 1);
  }
}

}  // namespace strategies

// SPDX-License-Identifier: Apache-2.0
#include "strategies/lowering/slots.hpp"

#include <utility>

#include "strategies/lowering/activation_offload.hpp"
#include "strategies/lowering/data_collectives.hpp"
#include "strategies/lowering/gradient_reduction.hpp"
#include "strategies/lowering/messages.hpp"
#include "strategies/lowering/packing.hpp"
#include "strategies/lowering/segments.hpp"
#include "strategies/lowering/sharding.hpp"
#include "strategies/lowering/state_offload.hpp"

namespace strategies {

using sim::EventId;

namespace {

// Whether the stage completes no more gradients of this chunk after the slot.
bool is_last_backward(const Slots& slots, int stage, const Slot& slot) {
  return slot ==
         slots.last_backward[static_cast<std::size_t>(stage)][static_cast<std::size_t>(slot.chunk)];
}

// The units that a slot's pass is cut into.
std::vector<PassUnit> units_in(const Cast& cast, int stage, const Slot& slot,
                               const SlotDuties& duties) {
  const auto& blocks = cast.blocks_in(stage, slot);
  const bool backward = slot.pass != Pass::forward;
  const bool communicates = duties.gathers || duties.reduces || duties.copies;
  auto units = cast.job.plan.zero == 3 ? units_of(cast, blocks, backward)
               : communicates          ? buckets_of(cast, blocks, backward)
                                       : std::vector<PassUnit>{PassUnit{blocks, {}, {}}};
  return duties.away ? cut_at_offloaded(cast, std::move(units), backward) : units;
}

// The collectives that run beside a unit.
Interference beside_unit(const Cast& cast, int stage, const std::vector<PassUnit>& units,
                         std::size_t unit, const SlotDuties& duties) {
  Interference all(cast.job.software);
  if (duties.gathers && unit + 1 < units.size())
    add_data_beside(all, cast, stage, units[unit + 1].gathers, DataCollective::gathers);
  if (duties.reduces && unit > 0)
    add_data_beside(all, cast, stage, units[unit - 1].reduces, DataCollective::reduces);
  return all;
}

// Gathers the parameters of a pass's units. Parameters on the host are read while the unit before
// them is gathered.
class Gathering {
 public:
  // `again`: the pass before ran the same virtual stage the other way round, and its last unit is
  // needed again.
  Gathering(Emitter& emitter, const Cast& cast, int stage, const std::vector<PassUnit>& units,
            bool again)
      : emitter_(emitter),
        cast_(cast),
        stage_(stage),
        units_(units),
        ahead_(prefetches(cast)),
        reads_(cast.job.plan.zero == 3 && host_parameters(cast)) {
    ends_ = {emitter.now(again ? &ActorClock::latest : &ActorClock::before_latest),
             emitter.now(&ActorClock::latest)};
  }

  void begin() {
    if (ahead_) read(0, 0);
    gather(0);
  }
  // Goes on after one more unit, which has been written.
  void advance(std::size_t unit) {
    ends_.push_back(emitter_.now(&ActorClock::latest));
    gather(unit + 1);
  }

 private:
  After after(std::size_t end) const {
    return [&events = ends_[end]](std::uint32_t actor) { return events[actor]; };
  }
  void read(std::size_t unit, std::size_t end) {
    if (reads_ && unit < units_.size() && units_[unit].gathers.all() > 0)
      read_parameters(emitter_, cast_, stage_, units_[unit].gathers, after(end));
  }
  void gather(std::size_t unit) {
    if (unit >= units_.size()) return;
    const auto end = gathers_after(cast_, units_, unit);
    if (!ahead_) read(unit, end);
    if (units_[unit].gathers.all() > 0)
      gather_parameters(emitter_, cast_, stage_, units_[unit].gathers, after(end));
    if (ahead_) read(unit + 1, unit);
  }

  Emitter& emitter_;
  const Cast& cast_;
  int stage_;
  const std::vector<PassUnit>& units_;
  bool ahead_, reads_;
  // Events by actor: before the last unit of the pass before, or after it where that is the unit
  // that is needed again; after that pass; after each unit of this one.
  std::vector<std::vector<EventId>> ends_;
};

// Whether the pass before this one on the stage ended with the unit that this one needs first.
bool begins_where_it_ended(const Slots& slots, int stage, const Slot& slot, std::size_t units) {
  const auto& last = slots.latest[static_cast<std::size_t>(stage)];
  return last && last->chunk == slot.chunk && last->pass != Pass::backward_weight &&
         ((last->pass == Pass::forward) != (slot.pass == Pass::forward) || units == 1);
}

void emit_units(Emitter& emitter, const Cast& cast, int stage, const Slot& slot,
                const SlotDuties& duties) {
  const bool forward = slot.pass == Pass::forward;
  const auto units = units_in(cast, stage, slot, duties);
  std::optional<Gathering> gathering;
  if (duties.gathers)
    gathering.emplace(emitter, cast, stage, units,
                      begins_where_it_ended(emitter.slots, stage, slot, units.size()));
  if (duties.away && !forward) fetch(emitter, cast, stage, slot, &ActorClock::before_latest);
  if (gathering) gathering->begin();
  for (std::size_t i = 0; i < units.size(); ++i) {
    const auto& blocks = units[i].blocks;
    if (duties.away) before_segment(emitter, cast, stage, slot, blocks);
    if (gathering) unpack_parameters(emitter, cast, stage, units[i].gathers, forward);
    emit_segment(emitter, cast, stage, slot, blocks, beside_unit(cast, stage, units, i, duties));
    if (duties.away && forward) copy_out(emitter, cast, stage, slot, blocks);
    if (gathering) gathering->advance(i);
    if (units[i].reduces.all() <= 0) continue;
    if (duties.reduces) reduce(emitter, cast, stage, units[i].reduces);
    if (duties.copies && cast.duties.beside) copy_gradients(emitter, cast, stage, units[i].reduces);
  }
}

}  // namespace

SlotDuties duties_of(const Emitter& emitter, const Cast& cast, int stage, const Slot& slot) {
  const auto& data = cast.duties;
  const bool shares = shares_parameters(cast, stage), forward = slot.pass == Pass::forward;
  const bool completes = !forward && slot.pass != Pass::backward_input;  // weight gradients
  const bool last = completes && is_last_backward(emitter.slots, stage, slot);
  const bool first = slot.microbatch == 0 || (cast.layout.kind == Layout::Kind::mirrored &&
                                              slot.microbatch == cast.microbatches.written / 2);
  const bool every = data.reduces == When::always;
  const bool again = slot.pass != Pass::backward_weight && data.gathers_again;
  SlotDuties duties;
  duties.gathers = (data.gathers == When::always && (forward || again)) ||
                   (data.gathers == When::once && forward && first);
  duties.gathers = duties.gathers && (divides_parameters(cast, stage) || host_parameters(cast));
  duties.reduces = shares && data.beside && (last || (completes && every));
  duties.reduces_after = shares && !data.beside && completes && every;
  duties.copies =
      host_optimizer(cast) && (last || (completes && every && cast.job.plan.offload.gradients));
  duties.away = cast.job.plan.offload.activations &&
                offloaded(cast, cast.blocks_in(stage, slot)) > 0 &&
                slot.pass != Pass::backward_weight;
  return duties;
}

void emit_passes(Emitter& emitter, const Cast& cast, int stage, const Slot& slot) {
  await_input(emitter, cast, stage, slot);
  const auto& blocks = cast.blocks_in(stage, slot);
  const auto duties = duties_of(emitter, cast, stage, slot);
  if (duties.gathers || duties.reduces || duties.away || (duties.copies && cast.duties.beside))
    emit_units(emitter, cast, stage, slot, duties);
  else
    emit_segment(emitter, cast, stage, slot, blocks, Interference(cast.job.software));
  emitter.slots.latest[static_cast<std::size_t>(stage)] = slot;
  if (duties.reduces_after) reduce(emitter, cast, stage, parameters_of(cast, blocks));
  if (duties.copies && !cast.duties.beside &&
      (duties.reduces_after || !shares_parameters(cast, stage)))
    copy_gradients(emitter, cast, stage, parameters_of(cast, blocks));
  if (duties.reduces_after)
    // Nothing runs beside it: the next pass waits.
    for_each_actor(cast, stage, [&](std::uint32_t actor) {
      emitter.clocks[actor].gathered = emitter.clocks[actor].reduced;
    });
}

}  // namespace strategies

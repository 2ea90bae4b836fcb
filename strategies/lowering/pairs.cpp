// SPDX-License-Identifier: Apache-2.0
#include "strategies/lowering/pairs.hpp"

#include <algorithm>
#include <utility>

#include "strategies/lowering/layer_exchanges.hpp"
#include "strategies/lowering/messages.hpp"
#include "strategies/lowering/segments.hpp"
#include "strategies/lowering/slots.hpp"

namespace strategies {

using sim::no_event;

namespace {

// Begins a pair of passes, each of which is slowed by what the other exchanges.
void begin_pair(Emitter& emitter, const Cast& cast, int stage, const Slot& forward,
                const Slot& backward) {
  const auto& ahead = cast.blocks_in(stage, forward);
  const auto& back = cast.blocks_in(stage, backward);
  const PairOfSegments pair{ahead, back};
  const Interference nothing(cast.job.software);
  begin_half(emitter, cast, stage, pair, Pass::forward, nothing);
  begin_half(emitter, cast, stage, pair, Pass::backward, nothing);
  const auto by_ahead = exchanges_in(emitter.running, cast, stage);
  const auto by_back = exchanges_in(emitter.beside, cast, stage);
  if (by_back.any()) begin_half(emitter, cast, stage, pair, Pass::forward, by_back);
  if (by_ahead.any()) begin_half(emitter, cast, stage, pair, Pass::backward, by_ahead);
}

// Notes the latest pass of the clocks as the one that ended beside the one to come.
void end_one_of_pair(Emitter& emitter, const Cast& cast, int stage) {
  for_each_actor(cast, stage, [&](std::uint32_t actor) {
    emitter.clocks[actor].ended_beside = emitter.clocks[actor].latest;
  });
}

void alternate(Emitter& emitter, const Cast& cast, int stage, const Slot& forward,
               const Slot& backward) {
  begin_pair(emitter, cast, stage, forward, backward);
  bool ended = false;
  for (std::size_t i = 0; i < std::max(emitter.running.count, emitter.beside.count); ++i)
    for (auto [run, slot] : {std::pair{&emitter.running, &forward}, {&emitter.beside, &backward}}) {
      if (i >= run->count) continue;
      if (i == 0) await_input(emitter, cast, stage, *slot);
      emit_piece(*run, emitter, cast, stage, *slot, i);
      emit_exchange(*run, emitter, cast, stage, *slot, i);
      if (i + 1 == run->count && !std::exchange(ended, true)) end_one_of_pair(emitter, cast, stage);
    }
}

void emit_pair(Emitter& emitter, const Cast& cast, int stage, const Slot& forward,
               const Slot& backward) {
  await_input(emitter, cast, stage, backward);
  for_each_actor(cast, stage, [&](std::uint32_t actor) {
    auto& clock = emitter.clocks[actor];
    if (clock.gathered == no_event) clock.gathered = clock.arrival;
  });
  if (duties_of(emitter, cast, stage, forward).any() ||
      duties_of(emitter, cast, stage, backward).any()) {
    emit_passes(emitter, cast, stage, forward);
    end_one_of_pair(emitter, cast, stage);
    emit_passes(emitter, cast, stage, backward);
  } else {
    alternate(emitter, cast, stage, forward, backward);
  }
  send_onwards(emitter, cast, stage, forward);
  send_onwards(emitter, cast, stage, backward);
  for_each_actor(cast, stage,
                 [&](std::uint32_t actor) { emitter.clocks[actor].ended_beside = no_event; });
}

}  // namespace

// Every stage's order is walked; mirrored stages are written with the lower one. Inputs of the
// upper one have been written then: they mirror those of the lower one.
void emit_slot(Emitter& emitter, const Cast& cast, int stage, const Slot& slot) {
  if (cast.placement.lead_of(stage) != stage) return;
  auto& first = emitter.slots.first_of_pair;
  if (slot.paired) {
    first = slot;
  } else if (first) {
    emit_pair(emitter, cast, stage, *first, slot);
    first.reset();
  } else {
    emit_passes(emitter, cast, stage, slot);
    send_onwards(emitter, cast, stage, slot);
  }
}

}  // namespace strategies

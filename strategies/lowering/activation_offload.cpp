// SPDX-License-Identifier: Apache-2.0
#include "strategies/lowering/activation_offload.hpp"

#include <algorithm>

namespace strategies {

using sim::EventId;
using sim::no_event;

namespace {

EventId copy(Emitter& emitter, const Cast& cast, sim::Lane lane, std::uint32_t actor,
             std::int64_t bytes, const Slot& slot, std::array<EventId, 2> after) {
  const auto time =
      to_ticks(cast.costs.host({.moved = {static_cast<double>(bytes)}}, cast.actors[actor].gpu));
  return emitter.work_of(actor, lane, time, offloading, after,
                         {label_offload, static_cast<std::int16_t>(slot.chunk), slot.microbatch});
}

// Lets the actor's next pass begin no earlier than `until`.
void hold(Emitter& emitter, std::uint32_t actor, EventId until) {
  if (until == no_event) return;
  auto& clock = emitter.clocks[actor];
  if (clock.gathered == no_event) {
    clock.gathered = until;
  } else if (clock.arrival == no_event) {
    clock.arrival = until;
  } else {
    clock.gathered = emitter.work_of(actor, sim::Lane::exchange, 0, offloading,
                                     {clock.gathered, until}, {label_offload});
  }
}

}  // namespace

void copy_out(Emitter& emitter, const Cast& cast, int stage, const Slot& slot,
              const Segment& segment) {
  const auto bytes = offloaded(cast, segment);
  if (bytes == 0) return;
  for_each_actor(cast, stage, [&](std::uint32_t actor) {
    auto& away = emitter.host_copies[actor];
    const auto copied = copy(emitter, cast, sim::Lane::offload, actor, bytes, slot,
                             {emitter.clocks[actor].latest, no_event});
    away.latest = {away.latest[1], copied};
    away.copies[{slot.chunk, slot.microbatch}].push_back({copied, bytes});
    away.held += bytes;
    away.most_held = std::max(away.most_held, away.held);
  });
}

void fetch(Emitter& emitter, const Cast& cast, int stage, const Slot& slot,
           EventId ActorClock::*ready) {
  for_each_actor(cast, stage, [&](std::uint32_t actor) {
    auto& away = emitter.host_copies[actor];
    auto& copies = away.copies[{slot.chunk, slot.microbatch}];
    if (copies.empty()) return;
    const auto [copied, bytes] = copies.back();
    copies.pop_back();
    away.fetched.push_back(copy(emitter, cast, sim::Lane::fetch, actor, bytes, slot,
                                {copied, emitter.clocks[actor].*ready}));
    away.held -= bytes;
  });
}

// A forward pass waits until the last layer but one is out of the way, a backward pass until the
// tensors that this layer kept are here.
void before_segment(Emitter& emitter, const Cast& cast, int stage, const Slot& slot,
                    const Segment& segment) {
  if (offloaded(cast, segment) == 0) return;
  const bool forward = slot.pass == Pass::forward;
  for_each_actor(cast, stage, [&](std::uint32_t actor) {
    auto& away = emitter.host_copies[actor];
    hold(emitter, actor, forward ? away.latest.front() : away.fetched.front());
    if (!forward) away.fetched.erase(away.fetched.begin());
  });
  if (!forward) fetch(emitter, cast, stage, slot, &ActorClock::latest);
}

}  // namespace strategies

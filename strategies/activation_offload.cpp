// SPDX-License-Identifier: Apache-2.0
// Activations in host memory. What a layer keeps is copied out when its forward pass is over, on a
// lane of its own, and fetched, on another (PCIe and NVLink-C2C carry both ways at once), when the
// backward pass reaches the layer behind it: one layer ahead. At most two layers' worth are on the
// device besides what stays there: a layer waits with its forward pass until the last but one
// before it has been copied out (Transformer Engine's cpu_offload double buffer). Copies do not
// meet what the NICs send.
#include <algorithm>

#include "strategies/lowering.hpp"

namespace strategies {

using sim::EventId;
using sim::no_event;

std::int64_t Lowering::offloaded(const Segment& segment) const {
  std::int64_t bytes = 0;
  for (const auto& block : segment) bytes += writers_.front()->cost(block).offloaded;
  return bytes;
}

bool Lowering::offloads(int virtual_stage) const {
  return job_.plan.offload.activations &&
         offloaded(blocks_[static_cast<std::size_t>(virtual_stage)]) > 0;
}

EventId Lowering::copy(sim::Lane lane, std::uint32_t actor, std::int64_t bytes, const Slot& slot,
                       std::array<EventId, 2> after) {
  const auto time =
      to_ticks(costs_.host({.moved = {static_cast<double>(bytes)}}, out_.actors[actor].gpu));
  const sim::Participant who{sim::ActorId{actor}, after};
  return out_.program.event(out_.program.add_collective(
      lane, time, offloading, {&who, 1},
      {label_offload, static_cast<std::int16_t>(slot.chunk), slot.microbatch}));
}

// The actor's next pass begins no earlier than this.
void Lowering::hold(std::uint32_t actor, EventId until) {
  if (until == no_event) return;
  auto& gathered = gathered_[actor];
  if (gathered == no_event) {
    gathered = until;
  } else if (arrival_[actor] == no_event) {
    arrival_[actor] = until;
  } else {
    const sim::Participant who{sim::ActorId{actor}, {gathered, until}};
    gathered = out_.program.event(out_.program.add_collective(sim::Lane::exchange, 0, offloading,
                                                              {&who, 1}, {label_offload}));
  }
}

void Lowering::copy_out(int stage, const Slot& slot, const Segment& segment) {
  const auto bytes = offloaded(segment);
  if (bytes == 0) return;
  for_each_actor(stage, [&](std::uint32_t actor) {
    auto& away = away_[actor];
    const auto copied = copy(sim::Lane::offload, actor, bytes, slot, {latest_[actor], no_event});
    away.latest = {away.latest[1], copied};
    away.copies[{slot.chunk, slot.microbatch}].push_back({copied, bytes});
    away.held += bytes;
    auto& most = out_.actors[actor].host_activations;
    most = std::max(most, units::Bytes{static_cast<double>(away.held)});
  });
}

// Of the layer that the backward pass reaches next; `ready`: by actor, what comes before.
void Lowering::fetch(int stage, const Slot& slot, const std::vector<EventId>& ready) {
  for_each_actor(stage, [&](std::uint32_t actor) {
    auto& away = away_[actor];
    auto& copies = away.copies[{slot.chunk, slot.microbatch}];
    if (copies.empty()) return;
    const auto [copied, bytes] = copies.back();
    copies.pop_back();
    away.fetched.push_back(copy(sim::Lane::fetch, actor, bytes, slot, {copied, ready[actor]}));
    away.held -= bytes;
  });
}

// Forward: the last layer but one is out of the way. Backward: what this layer kept is here.
void Lowering::before_segment(int stage, const Slot& slot, const Segment& segment) {
  if (offloaded(segment) == 0) return;
  const bool forward = slot.pass == Pass::forward;
  for_each_actor(stage, [&](std::uint32_t actor) {
    auto& [copies, latest, fetched, held] = away_[actor];
    hold(actor, forward ? latest.front() : fetched.front());
    if (!forward) fetched.erase(fetched.begin());
  });
  if (!forward) fetch(stage, slot, latest_);
}

}  // namespace strategies

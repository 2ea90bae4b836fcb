// SPDX-License-Identifier: Apache-2.0
#include "strategies/lowering/emitter.hpp"

namespace strategies {

using sim::EventId;
using sim::no_event;

Emitter::Emitter(const Cast& cast)
    : bodies(cast, program),
      clocks(cast.actors.size()),
      inputs(cast.actors.size()),
      host_copies(cast.actors.size()) {
  for (const auto& link : cast.folding.links()) program.add_link(link.capacity);
  const auto count =
      static_cast<std::size_t>(cast.chunks()) * static_cast<std::size_t>(cast.microbatches.written);
  for (auto& [forward, backward, loaded] : inputs) {
    forward.assign(count, no_event);
    backward.assign(count, no_event);
  }
  sendings.messages.resize(2 * cast.actors.size());
  slots.latest.resize(static_cast<std::size_t>(cast.stages()));
}

std::vector<EventId> Emitter::now(EventId ActorClock::*which) const {
  std::vector<EventId> events;
  events.reserve(clocks.size());
  for (const auto& clock : clocks) events.push_back(clock.*which);
  return events;
}

EventId Emitter::pass_of(std::uint32_t actor, sim::TemplateId body, std::array<EventId, 2> after,
                         sim::Label label) {
  const sim::Participant who{sim::ActorId{actor}, after};
  clocks[actor].latest = program.event(program.add_pass(body, {&who, 1}, label));
  return clocks[actor].latest;
}

EventId Emitter::work_of(std::uint32_t actor, sim::Lane lane, sim::Picoseconds duration,
                         sim::Activity activity, std::array<EventId, 2> after, sim::Label label) {
  const sim::Participant who{sim::ActorId{actor}, after};
  return program.event(program.add_collective(lane, duration, activity, {&who, 1}, label));
}

sim::OpId Emitter::collective(sim::Lane lane, const Sent& sent, sim::Activity activity,
                              std::span<const sim::Participant> who, sim::Label label) {
  const auto op = program.add_collective(lane, sent.fixed, activity, who, label);
  if (sent.traffic != sim::no_traffic) program.send_over_links(op, sent.traffic);
  if (sent.asked != 0) program.name_last(sent.asked);
  return op;
}

Sent Emitter::sent(const Cast& cast, const topology::Sending& sending, FlowKind flow,
                   std::int64_t rank) {
  const auto& links = cast.folding.uses(flow, rank);
  if (links.empty() || sending.bytes.value <= 0)
    return {to_ticks(sending.time()), sim::no_traffic, sending.asked};
  const double fan_out = cast.folding.fan_out(flow, rank);
  return {to_ticks(sending.fixed),
          program.add_traffic({links, sending.bytes.value / fan_out, sending.rate.value / fan_out}),
          sending.asked};
}

}  // namespace strategies

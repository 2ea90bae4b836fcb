// SPDX-License-Identifier: Apache-2.0
#include "strategies/lowering/data_collectives.hpp"

namespace strategies {

using sim::no_event;

namespace {

Sent data_sent(Emitter& emitter, const Cast& cast, const Group& group, const Shared& what,
               bool gathers) {
  const auto traffic = cast.traffic();
  const auto sending = gathers ? traffic.gathering(group, what) : traffic.reduction(group, what);
  return emitter.sent(cast, sending, traffic.flow_of(group, gathers), group.rank);
}

void add_collectives(Emitter& emitter, const Cast& cast, const std::vector<Group>& groups,
                     const Shared& what, bool gathers, LabelKind label, const After& after) {
  std::vector<sim::Participant> who;
  for (const auto& group : groups) {
    if (gathers && cast.traffic().shards_of(group) == 1) {
      if (host_parameters(cast))
        for (auto actor : group.actors) emitter.clocks[actor].gathered = emitter.clocks[actor].read;
      continue;
    }
    who.clear();
    for (auto actor : group.actors)
      who.push_back(
          {sim::ActorId{actor}, {after(actor), gathers ? emitter.clocks[actor].read : no_event}});
    auto [known, fresh] = emitter.sendings.collectives.try_emplace({&group, what, gathers});
    if (fresh) known->second = data_sent(emitter, cast, group, what, gathers);
    const auto op = emitter.collective(sim::Lane::data, known->second, data_comm, who, {label});
    for (std::uint32_t i = 0; i < who.size(); ++i) {
      auto& clock = emitter.clocks[group.actors[i]];
      (gathers ? clock.gathered : clock.reduced) = emitter.program.event(op, i);
    }
  }
}

}  // namespace

void add_data_collectives(Emitter& emitter, const Cast& cast, int stage,
                          const Parameters& parameters, DataCollective what, LabelKind label,
                          const After& after) {
  const bool gathers = what == DataCollective::gathers;
  add_collectives(emitter, cast, cast.groups_at(FlowKind::ring, stage),
                  parameters.of(Held::with_layer), gathers, label, after);
  if (parameters.apart > 0)
    add_collectives(emitter, cast, cast.groups_at(FlowKind::expert_ring, stage),
                    parameters.of(Held::apart), gathers, label, after);
}

void add_data_beside(Interference& beside, const Cast& cast, int stage,
                     const Parameters& parameters, DataCollective what) {
  const auto add = [&](const std::vector<Group>& groups, const Shared& shared) {
    if (groups.empty()) return;
    const auto& group = groups.front();
    const auto traffic = cast.traffic();
    beside.add(what == DataCollective::gathers ? traffic.gathering(group, shared)
                                               : traffic.reduction(group, shared));
  };
  add(cast.groups_at(FlowKind::ring, stage), parameters.of(Held::with_layer));
  if (parameters.apart > 0)
    add(cast.groups_at(FlowKind::expert_ring, stage), parameters.of(Held::apart));
}

void gather_parameters(Emitter& emitter, const Cast& cast, int stage, const Parameters& parameters,
                       const After& after) {
  if (shares_parameters(cast, stage))
    return add_data_collectives(emitter, cast, stage, parameters, DataCollective::gathers,
                                label_gather_parameters, after);
  for_each_actor(cast, stage, [&](std::uint32_t actor) {
    emitter.clocks[actor].gathered = emitter.clocks[actor].read;
  });
}

}  // namespace strategies

// SPDX-License-Identifier: Apache-2.0
#include "strategies/lowering/layer_exchanges.hpp"

#include <algorithm>
#include <utility>

namespace strategies {

using sim::no_event;

namespace {

LabelKind label_of_exchange(FlowKind exchange) {
  switch (exchange) {
    case FlowKind::context:
      return label_context_exchange;
    case FlowKind::expert:
      return label_expert_exchange;
    default:
      return label_exchange;
  }
}

// The slowest of the exchanges of a group's members: what they do besides can depend on where they
// lie.
const Exchange& exchange_of(const SegmentRun& run, const Group& group, std::size_t index) {
  const auto of = [&](std::size_t writer) -> const Exchange& {
    return *(*run.pieces[writer])[index].then;
  };
  const auto slower = [&](std::size_t a, std::size_t b) {
    const auto &x = of(a).sending, &y = of(b).sending;
    return std::pair(x.time(), x.fixed) < std::pair(y.time(), y.fixed);
  };
  return of(*std::ranges::max_element(group.writers, slower));
}

}  // namespace

void emit_exchange(SegmentRun& run, Emitter& emitter, const Cast& cast, int stage, const Slot& slot,
                   std::size_t index) {
  const auto& first = *run.pieces[cast.cells_at(stage).front().writers.front()];
  if (!first[index].then) return;
  const auto kind = first[index].then->group;
  for (const auto& group : cast.groups_at(kind, stage)) {
    const auto& exchange = exchange_of(run, group, index);
    const auto its = run_by(cast, group.stage, slot);
    run.who.clear();
    for (auto actor : group.actors)
      run.who.push_back({sim::ActorId{actor}, {emitter.clocks[actor].latest, no_event}});
    auto [known, fresh] = emitter.sendings.exchanges.try_emplace({&group, &exchange});
    if (fresh) known->second = emitter.sent(cast, exchange.sending, kind, group.rank);
    const auto op = emitter.collective(
        sim::Lane::exchange, known->second, exchange.activity, run.who,
        {label_of_exchange(kind), static_cast<std::int16_t>(its.chunk), its.microbatch});
    for (std::uint32_t i = 0; i < run.who.size(); ++i) {
      const auto actor = group.actors[i];
      run.exchanged[index][actor] = emitter.program.event(op, i);
      if (index + 1 == first.size()) emitter.clocks[actor].latest = emitter.program.event(op, i);
    }
  }
}

Interference exchanges_in(const SegmentRun& run, const Cast& cast, int stage) {
  Interference all(cast.job.software);
  for (const auto& piece : *run.pieces[cast.cells_at(stage).front().writers.front()])
    if (piece.then) all.add(piece.then->sending);
  return all;
}

}  // namespace strategies

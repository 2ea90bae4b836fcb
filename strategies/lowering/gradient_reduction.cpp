// SPDX-License-Identifier: Apache-2.0
// Volumes per step in units of the parameters, m microbatches: plain and ZeRO-1 2 (3 where ZeRO-1
// all-reduces); ZeRO-2 m + 1 (it reduces every microbatch); ZeRO-3 3m, or 2m without resharding:
// passes of weight gradients alone read no parameters. Reduced once a step: 2; 2m + 1, or 2.
//
// Overlapped, gradients are reduced bucket by bucket as the backward pass fills them; a collective
// on the data lane begins when the last of its ranks has filled the bucket. Parameters held apart
// have sharers of their own (groups.hpp), and collectives after the others'. Ranks that have parts
// of the same sequences (context parallelism) hold the same parameters: they sum gradients and
// share states as replicas do.
#include "strategies/lowering/gradient_reduction.hpp"

#include <array>
#include <set>
#include <utility>

#include "strategies/lowering/data_collectives.hpp"
#include "strategies/lowering/packing.hpp"
#include "strategies/lowering/state_offload.hpp"

namespace strategies {

void reduce(Emitter& emitter, const Cast& cast, int stage, const Parameters& parameters) {
  pack_gradients(emitter, cast, stage, parameters);
  add_data_collectives(emitter, cast, stage, parameters, DataCollective::reduces,
                       label_reduce_gradients, emitter.after(&ActorClock::latest));
}

void finish_gradients(Emitter& emitter, const Cast& cast) {
  if (cast.duties.beside || cast.duties.reduces == When::always) return;
  for (int stage = 0; stage < cast.stages(); ++stage) {
    if (!shares_parameters(cast, stage)) continue;
    reduce(emitter, cast, stage, parameters_of(cast, stage));
    if (host_optimizer(cast)) copy_gradients(emitter, cast, stage, parameters_of(cast, stage));
  }
}

void sum_tied_embedding(Emitter& emitter, const Cast& cast) {
  if (!copies_embedding(cast.job.model, cast.layout)) return;
  const units::Bytes size{summed_words(cast.job.plan, cast.shards, embedding_words(cast)) *
                          cast.traffic().gradient_bytes()};
  std::set<std::pair<std::uint32_t, std::uint32_t>> done;
  for (auto rank : cast.folding.ranks()) {
    auto where = cast.placement.at(rank);
    if (where.pipeline != 0) continue;
    where.pipeline = cast.stages() - 1;
    const std::array<std::int64_t, 2> ranks{rank, cast.placement.rank_of(where)};
    const std::array<std::uint32_t, 2> ends{cast.folding.actor_of(ranks[0]),
                                            cast.folding.actor_of(ranks[1])};
    if (!done.emplace(ends[0], ends[1]).second) continue;
    auto &first = emitter.clocks[ends[0]], &last = emitter.clocks[ends[1]];
    const std::array<sim::Participant, 2> who{
        {{sim::ActorId{ends[0]}, {first.latest, first.reduced}},
         {sim::ActorId{ends[1]}, {last.latest, last.reduced}}}};
    const auto sending = cast.costs.collective(topology::Collective::all_reduce, size,
                                               topology::shape_of(ranks, cast.job.cluster));
    const auto summed = emitter.sent(cast, sending, FlowKind::tied, rank);
    const auto op =
        emitter.collective(sim::Lane::data, summed, data_comm, who, {label_tied_embedding});
    first.reduced = emitter.program.event(op, 0);
    last.reduced = emitter.program.event(op, 1);
  }
}

}  // namespace strategies

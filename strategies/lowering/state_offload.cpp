// SPDX-License-Identifier: Apache-2.0
#include "strategies/lowering/state_offload.hpp"

#include "plans/memory.hpp"

namespace strategies {

using sim::no_event;

namespace {

// Lets every actor of the stage ask its host for `work` after its event in `after`; the end is in
// `done` of its clock.
void ask_host(Emitter& emitter, const Cast& cast, int stage, const topology::OffloadWork& work,
              const After& after, sim::EventId ActorClock::*done) {
  for_each_actor(cast, stage, [&](std::uint32_t actor) {
    const auto time = to_ticks(cast.costs.host(work, cast.actors[actor].gpu));
    emitter.clocks[actor].*done = emitter.work_of(actor, sim::Lane::offload, time, offloading,
                                                  {after(actor), no_event}, {label_offload});
  });
}

// Bytes of the parameters whose states one rank keeps.
units::Bytes share_bytes(const Cast& cast, const Parameters& parameters) {
  return units::Bytes{owned_parameters(parameters, cast.shards) * cast.traffic().parameter_bytes()};
}

// The update of one actor's share on its host.
topology::OffloadWork update_of(const Cast& cast, const ActorFacts& facts) {
  const auto& job = cast.job;
  const auto& offload = job.plan.offload;
  const double share = owned_parameters(facts.held.parameters, cast.shards);
  const units::Bytes weights{share * cast.traffic().parameter_bytes()};
  topology::OffloadWork work{
      .touched = {share * host_traffic(job.plan, job.training, job.software)}};
  if (offload.parameters == Offload::Tier::none) work.moved = weights;
  if (offload.parameters == Offload::Tier::nvme) work.written = weights;
  if (offload.optimizer == Offload::Tier::nvme) {
    const units::Bytes states{share * state_bytes(job.plan, job.training, job.software)};
    work.read = states;
    work.written += states;
  }
  return work;
}

}  // namespace

void read_parameters(Emitter& emitter, const Cast& cast, int stage, const Parameters& parameters,
                     const After& after) {
  topology::OffloadWork work{.moved = share_bytes(cast, parameters)};
  if (cast.job.plan.offload.parameters == Offload::Tier::nvme) work.read = work.moved;
  ask_host(emitter, cast, stage, work, after, &ActorClock::read);
}

void copy_gradients(Emitter& emitter, const Cast& cast, int stage, const Parameters& parameters) {
  const auto after = shares_parameters(cast, stage) ? &ActorClock::reduced : &ActorClock::latest;
  ask_host(emitter, cast, stage, {.moved = share_bytes(cast, parameters)}, emitter.after(after),
           &ActorClock::copied);
}

// Every rank waits for the norm, and for its gradients.
void update_on_hosts(Emitter& emitter, const Cast& cast) {
  for (std::uint32_t actor = 0; actor < cast.actors.size(); ++actor) {
    const auto& facts = cast.actors[actor];
    auto& clock = emitter.clocks[actor];
    const auto time = to_ticks(cast.costs.host(update_of(cast, facts), facts.gpu));
    clock.reduced = emitter.work_of(
        actor, sim::Lane::offload, time, offloading,
        {clock.reduced == no_event ? clock.latest : clock.reduced, clock.copied}, {label_offload});
  }
}

void return_parameters(Emitter& emitter, const Cast& cast) {
  for (int stage = 0; stage < cast.stages(); ++stage) {
    topology::OffloadWork work{.moved = share_bytes(cast, parameters_of(cast, stage))};
    if (cast.job.plan.offload.parameters == Offload::Tier::nvme) work.written = work.moved;
    ask_host(emitter, cast, stage, work, emitter.after(&ActorClock::latest), &ActorClock::copied);
  }
}

}  // namespace strategies

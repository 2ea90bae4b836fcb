// SPDX-License-Identifier: Apache-2.0
#include "strategies/lowering/packing.hpp"

#include "plans/holdings.hpp"
#include "plans/memory.hpp"

namespace strategies {

void unpack_parameters(Emitter& emitter, const Cast& cast, int stage, const Parameters& parameters,
                       bool forward) {
  const auto& job = cast.job;
  const double bytes =
      copied_parameter_traffic(job.plan, job.software, cast.traffic().parameter_bytes()) *
      not_whole(parameters, cast.shards, false);
  if (bytes <= 0) return;
  for_each_actor(cast, stage, [&](std::uint32_t actor) {
    auto& clock = emitter.clocks[actor];
    const auto body = emitter.bodies.packing(bytes, forward, cast.actors[actor].gpu);
    emitter.pass_of(actor, body, {clock.arrival, clock.gathered}, {label_gather_parameters});
    clock.arrival = clock.gathered = sim::no_event;
  });
}

void pack_gradients(Emitter& emitter, const Cast& cast, int stage, const Parameters& parameters) {
  const auto& job = cast.job;
  const double gradient = cast.traffic().gradient_bytes();
  const double bytes = packing_traffic(job.plan, job.training, gradient) * parameters.all() +
                       copied_gradient_traffic(job.plan, job.training, job.software, gradient) *
                           not_whole(parameters, cast.shards, false);
  if (bytes <= 0) return;
  for_each_actor(cast, stage, [&](std::uint32_t actor) {
    const auto body = emitter.bodies.packing(bytes, false, cast.actors[actor].gpu);
    emitter.pass_of(actor, body, {emitter.clocks[actor].latest, sim::no_event},
                    {label_reduce_gradients});
  });
}

}  // namespace strategies

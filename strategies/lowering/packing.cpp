// SPDX-License-Identifier: Apache-2.0
#include "strategies/lowering/packing.hpp"

#include "plans/holdings.hpp"
#include "plans/memory.hpp"

namespace strategies {

namespace {

// Adds a pass of every actor of the stage that moves `bytes`, after `after`.
void move(Emitter& emitter, const Cast& cast, int stage, double bytes, LabelKind label,
          const After& after) {
  for_each_actor(cast, stage, [&](std::uint32_t actor) {
    const auto body = emitter.bodies.packing(bytes, cast.actors[actor].gpu);
    emitter.pass_of(actor, body, {emitter.clocks[actor].latest, after(actor)}, {label});
  });
}

}  // namespace

void unpack_parameters(Emitter& emitter, const Cast& cast, int stage,
                       const Parameters& parameters) {
  const auto& job = cast.job;
  const double bytes =
      copied_parameter_traffic(job.plan, job.software, cast.traffic().parameter_bytes()) *
      not_whole(parameters, cast.shards, false);
  if (bytes <= 0) return;
  move(emitter, cast, stage, bytes, label_gather_parameters, emitter.after(&ActorClock::gathered));
  for_each_actor(cast, stage,
                 [&](std::uint32_t actor) { emitter.clocks[actor].gathered = sim::no_event; });
}

void pack_gradients(Emitter& emitter, const Cast& cast, int stage, const Parameters& parameters) {
  const auto& job = cast.job;
  const double gradient = cast.traffic().gradient_bytes();
  const double packed = packing_traffic(job.plan, job.training, gradient);
  const double copied = copied_gradient_traffic(job.plan, job.training, job.software, gradient);
  const double bytes =
      packed > 0 ? packed * parameters.all() : copied * not_whole(parameters, cast.shards, false);
  if (bytes <= 0) return;
  move(emitter, cast, stage, bytes, label_reduce_gradients,
       [](std::uint32_t) { return sim::no_event; });
}

}  // namespace strategies

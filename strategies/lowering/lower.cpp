// SPDX-License-Identifier: Apache-2.0
#include "strategies/lowering/lower.hpp"

#include <utility>

#include "plans/schedules/walk.hpp"
#include "strategies/lowering/casting.hpp"
#include "strategies/lowering/emitter.hpp"
#include "strategies/lowering/gradient_reduction.hpp"
#include "strategies/lowering/lower_limits.hpp"
#include "strategies/lowering/optimizer_step.hpp"
#include "strategies/lowering/pairs.hpp"
#include "strategies/lowering/step_order.hpp"

namespace strategies {

namespace {

void emit_step(Emitter& emitter, const Cast& cast) {
  // Every slot is a pass and, mostly, a transfer of two events.
  const auto slots = 2 * cast.actors.size() * static_cast<std::size_t>(cast.layout.parts()) *
                     static_cast<std::size_t>(cast.microbatches);
  emitter.program.reserve(2 * slots, 3 * slots);
  walk(emitter.slots.order, cast.layout, static_cast<int>(cast.microbatches),
       [&](int stage, const Slot& slot) { emit_slot(emitter, cast, stage, slot); });
  finish_gradients(emitter, cast);
  sum_tied_embedding(emitter, cast);
  unscale(emitter, cast);
  if (!post_validates(cast.job.plan, cast.job.software)) sum_gradient_norm(emitter, cast);
  update_parameters(emitter, cast);
}

Lowered result_of(Emitter& emitter, const Cast& cast) {
  Lowered result{.order = std::move(emitter.slots.order),
                 .actors = cast.actors,
                 .inside = cast.inside,
                 .links = cast.folding.links(),
                 .microbatches = cast.microbatches,
                 .writer = cast.writers.front(),
                 .shards = cast.shards};
  result.program = std::move(emitter.program);
  for (const auto& link : result.links)
    result.link_names.push_back(cast.folding.ports().name(link.port));
  for (std::size_t actor = 0; actor < result.actors.size(); ++actor)
    result.actors[actor].host_activations =
        units::Bytes{static_cast<double>(emitter.host_copies[actor].most_held)};
  return result;
}

}  // namespace

Lowered lower(const Job& job, const Costs& costs, Ranks ranks, KnownOrders* orders) {
  check_numbers(job);
  const auto cast = cast_of(job, costs, ranks);
  Emitter emitter(*cast);
  find_order(emitter, *cast, orders);
  check_size(*cast, ranks);
  emit_step(emitter, *cast);
  check_length(*cast, emitter.program);
  check_links(*cast, emitter.program);
  return result_of(emitter, *cast);
}

}  // namespace strategies

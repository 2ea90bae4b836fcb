// SPDX-License-Identifier: Apache-2.0
#include "strategies/lowering/lower.hpp"

#include <algorithm>
#include <utility>

#include "plans/schedules/periods.hpp"
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
  // Marks where the first stage begins the forward passes of a new period.
  const auto period = period_of(cast.job.plan.schedule, cast.stages());
  const bool both_ways = cast.layout.kind == Layout::Kind::mirrored;
  std::int64_t begun = 0;
  const auto mark_period = [&](int stage, const Slot& slot) {
    if (stage != 0 || slot.chunk != 0 || slot.pass != Pass::forward || period == 0) return;
    if (begun++ % (both_ways ? period / 2 : period) == 0) emitter.program.mark();
  };
  // Every slot is a pass and, mostly, a transfer of two events.
  const auto slots = 2 * cast.actors.size() * static_cast<std::size_t>(cast.layout.parts()) *
                     static_cast<std::size_t>(cast.microbatches.written);
  emitter.program.reserve(2 * slots, 3 * slots);
  walk(emitter.slots.order, cast.layout, static_cast<int>(cast.microbatches.written),
       [&](int stage, const Slot& slot) {
         mark_period(stage, slot);
         emit_slot(emitter, cast, stage, slot);
       });
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
                 .microbatches = cast.microbatches.all,
                 .written = cast.microbatches.written,
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

Lowering::Lowering(const Job& job, const Costs& costs, Ranks ranks, KnownOrders* orders)
    : ranks_(ranks), orders_(orders) {
  check_numbers(job);
  cast_ = cast_of(job, costs, ranks);
}
Lowering::Lowering(Lowering&&) noexcept = default;
Lowering::~Lowering() = default;

Lowered Lowering::whole() { return write(cast_->microbatches.all, 0); }

std::optional<Lowered> Lowering::shortened(std::int64_t enlarged) {
  const auto& job = cast_->job;
  const auto all = cast_->microbatches.all, stages = std::int64_t{cast_->stages()};
  const auto period = period_of(job.plan.schedule, stages);
  // A replica with a slow GPU and the others drift apart until they meet after the last pass.
  const bool drifts = !job.cluster.stragglers.empty() && job.plan.data > 1;
  if (period == 0 || drifts) return {};
  auto enough = enlarged * period * periods_to_steady(job.plan.schedule, stages);
  if (const auto& loader = job.software.data_loader) enough += std::min(loader->prefetch, all);
  auto left_out = (all - enough) / period;
  // Time may recur only after several periods: the number left out of many is one that these
  // divide.
  for (const std::int64_t divisor : {12, 4, 2})
    if (left_out >= 4 * divisor) {
      left_out -= left_out % divisor;
      break;
    }
  const auto written = all - left_out * period;
  // An attempt may be in vain, and a second one costs more.
  const bool worth_it = enlarged == 1 ? 3 * written <= 2 * all : 4 * written <= all;
  if (left_out < 1 || !worth_it) return {};
  return write(written, left_out);
}

Lowered Lowering::write(std::int64_t microbatches, std::int64_t left_out) {
  cast_->microbatches.written = microbatches;
  Emitter emitter(*cast_);
  find_order(emitter, *cast_, orders_);
  check_size(*cast_, ranks_);
  emit_step(emitter, *cast_);
  emitter.program.leave_out(left_out);
  check_length(*cast_, emitter.program);
  check_links(*cast_, emitter.program);
  return result_of(emitter, *cast_);
}

Lowered lower(const Job& job, const Costs& costs, Ranks ranks, KnownOrders* orders) {
  return Lowering(job, costs, ranks, orders).whole();
}

}  // namespace strategies

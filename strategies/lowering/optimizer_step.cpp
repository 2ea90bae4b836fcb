// SPDX-License-Identifier: Apache-2.0
#include "strategies/lowering/optimizer_step.hpp"

#include <map>
#include <optional>
#include <utility>

#include "plans/memory.hpp"
#include "strategies/lowering/data_collectives.hpp"
#include "strategies/lowering/state_offload.hpp"
#include "strategies/replica_costs.hpp"

namespace strategies {

using units::Kernel;

namespace {

// Sophia estimates the Hessian's diagonal in every tenth step; on the average that costs this share
// of the forward and backward passes (Liu et al. 2023, section 2.2).
constexpr double hessian_share = 0.05;

Kernel stream(double bytes) { return {.kind = Kernel::Kind::stream, .traffic = {bytes}}; }

// Adds a sum of a few bytes over all ranks.
void meet(Emitter& emitter, const Cast& cast, units::Bytes size) {
  if (cast.placement.ranks() == 1) return;
  std::vector<sim::Participant> who;
  for (std::uint32_t actor = 0; actor < cast.actors.size(); ++actor)
    who.push_back(
        {sim::ActorId{actor}, {emitter.clocks[actor].latest, emitter.clocks[actor].reduced}});
  const auto sending =
      cast.costs.collective(topology::Collective::all_reduce, size, everyone(cast.job.cluster));
  const auto op = emitter.collective(sim::Lane::data,
                                     {to_ticks(sending.time()), sim::no_traffic, sending.asked},
                                     data_comm, who, {label_gradient_norm});
  for (std::uint32_t actor = 0; actor < who.size(); ++actor)
    emitter.clocks[actor].reduced = emitter.program.event(op, actor);
}

// Runs a pass on an actor once its gradients are reduced.
void add_update(Emitter& emitter, std::uint32_t actor, sim::TemplateId body) {
  const auto& clock = emitter.clocks[actor];
  emitter.pass_of(actor, body, {clock.reduced, clock.latest}, {label_optimizer});
}

// The time of the forward and the backward pass of one microbatch.
sim::Picoseconds passes_of(const Cast& cast, std::uint32_t actor) {
  sim::Picoseconds sum = 0;
  for (int chunk = 0; chunk < cast.chunks(); ++chunk)
    for (auto pass : {Pass::forward, Pass::backward})
      sum += spent_alone(written(cast, cast.writer_of[actor],
                                 cast.blocks_at(cast.actors[actor].stage, chunk), pass))
                 .total();
  return sum;
}

struct Orthogonalising {
  sim::Picoseconds time = 0;
  std::optional<Kernel> largest;  // of its products
};

// ZeRO divides dense matrices over all that share them, experts over fewer.
Orthogonalising newton_schulz(const Cast& cast, const ActorFacts& facts) {
  std::optional<Kernel> largest;
  const auto time = [&](const std::vector<Kernel>& products) {
    sim::Picoseconds sum = 0;
    for (const auto& product : products) {
      sum += to_ticks(cast.costs.kernel(product, facts.gpu));
      if (!largest || product.flops > largest->flops) largest = product;
    }
    return newton_schulz_steps * sum;
  };
  std::map<Block, std::int64_t> blocks;
  for (int chunk = 0; chunk < cast.chunks(); ++chunk)
    for (const auto& block : cast.blocks_at(facts.stage, chunk)) ++blocks[block];
  sim::Picoseconds with_layer = 0, apart = 0;
  for (const auto& [block, count] : blocks) {
    const auto& cost = cast.writers.front()->cost(block);
    with_layer += count * time(cost.newton_schulz);
    apart += count * time(cost.apart_newton_schulz);
  }
  return {with_layer / cast.shards.with_layer + apart / cast.shards.apart, largest};
}

// Bytes that the device reads and writes for the update of its share.
double update_bytes(const Cast& cast, const ActorFacts& facts) {
  const auto& plan = cast.job.plan;
  const auto& training = cast.job.training;
  const auto& software = cast.job.software;
  const double share = owned_parameters(facts.held.parameters, cast.shards);
  const auto& held = facts.held;
  const double narrow = owned_parameters(
      {.with_layer = held.cast - held.cast_apart, .apart = held.cast_apart}, cast.shards);
  double bytes =
      share > 0 ? share * optimizer_traffic(plan, training, software, narrow / share) : 0;
  if (host_optimizer(cast))  // the device only zeroes the gradients
    bytes = plan.offload.gradients ? 0
                                   : kept_gradient_bytes(plan, training, software) *
                                         (plan.zero >= 2 ? share : facts.held.parameters.all());
  if (shares_parameters(cast, facts.stage))
    bytes += share * unpacking_traffic(plan, training, cast.traffic().gradient_bytes());
  return bytes;
}

sim::Template update_body(const Cast& cast, std::uint32_t actor) {
  const auto& facts = cast.actors[actor];
  const auto optimizer = cast.job.training.optimizer;
  const auto step = [&](sim::Picoseconds duration) {
    return sim::Step{.activity = optimizer_compute, .duration = duration};
  };
  sim::Template update{.drains = true};
  auto& steps = update.steps;
  steps = {step(to_ticks(cast.costs.kernel(stream(update_bytes(cast, facts)), facts.gpu)))};
  const auto& software = cast.job.software;
  steps.front().issue = to_ticks(cast.costs.by_host(
      software.step_overhead +
      owned_tensors(facts.held.parameters, cast.shards) * software.step_overhead_per_tensor));
  if (optimizer == Optimizer::sophia)
    steps.push_back(step(static_cast<sim::Picoseconds>(
        hessian_share * static_cast<double>(cast.microbatches.all * passes_of(cast, actor)))));
  if (optimizer == Optimizer::muon) {
    const auto products = newton_schulz(cast, facts);
    steps.push_back(step(products.time));
    if (const auto asked = products.largest ? cast.costs.asked(*products.largest, facts.gpu) : 0) {
      update.asked.resize(steps.size());
      update.asked.back() = asked;
    }
  }
  return update;
}

// Muon needs whole matrices of momentum, in 16 bit; ZeRO cuts them.
void gather_matrices(Emitter& emitter, const Cast& cast) {
  if (cast.job.training.optimizer != Optimizer::muon || cast.job.plan.zero == 0) return;
  for (auto& clock : emitter.clocks) clock.gathered = sim::no_event;
  for (int stage = 0; stage < cast.stages(); ++stage)
    for (const auto& actor : cast.actors)
      if (actor.stage == stage) {
        add_data_collectives(emitter, cast, stage, actor.held.matrices, DataCollective::gathers,
                             label_gather_parameters, emitter.after(&ActorClock::reduced));
        break;
      }
  // An actor that shares with nobody has whole matrices, and waits as it did before.
  for (auto& clock : emitter.clocks)
    if (clock.gathered != sim::no_event) clock.reduced = clock.gathered;
}

}  // namespace

void sum_gradient_norm(Emitter& emitter, const Cast& cast) {
  meet(emitter, cast, units::Bytes{8.0});
}

void unscale(Emitter& emitter, const Cast& cast) {
  if (cast.job.training.precision != units::Precision::fp16) return;
  std::map<std::pair<int, Gpu>, sim::TemplateId> bodies;
  for (std::uint32_t actor = 0; actor < cast.actors.size() && !host_optimizer(cast); ++actor) {
    const auto& facts = cast.actors[actor];
    auto [known, fresh] = bodies.try_emplace({facts.stage, facts.gpu});
    if (fresh) {
      const auto sweep = stream(2 * cast.traffic().gradient_bytes() *
                                owned_parameters(facts.held.parameters, cast.shards));
      known->second = emitter.program.add_template(
          {.steps = {{.activity = optimizer_compute,
                      .issue = to_ticks(cast.costs.by_host(cast.job.software.launch_forward)),
                      .duration = to_ticks(cast.costs.kernel(sweep, facts.gpu))}}});
    }
    add_update(emitter, actor, known->second);
  }
  meet(emitter, cast, units::Bytes{4.0});
}

void update_parameters(Emitter& emitter, const Cast& cast) {
  gather_matrices(emitter, cast);
  if (host_optimizer(cast)) update_on_hosts(emitter, cast);
  // Bodies by stage and writer: estimates of Sophia take as long as the passes that a rank's groups
  // allow.
  std::map<std::pair<int, std::size_t>, sim::TemplateId> bodies;
  for (std::uint32_t actor = 0; actor < cast.actors.size(); ++actor) {
    auto [known, fresh] = bodies.try_emplace({cast.actors[actor].stage, cast.writer_of[actor]});
    if (fresh) known->second = emitter.program.add_template(update_body(cast, actor));
    add_update(emitter, actor, known->second);
  }
  if (host_parameters(cast) && !host_optimizer(cast)) return_parameters(emitter, cast);
  if (!cast.duties.gathers_after) return;
  for (int stage = 0; stage < cast.stages(); ++stage)
    add_data_collectives(emitter, cast, stage, parameters_of(cast, stage), DataCollective::gathers,
                         label_gather_parameters, emitter.after(&ActorClock::latest));
}

}  // namespace strategies

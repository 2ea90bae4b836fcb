// SPDX-License-Identifier: Apache-2.0
// After the last gradient: scaling undone (fp16), the norm of all gradients, the update, and the
// parameters' way back. Gradients that travel compressed are packed here too.
#include <algorithm>
#include <map>

#include "plans/memory.hpp"
#include "strategies/lowering.hpp"
#include "strategies/sharing.hpp"

namespace strategies {

using topology::Collective;
using units::Kernel;

namespace {

// Sophia estimates the Hessian's diagonal in every tenth step; on the average that costs this share
// of the forward and backward passes (Liu et al. 2023, section 2.2).
constexpr double hessian_share = 0.05;

Kernel stream(double bytes) { return {.kind = Kernel::Kind::stream, .traffic = {bytes}}; }

}  // namespace

void Lowering::meet(units::Bytes size, sim::Label label) {
  if (placement_.ranks() == 1) return;
  std::vector<sim::Participant> who;
  for (std::uint32_t actor = 0; actor < out_.actors.size(); ++actor)
    who.push_back({sim::ActorId{actor}, {latest_[actor], reduced_[actor]}});
  const auto time =
      to_ticks(costs_.collective(Collective::all_reduce, size, everyone(job_.cluster)).time());
  const auto op = out_.program.add_collective(sim::Lane::data, time, data_comm, who, label);
  for (std::uint32_t actor = 0; actor < who.size(); ++actor)
    reduced_[actor] = out_.program.event(op, actor);
}

// Clipping needs the norm of all gradients: every rank waits for every other.
void Lowering::gradient_norm() { meet(units::Bytes{8.0}, {label_gradient_norm}); }

void Lowering::add_update(std::uint32_t actor, sim::TemplateId body, LabelKind label) {
  const sim::Participant who{sim::ActorId{actor}, {reduced_[actor], latest_[actor]}};
  latest_[actor] = out_.program.event(out_.program.add_pass(body, {&who, 1}, {label}));
}

// fp16 gradients were scaled to keep them from underflow: all are divided again, and every rank
// must know whether any of them overflowed before it may update anything. A host that updates
// divides them itself.
void Lowering::unscale() {
  if (job_.training.precision != units::Precision::fp16) return;
  std::map<std::pair<int, Gpu>, sim::TemplateId> bodies;
  for (std::uint32_t actor = 0; actor < out_.actors.size() && !host_optimizer(); ++actor) {
    const auto& facts = out_.actors[actor];
    auto [known, fresh] = bodies.try_emplace({facts.stage, facts.gpu});
    if (fresh) {
      const auto sweep = stream(2 * gradient_bytes() * share_of(facts.held.parameters));
      known->second = out_.program.add_template(
          {.steps = {{.activity = optimizer_compute,
                      .issue = to_ticks(job_.software.launch_forward),
                      .duration = to_ticks(costs_.kernel(sweep, facts.gpu))}}});
    }
    add_update(actor, known->second, label_optimizer);
  }
  meet(units::Bytes{4.0}, {label_gradient_norm});
}

// Packs the gradients of a stage before they are sent, after its last pass.
void Lowering::compress(int stage, double parameters) {
  const double traffic = packing_traffic(job_.plan, job_.training, gradient_bytes());
  if (traffic <= 0) return;
  for (auto index : cells_of_stage_[static_cast<std::size_t>(stage)])
    for (auto actor : cells_[index].actors) {
      const auto& gpu = out_.actors[actor].gpu;
      auto [body, fresh] = packing_.try_emplace({parameters, gpu});
      if (fresh)
        body->second = out_.program.add_template(
            {.steps = {{.activity = data_comm,
                        .issue = to_ticks(job_.software.launch_backward),
                        .duration = to_ticks(costs_.kernel(stream(traffic * parameters), gpu))}}});
      const sim::Participant who{sim::ActorId{actor}, {latest_[actor], sim::no_event}};
      latest_[actor] = out_.program.event(
          out_.program.add_pass(body->second, {&who, 1}, {label_reduce_gradients}));
    }
}

// The forward and the backward pass of one microbatch.
sim::Picoseconds Lowering::passes_of(std::uint32_t actor) const {
  sim::Picoseconds sum = 0;
  for (int chunk = 0; chunk < chunks(); ++chunk) {
    const auto v = virtual_stage_of(out_.actors[actor].stage, chunk, layout_);
    for (auto pass : {Pass::forward, Pass::backward})
      sum += alone(written(writer_of_actor_[actor], blocks_[static_cast<std::size_t>(v)], pass, {}))
                 .total();
  }
  return sum;
}

// ZeRO divides dense matrices over all that share them, experts over fewer.
sim::Picoseconds Lowering::newton_schulz(std::uint32_t actor) const {
  const auto& facts = out_.actors[actor];
  const auto time = [&](const std::vector<units::Kernel>& products) {
    sim::Picoseconds sum = 0;
    for (const auto& product : products) sum += to_ticks(costs_.kernel(product, facts.gpu));
    return newton_schulz_steps * sum;
  };
  std::map<Block, std::int64_t> blocks;
  for (int chunk = 0; chunk < chunks(); ++chunk)
    for (const auto& block :
         blocks_[static_cast<std::size_t>(virtual_stage_of(facts.stage, chunk, layout_))])
      ++blocks[block];
  sim::Picoseconds with_layer = 0, apart = 0;
  for (const auto& [block, count] : blocks) {
    const auto& cost = writers_.front()->cost(block);
    with_layer += count * time(cost.newton_schulz);
    apart += count * time(cost.apart_newton_schulz);
  }
  return with_layer / out_.shards.with_layer + apart / out_.shards.apart;
}

std::vector<sim::Step> Lowering::optimizer_steps(std::uint32_t actor) const {
  const auto& facts = out_.actors[actor];
  const auto& plan = job_.plan;
  const auto& training = job_.training;
  const auto& software = job_.software;
  const double share = share_of(facts.held.parameters);
  double bytes = share * optimizer_traffic(plan, training, software);
  if (host_optimizer())  // what stays here is to zero the gradients
    bytes = plan.offload.gradients ? 0
                                   : kept_gradient_bytes(plan, training, software) *
                                         (plan.zero >= 2 ? share : facts.held.parameters.all());
  if (shares_parameters(facts.stage))
    bytes += share * unpacking_traffic(plan, training, gradient_bytes());
  const auto step = [&](sim::Picoseconds duration) {
    return sim::Step{.activity = optimizer_compute, .duration = duration};
  };
  std::vector<sim::Step> steps{step(to_ticks(costs_.kernel(stream(bytes), facts.gpu)))};
  steps.front().issue = to_ticks(software.step_overhead);
  if (training.optimizer == Optimizer::sophia)
    steps.push_back(step(static_cast<sim::Picoseconds>(
        hessian_share * static_cast<double>(out_.microbatches * passes_of(actor)))));
  if (training.optimizer == Optimizer::muon) steps.push_back(step(newton_schulz(actor)));
  return steps;
}

// Muon needs whole matrices of momentum, in 16 bit; ZeRO cuts them.
void Lowering::gather_matrices() {
  if (job_.training.optimizer != Optimizer::muon || job_.plan.zero == 0) return;
  std::ranges::fill(gathered_, sim::no_event);
  for (int stage = 0; stage < stages(); ++stage)
    for (const auto& actor : out_.actors)
      if (actor.stage == stage) {
        data_collective(stage, actor.held.matrices, true, label_gather_parameters, reduced_);
        break;
      }
  // Who shares with nobody has whole matrices, and waits as others do.
  for (std::size_t actor = 0; actor < reduced_.size(); ++actor)
    if (gathered_[actor] != sim::no_event) reduced_[actor] = gathered_[actor];
}

void Lowering::optimizer() {
  gather_matrices();
  if (host_optimizer()) host_step();
  // Of each stage and writer: estimates take as long as the passes that a rank's groups allow.
  std::map<std::pair<int, std::size_t>, sim::TemplateId> bodies;
  for (std::uint32_t actor = 0; actor < out_.actors.size(); ++actor) {
    auto [known, fresh] = bodies.try_emplace({out_.actors[actor].stage, writer_of_actor_[actor]});
    if (fresh)
      known->second = out_.program.add_template({.steps = optimizer_steps(actor), .drains = true});
    add_update(actor, known->second, label_optimizer);
  }
  if (host_parameters() && !host_optimizer()) return_parameters();
  if (!data_duties_.gathers_after) return;
  for (int stage = 0; stage < stages(); ++stage)
    data_collective(stage, parameters_of(stage), true, label_gather_parameters, latest_);
}

}  // namespace strategies

// SPDX-License-Identifier: Apache-2.0
// After the last gradient: the norm of all gradients, the update, and the parameters' way back.
#include <algorithm>
#include <map>

#include "strategies/lowering.hpp"
#include "strategies/memory.hpp"

namespace strategies {

using topology::Collective;

namespace {

topology::GroupShape everyone(const topology::Cluster& cluster) {
  const auto per_node = std::min<std::int64_t>(cluster.node.gpus, cluster.gpus);
  const auto on_last = cluster.gpus - (cluster.nodes() - 1) * cluster.node.gpus;
  return {.ranks = static_cast<int>(cluster.gpus),
          .nodes = static_cast<int>(cluster.nodes()),
          .least_per_node = static_cast<int>(std::min(per_node, on_last)),
          .most_per_node = static_cast<int>(per_node),
          .parts = (1u << cluster.kinds()) - 1};
}

}  // namespace

// Clipping needs the norm of all gradients: every rank waits for every other.
void Lowering::gradient_norm() {
  if (placement_.ranks() == 1) return;
  std::vector<sim::Participant> who;
  for (std::uint32_t actor = 0; actor < out_.actors.size(); ++actor)
    who.push_back({sim::ActorId{actor}, {latest_[actor], reduced_[actor]}});
  const auto time = to_ticks(
      costs_.collective(Collective::all_reduce, units::Bytes{8.0}, everyone(job_.cluster)).time());
  const auto op =
      out_.program.add_collective(sim::Lane::data, time, data_comm, who, {label_gradient_norm});
  for (std::uint32_t actor = 0; actor < who.size(); ++actor)
    reduced_[actor] = out_.program.event(op, actor);
}

void Lowering::optimizer() {
  std::map<std::pair<double, Gpu>, sim::TemplateId> bodies;
  for (std::uint32_t actor = 0; actor < out_.actors.size(); ++actor) {
    const auto& gpu = out_.actors[actor].gpu;
    const double parameters = out_.actors[actor].parameters / out_.data_shards;
    auto found = bodies.find({parameters, gpu});
    if (found == bodies.end()) {
      const units::Kernel sweep{
          .kind = units::Kernel::Kind::stream,
          .traffic = {parameters * optimizer_traffic(job_.training, job_.software)}};
      const auto id =
          out_.program.add_template({.steps = {{.activity = optimizer_compute,
                                                .issue = to_ticks(job_.software.step_overhead),
                                                .duration = to_ticks(costs_.kernel(sweep, gpu))}},
                                     .drains = true});
      found = bodies.emplace(std::pair{parameters, gpu}, id).first;
    }
    const sim::Participant who{sim::ActorId{actor}, {reduced_[actor], latest_[actor]}};
    latest_[actor] =
        out_.program.event(out_.program.add_pass(found->second, {&who, 1}, {label_optimizer}));
  }
  const auto zero = job_.plan.zero;
  if (placement_.sharers() == 1 || zero == 0 || zero == 3 || overlaps_parameters()) return;
  for (int stage = 0; stage < stages(); ++stage)
    for (const auto& actor : out_.actors)
      if (actor.stage == stage) {
        data_collective(stage, actor.parameters, true, label_gather_parameters, latest_);
        break;
      }
}

}  // namespace strategies

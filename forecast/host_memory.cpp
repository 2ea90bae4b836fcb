// SPDX-License-Identifier: Apache-2.0
#include "forecast/host_memory.hpp"

#include "plans/memory.hpp"
#include "plans/placement.hpp"

namespace forecast {

using units::Bytes;

namespace {

struct HostOutside {
  Bytes host, nvme;
};

// Returns the bytes that the plan keeps off the device of one rank.
HostOutside held_on_host(const Scenario& scenario, const strategies::ActorFacts& actor,
                         const strategies::Shards& shards) {
  const auto states = strategies::static_memory(actor.held, shards, scenario.plan,
                                                scenario.training, scenario.software);
  return {states.host + actor.host_activations, states.nvme};
}

// Keeps in `most` and `capacity` the node with the larger share of its capacity in use; clears
// `fits` if that is too small.
void compare(Bytes held, Bytes there, Bytes& most, Bytes& capacity, bool& fits) {
  if (held > there) fits = false;
  if (capacity.value > 0 && held / there <= most / capacity) return;
  most = held;
  capacity = there;
}

}  // namespace

void add_host_memory(Memory& memory, const Scenario& scenario, const strategies::Lowered& lowered) {
  const auto& cluster = scenario.cluster;
  memory.host_capacity = cluster.node.host.memory;
  memory.nvme_capacity = cluster.node.nvme.capacity;
  if (scenario.plan.offload == strategies::Offload{}) return;
  std::vector<HostOutside> of_stage(static_cast<std::size_t>(scenario.plan.pipeline));
  for (const auto& actor : lowered.actors)
    of_stage[static_cast<std::size_t>(actor.stage)] = held_on_host(scenario, actor, lowered.shards);
  const strategies::Placement placement(scenario.plan);
  memory.host_capacity = memory.nvme_capacity = {};
  for (std::int64_t first = 0; first < cluster.gpus; first += cluster.node.gpus) {
    HostOutside node;
    for (auto rank = first; rank < std::min(cluster.gpus, first + cluster.node.gpus); ++rank) {
      const auto& held = of_stage[static_cast<std::size_t>(placement.at(rank).pipeline)];
      node.host += held.host;
      node.nvme += held.nvme;
    }
    const auto& kind = cluster.node_of(first);
    compare(node.host, kind.host.memory, memory.host, memory.host_capacity, memory.host_fits);
    compare(node.nvme, kind.nvme.capacity, memory.nvme, memory.nvme_capacity, memory.host_fits);
  }
}

}  // namespace forecast

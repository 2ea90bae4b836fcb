// SPDX-License-Identifier: Apache-2.0
// What ZeRO leaves whole: everything where a rank is the only one of its node that could share.
#include "strategies/memory.hpp"
#include "tests/catch.hpp"
#include "tests/strategies/counting.hpp"

using namespace strategies;
using counting::World;

namespace {

struct OnNodes {
  int gathers = 0, shards = 0;
  StaticMemory memory;
  double parameters = 0;
};

// Four replicas on nodes of so many GPUs, sharded within these.
OnNodes on_nodes_of(int gpus, int zero) {
  World world;
  world.plan = {.data = 4, .zero = zero, .shard_group = ShardGroup::node};
  topology::Cluster cluster;
  cluster.node.gpus = gpus;
  cluster.node.nics.count = gpus;
  cluster.node.nvlink.bandwidth = cluster.node.nics.bandwidth =
      cluster.fabric.link_bandwidth = {25e9};
  cluster.gpus = 4;
  const auto result = lower({world.model, world.training, world.plan, world.software, cluster},
                            counting::costs(), Ranks::folded);
  OnNodes found{.shards = result.data_shards, .parameters = result.actors.front().parameters};
  for (const auto& label : result.program.labels())
    found.gathers += label.kind == label_gather_parameters;
  found.memory = static_memory(result.actors.front(), world.plan, world.training, world.software,
                               result.data_shards);
  return found;
}

}  // namespace

TEST_CASE("sharding within a node of one rank divides nothing, and nothing is gathered") {
  const int zero = GENERATE(1, 2, 3);
  const auto alone = on_nodes_of(1, zero);
  CHECK(alone.shards == 1);
  CHECK(alone.gathers == 0);
  CHECK(alone.memory.weights.value == 2 * alone.parameters);
  CHECK(alone.memory.gradients.value == 4 * alone.parameters);
  CHECK(alone.memory.gathered.value == 0);
  const auto two = on_nodes_of(2, zero);
  CHECK(two.shards == 2);
  CHECK(two.gathers > 0);
}

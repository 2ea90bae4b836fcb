// SPDX-License-Identifier: Apache-2.0
// The memory that ZeRO leaves whole: gradients that wait to be reduced, and everything where a rank
// is the only one of its node that could share.
#include "plans/memory.hpp"
#include "tests/catch.hpp"
#include "tests/strategies/counting.hpp"

namespace sharded_memory_spec {

using namespace strategies;
using counting::World;

namespace {

struct OnNodes {
  int gathers = 0, shards = 0;
  StaticMemory memory;
  double parameters = 0;
};

// Four replicas on nodes of `gpus` GPUs, with states sharded inside of nodes.
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
  OnNodes found{.shards = result.shards.with_layer,
                .parameters = result.actors.front().held.parameters.all()};
  for (const auto& label : result.program.labels())
    found.gathers += label.kind == label_gather_parameters;
  found.memory = static_memory(result.actors.front().held, result.shards, world.plan,
                               world.training, world.software);
  return found;
}

double unreduced(const World& world) { return counting::lowered(world).actors[0].held.unreduced; }

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

// Gradients take 2 bytes on the wire, so a bucket of 1000 bytes has 500 of them.
TEST_CASE("ZeRO-2 holds two buckets of whole gradients, and no more than there are") {
  World world;
  world.plan = {.data = 4, .zero = 2, .bucket = units::Bytes{1000}};
  CHECK(unreduced(world) == 1000);
  world.plan.bucket = units::Bytes{1e12};
  const auto all = counting::lowered(world).actors[0].held.parameters.all();
  CHECK(unreduced(world) == all);
  world.plan.data = 1;  // no replica to reduce with
  CHECK(unreduced(world) == 0);
}

TEST_CASE("reduced after a pass, one bucket or unit at a time is whole") {
  World world;
  world.plan = {.data = 4, .zero = 2, .bucket = units::Bytes{1000}};
  world.plan.overlap.data = false;
  CHECK(unreduced(world) == 500);
  world.plan.zero = 3;
  const auto without = unreduced(world);
  world.plan.overlap.data = true;
  CHECK(unreduced(world) == without);
}

TEST_CASE("whole gradients take the bytes of the gradients that stay") {
  const Holding actor{.parameters = {1e9}, .unreduced = 1e8};
  const Training training{.sequence_length = 1, .global_batch = 8};
  const auto memory = static_memory(actor, {8, 8}, {.data = 8, .zero = 2}, training, {});
  CHECK(memory.gradients.value == 4e9 / 8);
  CHECK(memory.gathered.value == 4e8);
}

}  // namespace sharded_memory_spec

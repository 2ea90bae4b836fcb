// SPDX-License-Identifier: Apache-2.0
// Ranks that share parameters, and how many of them a node has.
#include "plans/placement.hpp"
#include "plans/shard_groups.hpp"
#include "tests/catch.hpp"

namespace placement_spec {

using namespace strategies;

namespace {

// A plan whose ranks are numbered over tensor, context, data and pipeline in the usual order.
Plan shared(ScheduleKind schedule = ScheduleKind::one_f_one_b) {
  return {.tensor = 2, .pipeline = 2, .data = 2, .context = 3, .schedule = schedule};
}

topology::Cluster nodes(std::int64_t count, int gpus) {
  topology::Cluster cluster;
  cluster.node.gpus = gpus;
  cluster.gpus = count * gpus;
  return cluster;
}

}  // namespace

TEST_CASE("sharers are numbered from 0 in the order of their ranks, and found by their number") {
  const Placement placement(shared());
  REQUIRE(placement.sharers() == 6);
  for (std::int64_t rank = 0; rank < placement.ranks(); ++rank) {
    const auto at = placement.at(rank);
    CHECK(placement.rank_of_sharer(placement.index_of_sharer(at), at) == rank);
    CHECK(placement.index_of_sharer(placement.at(placement.rank_of_sharer(0, at))) == 0);
    for (std::int64_t i = 1; i < placement.sharers(); ++i)
      CHECK(placement.rank_of_sharer(i - 1, at) < placement.rank_of_sharer(i, at));
  }
}

TEST_CASE("the ranks that hold the same experts are found by their number, mirrored stages too") {
  auto plan = shared(GENERATE(ScheduleKind::one_f_one_b, ScheduleKind::dualpipe));
  plan.expert = 4;
  plan.expert_tensor = 1;
  const Placement placement(plan);
  for (std::int64_t rank = 0; rank < placement.ranks(); ++rank)
    CHECK(placement.rank_of_apart_sharer(placement.index_of_apart_sharer(rank), rank) == rank);
}

TEST_CASE("every node divides states over as many ranks where stages fill nodes") {
  CHECK(shards_alike({.tensor = 2, .data = 8}, nodes(2, 8)));
  // Stages of six ranks on nodes of four have four ranks on one node and two on another.
  CHECK_FALSE(shards_alike({.pipeline = 2, .data = 6}, nodes(3, 4)));
  // There are two stages of three ranks: the first lies on one node, the second on two.
  CHECK_FALSE(shards_alike({.pipeline = 2, .data = 3}, nodes(2, 4)));
  // Every third of 24 ranks shares a group, so nodes of eight have 3, 3 and 2 of it.
  CHECK_FALSE(shards_alike({.tensor = 3, .data = 8}, nodes(3, 8)));
}

TEST_CASE("shard groups are equal parts of nodes, or fill several") {
  const Plan plan{.tensor = 2, .data = 12};  // four on each of three nodes
  for (const int ranks : {1, 2, 4, 12}) CHECK(groups_fill_nodes(plan, ranks, nodes(3, 8)));
  for (const int ranks : {3, 6}) CHECK_FALSE(groups_fill_nodes(plan, ranks, nodes(3, 8)));
}

// Twelve sharers, four on each of three nodes.
TEST_CASE("halves of a group are the ranks of a shard group, and those of one place in each") {
  const topology::GroupShape shape{
      .ranks = 12, .nodes = 3, .least_per_node = 4, .most_per_node = 4};
  const auto half = [](int ranks, int nodes, int per_node) {
    return topology::GroupShape{
        .ranks = ranks, .nodes = nodes, .least_per_node = per_node, .most_per_node = per_node};
  };
  CHECK(halves_of(shape, 4).inside == half(4, 1, 4));
  CHECK(halves_of(shape, 4).across == half(3, 3, 1));
  CHECK(halves_of(shape, 2).inside == half(2, 1, 2));
  CHECK(halves_of(shape, 2).across == half(6, 3, 2));
  CHECK(halves_of(shape, 12).inside == half(12, 3, 4));
  CHECK(halves_of(shape, 12).across == half(1, 1, 1));
  CHECK(halves_of(shape, 1).across == shape);
}

}  // namespace placement_spec

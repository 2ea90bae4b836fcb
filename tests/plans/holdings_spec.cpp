// SPDX-License-Identifier: Apache-2.0
// The parameters that ranks hold and share, by pencil: 16 GPUs are two nodes of eight.
#include "plans/holdings.hpp"
#include "plans/shard_groups.hpp"
#include "tests/catch.hpp"

namespace holdings_spec {

using namespace strategies;

namespace {

topology::Cluster cluster_of(std::int64_t gpus) {
  topology::Cluster cluster;
  cluster.gpus = gpus;
  cluster.node.gpus = 8;
  return cluster;
}

Shards shards_of(const Plan& plan) {
  const Placement placement(plan);
  return strategies::shards_of(plan, placement, cluster_of(placement.ranks()));
}

}  // namespace

TEST_CASE(
    "ZeRO divides states over all ranks with the same parameters, those on a node, or groups") {
  CHECK(shards_of({.data = 16}) == Shards{1, 1});
  CHECK(shards_of({.data = 16, .zero = 1}) == Shards{16, 16});
  CHECK(shards_of({.tensor = 2, .data = 8, .zero = 3}) == Shards{8, 8});
  CHECK(shards_of({.tensor = 2, .data = 4, .context = 2, .zero = 1}) == Shards{8, 8});
  Plan in_node{.tensor = 2, .data = 8, .zero = 1, .shard_group = ShardGroup::node};
  CHECK(shards_of(in_node) == Shards{4, 4});
  // Groups that a node holds two of, or that two nodes hold, as FSDP's mesh of 4 x 2 or 1 x 8.
  Plan in_groups{.tensor = 2, .data = 8, .zero = 1, .shard_group = ShardGroup::of(2)};
  CHECK(shards_of(in_groups) == Shards{2, 2});
  in_groups.shard_group = ShardGroup::of(8);
  CHECK(shards_of(in_groups) == Shards{8, 8});
  // With replicas first in the order, each node has the eight replicas of one tensor-parallel rank.
  in_node.rank_order = {Degree::data, Degree::tensor, Degree::context, Degree::expert,
                        Degree::pipeline};
  CHECK(shards_of(in_node) == Shards{8, 8});
}

TEST_CASE("experts that are spread are divided over the ranks that hold the same ones") {
  CHECK(shards_of({.data = 16, .expert = 4, .zero = 1}) == Shards{16, 4});
  CHECK(shards_of({.tensor = 2, .data = 8, .expert_tensor = 1, .zero = 1}) == Shards{8, 16});
  // Layers in groups of one rank instead of two have twice the replicas.
  CHECK(shards_of({.tensor = 2, .data = 8, .zero = 1, .layer_tensor = 1}) == Shards{8, 16});
}

TEST_CASE("shard groups keep as many copies of experts as of all else") {
  // Four ranks hold the same experts; two copies leave each to two of them, four copies to one.
  Plan plan{.data = 16, .expert = 4, .zero = 1, .shard_group = ShardGroup::of(8)};
  CHECK(shards_of(plan) == Shards{8, 2});
  plan.shard_group = ShardGroup::of(4);
  CHECK(shards_of(plan) == Shards{4, 1});
  plan.shard_group = ShardGroup::node;
  CHECK(shards_of(plan) == Shards{8, 2});
  Plan whole{
      .tensor = 2, .data = 8, .expert_tensor = 1, .zero = 3, .shard_group = ShardGroup::of(4)};
  CHECK(shards_of(whole) == Shards{4, 8});  // twice the sharers: experts have one rank, not two
  Plan regrouped{.tensor = 2, .data = 8, .zero = 1, .layer_tensor = 1};
  regrouped.shard_group = ShardGroup::of(2);
  CHECK(shards_of(regrouped) == Shards{2, 16});  // all sharers of regrouped layers
}

TEST_CASE("a shard group holds all experts, each as often") {
  const auto holds = [](std::int64_t expert, ShardGroup group) {
    const Plan plan{.data = 16, .expert = expert, .zero = 1, .shard_group = group};
    return groups_hold_all_parts(plan, cluster_of(16));
  };
  CHECK(holds(4, ShardGroup::of(4)));
  CHECK(holds(8, ShardGroup::node));
  CHECK_FALSE(holds(8, ShardGroup::of(4)));
  CHECK_FALSE(holds(16, ShardGroup::node));
  CHECK(holds(16, ShardGroup::all));
}

TEST_CASE("a rank keeps a part of the parameters that others hold too") {
  const Parameters held{.with_layer = 32, .apart = 8};
  CHECK(owned_parameters(held, {16, 4}) == 2 + 2);
  CHECK(not_whole(held, {16, 1}, false) == 32);
  CHECK(not_whole(held, {1, 4}, false) == 8);
  CHECK(not_whole(held, {1, 1}, false) == 0);
  CHECK(not_whole(held, {1, 1}, true) == 40);
}

TEST_CASE("a rank has a communicator for each group of several ranks, and for the job") {
  const auto count = [](const Plan& plan, bool apart = false) {
    return communicators(Placement(plan), apart);
  };
  CHECK(count({}) == 0);
  CHECK(count({.data = 2}) == 1 + 1);
  CHECK(count({.tensor = 2, .pipeline = 2, .data = 2, .context = 2}) == 4 + 1);
  CHECK(count({.data = 4, .expert = 2}) == 2 + 1);
  CHECK(count({.data = 4, .expert = 2}, true) == 3 + 1);
  CHECK(count({.data = 4, .expert = 4}, true) == 2 + 1);  // no other rank has a rank's experts
}

TEST_CASE("the head shares the embedding where one device has both, or holds a copy of it") {
  model::Transformer tied, apart, predicting;
  tied.tied_embeddings = true;
  apart.tied_embeddings = predicting.tied_embeddings = false;
  predicting.multi_token_prediction = 1;
  const Layout one{.stages = 1}, two{.stages = 2}, v{Layout::Kind::v, 2, 2},
      mirrored{Layout::Kind::mirrored, 2, 2};
  for (const auto& layout : {one, v, mirrored}) {
    CHECK(embeds_and_predicts(layout));
    CHECK_FALSE(copies_embedding(tied, layout));
    CHECK(beside_head(tied, layout, 100).with_layer == -100);
    CHECK(beside_head(predicting, layout, 100).with_layer == 0);
  }
  CHECK_FALSE(embeds_and_predicts(two));
  CHECK(copies_embedding(tied, two));
  CHECK(beside_head(tied, two, 100).with_layer == 0);  // the head's own parameters are the copy
  CHECK(copies_embedding(predicting, two));
  CHECK(beside_head(predicting, two, 100).with_layer == 100);
  CHECK_FALSE(copies_embedding(apart, two));
  CHECK(summed_words({.zero = 1}, {4, 4}, 100) == 100);
  CHECK(summed_words({.zero = 2}, {4, 4}, 100) == 25);
}

// Four tensor-parallel ranks hold each expert twice where its ranks are two times one; a layer
// regrouped by two lies on two of the four ranks, and on the other two again.
TEST_CASE("gradients are summed by all holders of layers, experts or regrouped layers") {
  CHECK(holders_of({.tensor = 4}) == Shards{1, 1});
  CHECK(holders_of({.tensor = 4, .data = 2, .context = 3}) == Shards{6, 6});
  CHECK(holders_of({.tensor = 4, .expert = 2, .expert_tensor = 1}) == Shards{1, 2});
  CHECK(holders_of({.tensor = 4, .expert = 4, .expert_tensor = 1}) == Shards{1, 1});
  CHECK(holders_of({.tensor = 4, .layer_tensor = 2}) == Shards{1, 2});
  CHECK(holders_of({.pipeline = 2, .schedule = ScheduleKind::dualpipe}) == Shards{2, 2});
  CHECK(holders_of({.data = 2, .expert = 8}) == Shards{2, 2});  // no ranks for all experts
  CHECK_FALSE(sums_gradients({.tensor = 4}));
  CHECK(sums_gradients({.tensor = 4, .expert = 2, .expert_tensor = 1}));
  CHECK(sums_gradients({.tensor = 4, .layer_tensor = 2}));
}

}  // namespace holdings_spec

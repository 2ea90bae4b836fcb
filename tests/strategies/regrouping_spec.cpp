// SPDX-License-Identifier: Apache-2.0
// Layers with a smaller tensor degree than the plan's: a microbatch of two samples of 32 tokens of
// 64 values, on groups of four ranks that are split into two groups of two.
#include <algorithm>
#include <vector>

#include "strategies/regrouping.hpp"
#include "tests/catch.hpp"
#include "tests/strategies/small_world.hpp"

namespace regrouping_spec {

using namespace strategies;
using namespace tests;

namespace {

struct SmallerGroups : World {
  Block layer{.kind = Block::Kind::layer, .regrouped = true};
  Block alone_in_its_stage{.kind = Block::Kind::layer,
                           .regrouped = true,
                           .regroups_before = true,
                           .regroups_after = true};

  explicit SmallerGroups(bool sequence_parallel) {
    plan = {.tensor = 4,
            .sequence_parallel = sequence_parallel,
            .micro_batch = 2,
            .layers = {{0, 0, {}, 2}},
            .layer_tensor = 2};
    training.global_batch = 2;
  }
  PassWriter writer(const Costs& costs) const {
    auto share = World::share();
    share.tensor_shape.ranks = 4;
    share.apart_tensor_shape.ranks = share.regrouping_shape.ranks = 2;
    return {share, costs, {{layer, alone_in_its_stage}}};
  }
};

constexpr Pass all_passes[] = {Pass::backward, Pass::backward_input, Pass::backward_weight};

}  // namespace

TEST_CASE("inside of a smaller group a layer takes and holds as much as in a plan of that degree") {
  const SmallerGroups four(GENERATE(false, true));
  World two = four;
  two.plan = {.tensor = 2, .data = 2, .sequence_parallel = four.plan.sequence_parallel};
  auto share = two.share();
  share.tensor_shape.ranks = 2;
  const auto costs = costs_of(flops_of, sent);
  const Block layer{.kind = Block::Kind::layer};
  const PassWriter usual(share, costs, {{layer}});
  const auto regrouped = four.writer(costs);
  CHECK(spent_alone(regrouped.forward({four.layer})).on == spent_alone(usual.forward({layer})).on);
  for (const auto pass : all_passes)
    CHECK(spent_alone(regrouped.backward({four.layer}, pass)).on ==
          spent_alone(usual.backward({layer}, pass)).on);
  CHECK(regrouped.cost(four.layer).kept == usual.cost(layer).kept);
  CHECK(regrouped.cost(four.layer).parameters.all() == usual.cost(layer).parameters.all());
}

TEST_CASE("every rank trades its part of the rows on the way in and out, and of their gradients") {
  const SmallerGroups world(true);
  const auto writer = world.writer(costs_of());
  // A rank has a quarter of two samples of 32 tokens of 64 values of 2 bytes.
  const sim::Picoseconds part = 2 * 32 * 64 * 2 / 4;
  const auto forward = [&](const Block& block) {
    return spent_alone(writer.forward({block})).on[forward_tensor_comm];
  };
  const auto backward = [&](const Block& block, Pass pass) {
    return spent_alone(writer.backward({block}, pass)).on[backward_tensor_comm];
  };
  CHECK(forward(world.alone_in_its_stage) == forward(world.layer) + 2 * part);
  for (const auto pass : {Pass::backward, Pass::backward_input})
    CHECK(backward(world.alone_in_its_stage, pass) == backward(world.layer, pass) + 2 * part);
  CHECK(backward(world.alone_in_its_stage, Pass::backward_weight) ==
        backward(world.layer, Pass::backward_weight));
}

TEST_CASE("where ranks have whole rows, only the rows that they left out are gathered") {
  const SmallerGroups world(false);
  const auto writer = world.writer(costs_of());
  const sim::Picoseconds rows = 2 * 32 * 64 * 2;
  auto first = world.layer, last = world.layer;
  first.regroups_before = last.regroups_after = true;
  const PassWriter both(
      [&] {
        auto share = world.share();
        share.tensor_shape.ranks = 4;
        share.apart_tensor_shape.ranks = share.regrouping_shape.ranks = 2;
        return share;
      }(),
      costs_of(), {{world.layer, first, last}});
  const auto forward = [&](const Block& block) {
    return spent_alone(both.forward({block})).on[forward_tensor_comm];
  };
  const auto backward = [&](const Block& block) {
    return spent_alone(both.backward({block}, Pass::backward)).on[backward_tensor_comm];
  };
  CHECK(forward(first) == forward(world.layer));
  CHECK(forward(last) == forward(world.layer) + rows);
  CHECK(backward(first) == backward(world.layer) + rows);
  CHECK(backward(last) == backward(world.layer));
}

TEST_CASE("layers regrouped one after the other exchange before the first and behind the last") {
  SmallerGroups world(true);
  world.model.layers = 5;
  world.plan.layers = {{1, 3, {}, 2}};
  const auto flags = [&] {
    std::vector<std::vector<int>> all;
    for (const auto& stage : blocks_of(world.model, world.training, world.plan)) {
      auto& here = all.emplace_back();
      for (const auto& block : stage)
        if (block.kind == Block::Kind::layer)
          here.push_back(
              !block.regrouped ? 0 : 1 + 2 * block.regroups_before + 4 * block.regroups_after);
    }
    return all;
  };
  CHECK(flags() == std::vector<std::vector<int>>{{0, 3, 1, 5, 0}});
  // A stage receives and sends rows as the plan divides them.
  world.plan.pipeline = 2;
  world.plan.layers_per_stage = {3, 2};
  CHECK(flags() == std::vector<std::vector<int>>{{0, 3, 5}, {7, 0}});
}

TEST_CASE("a smaller group holds more of a layer, which as many more replicas sum and share") {
  SmallerGroups world(true);
  world.model.layers = 2;
  world.model.biases = world.model.qkv_biases = false;
  world.model.norm = model::Norm::rmsnorm;
  world.model.position = model::Position::rope;
  world.plan.data = 2;
  world.plan.zero = 1;
  world.training.global_batch = 4;
  world.software.vocab_multiple = 1;
  const auto step = world.lowered(costs_of());
  REQUIRE(step.actors.size() == 1);
  const auto& actor = step.actors.front();
  // The products of 64 values are four in attention and two of 256 in the MLP, with a norm before
  // each of both.
  const double matrices = 4 * 64 * 64 + 2 * 64 * 256, norms = 2 * 64;
  CHECK(actor.held.parameters.apart == matrices / 2 + norms);
  CHECK(actor.held.parameters.with_layer == matrices / 4 + norms + 2 * 512 * 64 / 4 + 64);
  CHECK(step.shards.with_layer == 2);
  CHECK(step.shards.apart == 4);
  const auto reductions =
      std::ranges::count(step.program.labels(), label_reduce_gradients,
                         [](const sim::Label& label) { return LabelKind{label.kind}; });
  CHECK(reductions == 2);
}

}  // namespace regrouping_spec

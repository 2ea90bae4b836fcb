// SPDX-License-Identifier: Apache-2.0
// The memory that a rank holds between the two halves of a backward pass.
#include <array>
#include <random>

#include "strategies/lowering/lower.hpp"
#include "tests/catch.hpp"
#include "tests/model/small_models.hpp"
#include "tests/strategies/counting.hpp"

namespace split_memory_spec {

using namespace strategies;

namespace {

Block random_block(std::mt19937& random, bool experts) {
  constexpr std::array modules{Module::core_attn, Module::layernorm,   Module::moe_act,
                               Module::mlp,       Module::mla_up_proj, Module::moe};
  const auto upto = [&](std::size_t most) {
    return std::uniform_int_distribution<std::size_t>(0, most)(random);
  };
  const auto some = [&] {
    const std::array chosen{modules[upto(5)], modules[upto(5)]};
    return ModuleSet::of(chosen);
  };
  Block block{.kind = Block::Kind::layer, .experts = experts};
  constexpr std::array kinds{Drop::nothing, Drop::everything, Drop::modules};
  block.drop.kind = kinds[upto(2)];
  if (block.drop.kind == Drop::modules) block.drop.of = some();
  if (upto(1) == 1) block.offloaded = some();
  return block;
}

}  // namespace

TEST_CASE(
    "weight gradients read only tensors that are held: all that no recomputation would keep") {
  const auto seed = GENERATE(range(0u, 100u));
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const auto model = small_models::random_model(random);
  const Plan plan;
  const Training training{.sequence_length = 32, .global_batch = 1};
  const Software software;
  const auto block = random_block(random, model.moe.has_value());
  const Block whole{.kind = Block::Kind::layer, .experts = block.experts};
  const PassWriter writer({model, plan, training, software}, counting::costs(), {{block, whole}});

  const std::vector<Block> layers{block, block};
  const auto body = [&](const Pieces& pieces) { return pieces.front().body; };
  const auto forward = body(writer.forward(layers));
  const auto inputs = body(writer.backward(layers, Pass::backward_input));
  const auto weights = body(writer.backward(layers, Pass::backward_weight));
  CHECK(forward.held + inputs.held == 2 * writer.cost(whole).kept);
  CHECK(forward.held + inputs.held + weights.held == 0);
  CHECK(forward.held + body(writer.backward(layers, Pass::backward)).held == 0);
  // Weight gradients need no tensors that are made again.
  CHECK(weights.peak == writer.cost(block).gradients);
}

// A layer of 32 tokens keeps its input of 64 values of 2 bytes, 4096 bytes, between the halves.
TEST_CASE("full recomputation saves ZB-H1 nothing between the halves, and 1F1B all of it") {
  counting::World world;
  world.plan = {.pipeline = 2, .recompute = {Recompute::Kind::full}};
  world.training.global_batch = 4;
  const auto held = [&](ScheduleKind schedule) {
    world.plan.schedule = schedule;
    const auto lowered = counting::lowered(world);
    return sim::memory_held(lowered.program).front().held_at_peak;
  };
  const auto dropped = held(ScheduleKind::zb_h1);
  CHECK(dropped > 2 * held(ScheduleKind::one_f_one_b));
  world.plan.recompute = {};
  CHECK(dropped <= held(ScheduleKind::zb_h1));
}

}  // namespace split_memory_spec

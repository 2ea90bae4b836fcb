// SPDX-License-Identifier: Apache-2.0
// The bytes that passes hold, and that they need besides: 32 tokens, hidden 64, vocabulary 512.
#include "strategies/passes.hpp"
#include "tests/catch.hpp"
#include "tests/strategies/expert_world.hpp"

namespace peaks_spec {

using namespace strategies;
using tests::World;

namespace {

constexpr std::int64_t rows = 2 * 32 * 64, logits = 32 * 512;

Costs costs() {
  return tests::costs_of([](const units::Kernel&) { return 1.0; });
}

std::vector<sim::HeldMemory> held(const World& world) {
  return sim::memory_held(world.lowered(costs()).program);
}

}  // namespace

// The fp32 logits are freed with the gradients of the loss, before the gradients of the head begin.
TEST_CASE("the head needs 2 bytes a logit beside the fp32 logits that it keeps, not 4") {
  World world;
  world.software.kernels.cross_entropy_in_place = true;
  const Block head{Block::Kind::head};
  const Share share{world.model, world.plan, world.training, world.software};
  const auto cost = PassWriter(share, costs(), {{head}}).cost(head);
  CHECK(cost.kept == 4 * logits + 2 * rows);
  CHECK(cost.gradients_freeing == 2 * logits);
  CHECK(cost.gradients == 4 * logits);  // everything stays for the weight gradients
}

TEST_CASE("a layer's gradients take those of the residual besides an operator's input and output") {
  const World world;
  const Block layer{Block::Kind::layer};
  const Share share{world.model, world.plan, world.training, world.software};
  const auto cost = PassWriter(share, costs(), {{layer}}).cost(layer);
  // The input and the output of the activation have 4h values each; the input of the down
  // projection is free by then.
  CHECK(cost.gradients == 8 * rows + rows);
  CHECK(cost.gradients_freeing == 8 * rows - 4 * rows + rows);
}

TEST_CASE("an output that was sent stays until its backward pass, if the software keeps it") {
  World world;
  world.model.layers = 4;
  world.plan = {.pipeline = 4};
  world.training.global_batch = 8;
  const auto freed = held(world);
  world.software.keep_sent_outputs = true;
  const auto kept = held(world);
  for (std::size_t stage = 0; stage < 4; ++stage) {
    CAPTURE(stage);
    const auto microbatches = static_cast<std::int64_t>(4 - stage);  // as 1F1B holds
    CHECK(kept[stage].peak - freed[stage].peak == (stage < 3 ? microbatches * rows : 0));
    CHECK(kept[stage].left == 0);
  }
}

TEST_CASE("without a pipeline nothing is sent, and nothing kept for it") {
  World world;
  const auto freed = held(world);
  world.software.keep_sent_outputs = true;
  CHECK(held(world).front().peak == freed.front().peak);
}

// Both column-parallel products of the layer keep 32 rows instead of 16, of 64 values of 2 bytes.
TEST_CASE("inputs that were gathered are kept whole, and not gathered again") {
  tests::ExpertWorld world;
  world.model.moe.reset();
  world.plan = {.tensor = 2, .sequence_parallel = true};
  const auto kept = [&] { return world.writer(costs()).cost(world.layer()).kept; };
  const auto sent = [&] {
    return spent_alone(world.writer(tests::costs_of()).backward({world.layer()}, Pass::backward))
        .on[backward_tensor_comm];
  };
  const auto parts = kept(), twice = sent();
  world.software.keep_gathered_inputs = true;
  CHECK(kept() - parts == 2 * rows / 2);
  CHECK(twice - sent() == 2 * rows);  // the whole input takes a tick a byte
}

}  // namespace peaks_spec

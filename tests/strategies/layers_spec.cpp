// SPDX-License-Identifier: Apache-2.0
// Stages whose layers are not all alike: experts in some layers, latent attention, prediction
// modules behind the head.
#include <algorithm>
#include <vector>

#include "tests/catch.hpp"
#include "tests/strategies/expert_world.hpp"

namespace layers_spec {

using namespace strategies;
using namespace tests;

TEST_CASE("layers are dense or have experts, as the model says") {
  ExpertWorld world;
  world.model.layers = 6;
  world.model.moe->first_dense_layers = 1;
  world.model.moe->every = 2;
  world.model.multi_token_prediction = 2;
  world.plan.pipeline = 2;
  const auto stages = blocks_of(world.model, world.training, world.plan);
  std::vector<bool> experts;
  for (const auto& blocks : stages)
    for (const auto& block : blocks) experts.push_back(block.experts);
  // Layers 1, 3 and 5 have experts, counted behind the embedding. The modules behind the head are
  // as a layer 6 would be, without experts.
  CHECK(experts ==
        std::vector<bool>{false, false, true, false, true, false, true, false, false, false});
  CHECK(stages.back().size() == 3 + 1 + 2);
  CHECK(stages.back().back().kind == Block::Kind::prediction);
}

TEST_CASE("with prediction modules the last stage has a copy of the embedding") {
  ExpertWorld world;
  world.model.layers = 2;
  world.model.multi_token_prediction = GENERATE(0, 1, 3);
  world.plan = {.pipeline = 2};
  world.software.vocab_multiple = 1;
  const auto held = [&] {
    double sum = 0;
    for (const auto& actor : world.lowered(costs_of()).actors) sum += actor.held.parameters.all();
    return sum;
  };
  const auto summed = [&] {
    const auto step = world.lowered(costs_of());
    return std::ranges::count(step.program.labels(), label_tied_embedding,
                              [](const sim::Label& label) { return LabelKind{label.kind}; });
  };
  const auto one = static_cast<double>(model::parameters(world.model) +
                                       model::prediction_parameters(world.model));
  const auto words = 512.0 * 64;
  const bool predicts = world.model.multi_token_prediction > 0;
  CHECK(held() == one + (predicts ? words : 0));
  CHECK(summed() == (predicts ? 1 : 0));
  world.model.tied_embeddings = true;  // the last stage's head is that copy
  CHECK(held() == one);
  CHECK(summed() == 1);
}

TEST_CASE("with ZeRO Muon's work is the same however experts are spread: each matrix once") {
  ExpertWorld world;
  world.training.optimizer = Optimizer::muon;
  world.training.global_batch = 4;
  const auto ticks = [&](std::int64_t expert) {
    world.plan = {.data = 4, .expert = expert, .zero = 1};
    const auto step = world.lowered(costs_of(flops_of));
    const auto& labels = step.program.labels();
    const auto update = std::ranges::find(
        labels, label_optimizer, [](const sim::Label& label) { return LabelKind{label.kind}; });
    const auto& op = step.program.ops()[static_cast<std::size_t>(update - labels.begin())];
    return step.program.templates()[op.body].steps.at(1).duration;
  };
  CHECK(ticks(1) > 1000);
  CHECK(ticks(2) == ticks(1));
  CHECK(ticks(4) == ticks(1));
}

TEST_CASE("full recomputation of a prediction module leaves its head alone") {
  ExpertWorld world;
  world.model.moe.reset();
  world.model.multi_token_prediction = 1;
  world.plan = {};
  const auto flops = costs_of(flops_of);
  const Block module{.kind = Block::Kind::prediction};
  const auto kept = world.writer(flops).cost(module);
  world.plan.recompute.kind = Recompute::Kind::full;
  Block dropped = module;
  dropped.drop = {Drop::everything};
  const auto writer = world.writer(flops);
  CHECK(spent_alone(writer.backward({dropped}, Pass::backward)).on[recompute_compute] ==
        spent_alone(writer.forward({world.layer()})).on[forward_compute]);
  CHECK(writer.cost(dropped).recomputed == writer.cost(world.layer()).recomputed);
  CHECK(writer.cost(dropped).kept + writer.cost(dropped).recomputed == kept.kept);
}

TEST_CASE("latent attention gathers the tensors that it projects up, not whole rows") {
  ExpertWorld world;
  world.model.moe.reset();
  world.model.latent = model::LatentAttention{.q_lora_rank = 24,
                                              .kv_lora_rank = 12,
                                              .qk_nope_head_dim = 10,
                                              .qk_rope_head_dim = 6,
                                              .v_head_dim = 14};
  world.plan = {.tensor = 2, .sequence_parallel = true};
  const auto writer = world.writer(costs_of());
  const sim::Picoseconds row = 32 * 2;
  CHECK(spent_alone(writer.forward_part(world.layer(), model::Part::attention))
            .on[forward_tensor_comm] == row * (24 + 12 + 6 + 64));
  // The backward pass gathers the output's gradient, gathers the inputs again, and scatters their
  // gradients.
  CHECK(spent_alone(writer.backward_part(world.layer(), model::Part::attention))
            .on[backward_tensor_comm] == row * (64 + 2 * (24 + 12 + 6)));
}

}  // namespace layers_spec

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>

#include "strategies/lower.hpp"
#include "strategies/partition.hpp"
#include "strategies/schedule_layout.hpp"

namespace strategies {

std::int64_t microbatches_of(const Plan& plan, const Training& training) {
  const auto per_round = plan.micro_batch * plan.data;
  if (per_round < 1 || training.global_batch % per_round != 0)
    throw std::invalid_argument("global_batch must be a multiple of micro_batch x data");
  return training.global_batch / per_round;
}

namespace {

// What stands behind the head, one block for each token more that the model predicts. Megatron-Core
// recomputes such a module whole or not at all; a number of layers is counted without it.
std::vector<Block> predictions(const model::Transformer& model, const Recompute& recompute) {
  Block block{.kind = Block::Kind::prediction, .experts = model::is_moe_layer(model, model.layers)};
  if (recompute.kind == Recompute::Kind::selective) block.drop = Drop::core;
  if (recompute.kind == Recompute::Kind::full) block.drop = Drop::everything;
  return std::vector<Block>(static_cast<std::size_t>(model.multi_token_prediction), block);
}

}  // namespace

std::vector<std::vector<Block>> blocks_of(const model::Transformer& model, const Plan& plan) {
  const auto layers = layers_per_virtual_stage(plan, model.layers);
  std::vector<std::vector<Block>> stages(layers.size());
  // full_layers counts per pipeline rank, its chunks in order.
  std::vector<std::int64_t> dropped(static_cast<std::size_t>(plan.pipeline), 0);
  const auto layout = layout_of(plan.schedule, static_cast<int>(plan.pipeline),
                                static_cast<int>(plan.virtual_stages));
  std::int64_t index = 0;
  for (std::size_t v = 0; v < layers.size(); ++v) {
    auto& blocks = stages[v];
    const auto stage = place_of(static_cast<int>(v), layout).stage;
    auto& count = dropped[static_cast<std::size_t>(stage)];
    if (v == 0) blocks.push_back({Block::Kind::embedding});
    for (std::int64_t i = 0; i < layers[v]; ++i, ++index) {
      Block block{Block::Kind::layer};
      block.windowed = model::is_windowed_layer(model, index);
      block.experts = model::is_moe_layer(model, index);
      switch (plan.recompute.kind) {
        case Recompute::Kind::none:
        case Recompute::Kind::per_op:
        case Recompute::Kind::modules:
          break;
        case Recompute::Kind::selective:
          block.drop = Drop::core;
          break;
        case Recompute::Kind::full:
          block.drop = Drop::everything;
          break;
        case Recompute::Kind::full_layers:
          if (count < plan.recompute.layers) {
            block.drop = Drop::everything;
            ++count;
          }
          break;
      }
      blocks.push_back(block);
    }
  }
  stages.back().push_back({Block::Kind::head});
  const auto further = predictions(model, plan.recompute);
  stages.back().insert(stages.back().end(), further.begin(), further.end());
  return stages;
}

}  // namespace strategies

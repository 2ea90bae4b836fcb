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
    auto stage = place_of(static_cast<int>(v), layout).stage;
    if (layout.kind == Layout::Kind::mirrored) stage = std::min(stage, layout.stages - 1 - stage);
    auto& count = dropped[static_cast<std::size_t>(stage)];
    if (v == 0) blocks.push_back({Block::Kind::embedding});
    for (std::int64_t i = 0; i < layers[v]; ++i, ++index) {
      Block block{Block::Kind::layer};
      block.windowed = model.window && index % model.window->every == 0;
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
    if (v + 1 == layers.size()) blocks.push_back({Block::Kind::head});
  }
  return stages;
}

}  // namespace strategies

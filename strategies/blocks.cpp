// SPDX-License-Identifier: Apache-2.0
#include "strategies/blocks.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "plans/partition.hpp"
#include "plans/precision.hpp"
#include "plans/schedules/schedule_layout.hpp"
#include "strategies/checkpoints.hpp"

namespace strategies {

Drop drop_of(const Recompute& recompute, std::int64_t layers) {
  constexpr std::array core{Module::core_attn};
  switch (recompute.kind) {
    case Recompute::Kind::none:
      return {};
    case Recompute::Kind::selective:
      return {Drop::modules, ModuleSet::of(core)};
    case Recompute::Kind::full:
      return {Drop::everything};
    case Recompute::Kind::full_layers:
      return {layers < recompute.layers ? Drop::everything : Drop::nothing};
    case Recompute::Kind::per_op:
      return {Drop::per_op};
    case Recompute::Kind::modules:
      return {Drop::modules, ModuleSet::of(recompute.modules)};
  }
  return {};
}

namespace {

// The modules whose tensors a layer offloads; `layers`: the number of layers of its pipeline rank
// that were counted before it.
ModuleSet offloaded_of(const Offload& offload, std::int64_t layers) {
  if (!offload.activations || layers >= offload.activation_layers.value_or(layers + 1)) return {};
  return offload.activation_modules.empty() ? ModuleSet::all()
                                            : ModuleSet::of(offload.activation_modules);
}

// The strategy of every layer that has one of its own.
std::vector<const LayerStrategy*> strategies_of_layers(const Plan& plan, std::int64_t layers) {
  std::vector<const LayerStrategy*> own(static_cast<std::size_t>(layers), nullptr);
  for (const auto& range : plan.layers)
    for (auto layer = range.from; layer <= range.to; ++layer)
      own.at(static_cast<std::size_t>(layer)) = &range;
  return own;
}

// The checkpoints of a virtual stage's layers, one after the other: which inputs of layers that are
// recomputed whole are kept.
class Checkpoints {
 public:
  std::uint8_t next(const Recompute& choice, const Block& block) {
    const bool whole = block.drop.kind == Drop::everything;
    const bool on = choice_ == &choice && regrouped_ == block.regrouped;
    layers_ = whole && on ? layers_ + 1 : 0;
    choice_ = whole ? &choice : nullptr;
    regrouped_ = block.regrouped;
    return whole ? checkpoint_of(choice.every, layers_) : std::uint8_t{0};
  }

 private:
  const Recompute* choice_ = nullptr;  // of the layer before, if that was recomputed whole
  bool regrouped_ = false;             // that layer
  std::int64_t layers_ = 0;            // before this one, recomputed by the same choice
};

// The blocks behind the head, one for each token more that the model predicts. Megatron-Core
// recomputes such a module whole or not at all; a number of layers is counted without it.
std::vector<Block> predictions(const model::Transformer& model, const Recompute& recompute) {
  Block block{.kind = Block::Kind::prediction, .experts = model::is_moe_layer(model, model.layers)};
  const bool counts = recompute.kind == Recompute::Kind::full_layers;
  if (!counts && recompute.kind != Recompute::Kind::per_op) block.drop = drop_of(recompute, 0);
  return std::vector<Block>(static_cast<std::size_t>(model.multi_token_prediction), block);
}

// Marks the layers before and behind which rows are regrouped: virtual stages get and give rows as
// the plan divides them.
void mark_regrouping(std::vector<Block>& stage) {
  for (std::size_t i = 0; i < stage.size(); ++i) {
    if (!stage[i].regrouped) continue;
    stage[i].regroups_before = i == 0 || !stage[i - 1].regrouped;
    stage[i].regroups_after = i + 1 == stage.size() || !stage[i + 1].regrouped;
  }
}

}  // namespace

std::vector<std::vector<Block>> blocks_of(const model::Transformer& model, const Training& training,
                                          const Plan& plan, bool keep_sent) {
  const auto layers = layers_per_virtual_stage(plan, model.layers);
  std::vector<std::vector<Block>> stages(layers.size());
  // A pipeline rank's layers are counted over its chunks in order.
  std::vector<std::int64_t> counted(static_cast<std::size_t>(plan.pipeline), 0);
  const auto layout = layout_of(plan);
  const auto& choices = plan.recompute_of_stage;
  if (!choices.empty() && choices.size() != layers.size())
    throw std::invalid_argument("recompute needs one entry per virtual stage");
  const auto own = strategies_of_layers(plan, model.layers);
  std::int64_t index = 0;
  for (std::size_t v = 0; v < layers.size(); ++v) {
    auto& blocks = stages[v];
    auto stage = place_of(static_cast<int>(v), layout).stage;
    if (layout.kind == Layout::Kind::mirrored) stage = std::min(stage, layout.stages - 1 - stage);
    auto& count = counted[static_cast<std::size_t>(stage)];
    Checkpoints checkpoints;
    if (v == 0) blocks.push_back({Block::Kind::embedding});
    for (std::int64_t i = 0; i < layers[v]; ++i, ++index, ++count) {
      Block block{Block::Kind::layer};
      block.windowed = model::is_windowed_layer(model, index);
      block.experts = model::is_moe_layer(model, index);
      block.wide = is_wide_layer(training.in_bf16, model.layers, index);
      const auto* strategy = own[static_cast<std::size_t>(index)];
      const auto* chosen = strategy != nullptr && strategy->recompute ? &*strategy->recompute
                           : choices.empty()                          ? &plan.recompute
                                                                      : &choices[v];
      block.regrouped = strategy != nullptr && strategy->tensor;
      block.drop = drop_of(*chosen, choices.empty() ? count : i);
      block.checkpoint = checkpoints.next(*chosen, block);
      block.offloaded = offloaded_of(plan.offload, count);
      blocks.push_back(block);
    }
  }
  stages.back().push_back({Block::Kind::head});
  for (auto& stage : stages) mark_regrouping(stage);
  const auto further = predictions(model, choices.empty() ? plan.recompute : choices.back());
  stages.back().insert(stages.back().end(), further.begin(), further.end());
  if (keep_sent && plan.pipeline > 1)
    for (std::size_t v = 0; v + 1 < stages.size(); ++v)
      if (!stages[v].empty()) stages[v].back().keeps_output = true;
  return stages;
}

}  // namespace strategies

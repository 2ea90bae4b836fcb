// SPDX-License-Identifier: Apache-2.0
// What the blocks of a rank's share cost: every kernel and collective is asked for once.
#include <algorithm>
#include <set>
#include <stdexcept>

#include "model/narrow.hpp"
#include "strategies/compression.hpp"
#include "strategies/context.hpp"
#include "strategies/passes.hpp"

namespace strategies {

using sim::Picoseconds;

std::int64_t padded_vocab(const Share& share) {
  const auto multiple = share.software.vocab_multiple * share.plan.tensor;
  return (share.model.vocab + multiple - 1) / multiple * multiple;
}

model::Extent extent_of(const Share& share) {
  const auto t = share.plan.tensor;
  auto extent = model::whole(share.model, share.plan.micro_batch,
                             share.training.sequence_length / share.plan.context);
  extent.heads /= t;
  extent.kv_heads = std::max<std::int64_t>(1, extent.kv_heads / t);
  extent.ffn /= t;
  extent.vocab = padded_vocab(share) / t;
  if (share.plan.sequence_parallel && t > 1) extent.rows /= t;
  return extent;
}

PassWriter::PassWriter(const Share& share, const Costs& costs,
                       const std::vector<std::vector<Block>>& stages)
    : share_(share) {
  divided_ = share.plan.tensor > 1;
  sequence_parallel_ = share.plan.sequence_parallel && divided_;
  async_ = share.plan.overlap.tensor.value_or(share.software.overlap_tensor);
  if (divided_) {
    const auto extent = extent_of(share);
    const auto tokens = static_cast<double>(extent.tokens());
    const double element = std::max(2.0, units::element_bytes(share.training.precision));
    const units::Bytes rows{tokens * static_cast<double>(share.model.hidden) * element};
    const auto time = [&](topology::Collective kind, units::Bytes size) {
      auto sending = costs.collective(kind, size, share.tensor_shape);
      sending.rate.value = std::min(sending.rate.value, share.tensor_rate);
      return sending;
    };
    all_reduce_ = time(topology::Collective::all_reduce, rows);
    all_gather_ = time(topology::Collective::all_gather, rows);
    reduce_scatter_ = time(topology::Collective::reduce_scatter, rows);
    loss_reduce_ = time(topology::Collective::all_reduce, units::Bytes{4 * tokens});
  }
  context_ = context_exchanges(share, costs);
  std::set<Block> blocks;
  for (const auto& stage : stages) blocks.insert(stage.begin(), stage.end());
  for (const auto& block : blocks) prices_.emplace_back(block, price(block, costs));
}

namespace {

model::Operators operators_of(const Share& share, const Block& block, const model::Extent& extent) {
  auto kernels = share.software.kernels;
  kernels.scaling = share.training.fp8_recipe;
  const auto precision = share.training.precision;
  switch (block.kind) {
    case Block::Kind::embedding:
      return model::embedding(share.model, extent, kernels, precision);
    case Block::Kind::head:
      return model::head(share.model, extent, kernels, precision);
    case Block::Kind::prediction:
      return model::prediction(share.model, extent, kernels, precision);
    case Block::Kind::layer:
      break;
  }
  return model::layer(share.model, extent, kernels, precision,
                      block.windowed ? share.model.window->size : 0,
                      block.experts ? model::Mlp::experts : model::Mlp::dense);
}

ReplayCost priced(const Replay& replay, const std::vector<OperatorCost>& operators) {
  ReplayCost cost{replay.before, {}};
  for (const auto& [op, share, sums] : replay.runs) {
    auto again = operators[op];
    for (auto& duration : again.forward)
      duration = static_cast<Picoseconds>(share * static_cast<double>(duration) + 0.5);
    if (!sums) again.seam = model::Seam::none;
    cost.operators.push_back(std::move(again));
  }
  return cost;
}

// A compiler fuses neighbouring element-wise kernels: they then move the data of the largest.
void fuse_streams(std::vector<units::Kernel>& kernels) {
  std::vector<units::Kernel> fused;
  for (const auto& kernel : kernels) {
    const bool joins = !fused.empty() && kernel.kind == units::Kernel::Kind::stream &&
                       fused.back().kind == units::Kernel::Kind::stream;
    if (joins)
      fused.back().traffic = std::max(fused.back().traffic, kernel.traffic);
    else
      fused.push_back(kernel);
  }
  kernels = std::move(fused);
}

}  // namespace

BlockCost PassWriter::price(const Block& block, const Costs& costs) const {
  BlockCost cost;
  const auto core = core_share_of(share_);
  auto local = operators_of(share_, block, extent_of(share_));
  const auto cores = operators_of(share_, block, core.extent);
  const auto precision = share_.training.precision;
  if (share_.plan.activation_compression != ActivationCompression::none &&
      !model::is_narrow(precision))
    store_in_8_bit(local, block.drop, units::element_bytes(precision));
  for (std::size_t i = 0; i < local.size(); ++i) {
    const auto& op = local[i].core ? cores[i] : local[i];
    const auto parts = local[i].core ? static_cast<double>(core.parts) : 1.0;
    const auto times = [&](std::vector<units::Kernel> kernels) {
      if (share_.software.compile) fuse_streams(kernels);
      std::vector<Picoseconds> durations;
      for (const auto& kernel : kernels)
        durations.push_back(to_ticks(costs.kernel(kernel, share_.gpu) / parts));
      return durations;
    };
    cost.operators.push_back({.seam = op.seam,
                              .part = op.part,
                              .core = op.core,
                              .forward = times(op.forward),
                              .input_gradient = times(op.input_gradient),
                              .weight_gradient = times(op.weight_gradient),
                              .divided_loss = divided_ && op.name == "cross entropy"});
    cost.parameters += local[i].parameters;
    if (local[i].expert) cost.expert_parameters += local[i].parameters;
    cost.cast += model::narrow_weights(local[i]);
    cost.largest = std::max(cost.largest, static_cast<std::int64_t>(op.largest.value / parts));
    for (const auto& tensor : op.kept) account(cost, block, tensor, tensor.size.value / parts);
  }
  if (block.drop.kind == Drop::per_op) {
    const auto outputs = kept_outputs(local, per_op());
    (block.offloaded == ModuleSet::all() ? cost.offloaded : cost.kept) +=
        static_cast<std::int64_t>(outputs.kept);
    cost.recomputed -= std::min(cost.recomputed, static_cast<std::int64_t>(outputs.replaced));
  }
  for (const auto& replay : replays_of(local, block.drop, per_op()))
    cost.replays.push_back(priced(replay, cost.operators));
  return cost;
}

void PassWriter::account(BlockCost& cost, const Block& block, const model::Kept& tensor,
                         double bytes) const {
  const bool away = block.offloaded.covers(tensor.module);
  auto& where = drops(block.drop, tensor) ? cost.recomputed : away ? cost.offloaded : cost.kept;
  where += static_cast<std::int64_t>(bytes);
}

PerOp PassWriter::per_op() const {
  if (!sequence_parallel_) return {share_.software.compile};
  return {share_.software.compile, 1 / static_cast<double>(share_.plan.tensor)};
}

const BlockCost& PassWriter::cost(const Block& block) const {
  for (const auto& [known, cost] : prices_)
    if (known == block) return cost;
  throw std::invalid_argument("no such block in this model");
}

}  // namespace strategies

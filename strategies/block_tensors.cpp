// SPDX-License-Identifier: Apache-2.0
#include "strategies/block_tensors.hpp"

#include <cstddef>
#include <numeric>

#include "model/narrow.hpp"
#include "strategies/context.hpp"
#include "strategies/experts.hpp"

namespace strategies {

std::int64_t sum_of(const AtOnce& tensors) {
  return std::accumulate(tensors.begin(), tensors.end(), std::int64_t{0});
}

namespace {

// One tensor, and those of an operator, of which this rank has a part.
AtOnce at_once(units::Bytes first, const std::vector<units::Bytes>& others, double parts) {
  AtOnce all{static_cast<std::int64_t>(first.value)};
  for (std::size_t i = 0; i < others.size(); ++i)
    all.at(i + 1) = static_cast<std::int64_t>(others[i].value / parts);
  return all;
}

}  // namespace

TensorRules::TensorRules(const Share& share, const Block& block)
    : block_(block),
      tensor_parallel_(static_cast<double>(share.plan.tensor)),
      keeps_gathered_(share.plan.sequence_parallel && share.plan.tensor > 1 &&
                      share.software.keep_gathered_inputs),
      keys_(context_buffer(share)),
      rows_(gathered_rows(share)),
      output_(dense_extent_of(share).rows * share.model.hidden *
              static_cast<std::int64_t>(model::wide_bytes(share.training.precision))),
      // The gradient of a layer's output waits for that of the branch which it is added to.
      residual_{block.kind == Block::Kind::layer || block.kind == Block::Kind::prediction
                    ? static_cast<double>(output_)
                    : 0} {}

OperatorTensors TensorRules::of(const model::Operator& op, double parts) const {
  const bool routes = op.seam == model::Seam::dispatch || op.seam == model::Seam::combine;
  const auto arrives = op.core ? keys_ : routes ? rows_ : units::Bytes{};
  OperatorTensors held{.name = op.name, .read = static_cast<std::int64_t>(op.read.value / parts)};
  held.made = at_once(arrives, {op.largest}, parts);
  held.gradients = at_once(residual_, model::gradient_tensors(op), parts);
  const bool gathered = keeps_gathered_ && op.seam == model::Seam::enter;
  for (const auto& tensor : op.kept) {
    // The input comes first, if the operator keeps it: a part of the rows that meet.
    const bool part = &tensor == &op.kept.front() &&
                      tensor_parallel_ * tensor.size.value <= op.exchanged.value * (1 + 1e-9);
    const auto bytes = (gathered && part ? tensor_parallel_ : 1) * tensor.size.value / parts;
    held.tensors.push_back(
        {tensor.name, static_cast<std::int64_t>(bytes), keeping(op, tensor), tensor.layer_input});
  }
  return held;
}

Keeping TensorRules::keeping(const model::Operator& op, const model::Kept& tensor) const {
  if (drops(block_.drop, op, tensor) || (tensor.layer_input && block_.checkpoint > 0))
    return Keeping::made_again;
  return block_.offloaded.covers(tensor.module) ? Keeping::offloaded : Keeping::kept;
}

void add_weights(std::vector<Weight>& weights, const model::Operator& op, bool apart, bool joined) {
  if (op.parameters <= 0) return;
  const auto add = [&](double share) {
    weights.push_back({op.name, share * op.parameters, apart, op.role == model::Role::lm_head});
  };
  if (joined || op.products.empty()) return add(1);
  for (const auto share : op.products) add(share);
}

}  // namespace strategies

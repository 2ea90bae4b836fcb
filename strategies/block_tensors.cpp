// SPDX-License-Identifier: Apache-2.0
#include "strategies/block_tensors.hpp"

#include "model/narrow.hpp"
#include "strategies/context.hpp"
#include "strategies/experts.hpp"

namespace strategies {

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
      residual_(block.kind == Block::Kind::layer || block.kind == Block::Kind::prediction ? output_
                                                                                          : 0) {}

OperatorTensors TensorRules::of(const model::Operator& op, double parts) const {
  const bool routes = op.seam == model::Seam::dispatch || op.seam == model::Seam::combine;
  const auto arrives = op.core ? keys_ : routes ? rows_ : units::Bytes{};
  OperatorTensors held{
      .name = op.name,
      .largest = static_cast<std::int64_t>(op.largest.value / parts + arrives.value),
      .gradients = residual_ + static_cast<std::int64_t>(model::gradient_bytes(op).value / parts)};
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

}  // namespace strategies

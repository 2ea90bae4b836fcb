// SPDX-License-Identifier: Apache-2.0
#include "strategies/flops.hpp"

#include <cmath>
#include <vector>

#include "model/layer.hpp"
#include "plans/expert_loads.hpp"

namespace strategies {
namespace {

using units::Kernel;

double products(const std::vector<Kernel>& kernels) {
  double flops = 0;
  for (const auto& kernel : kernels)
    if (kernel.kind == Kernel::Kind::product) flops += kernel.flops.value;
  return flops;
}

double attention(const std::vector<Kernel>& kernels) {
  double flops = 0;
  for (const auto& kernel : kernels)
    if (kernel.kind == Kernel::Kind::attention) flops += kernel.flops.value;
  return flops;
}

// The operators of one rank that has the whole model: those of the ranks that share it, which
// repeat no keys if they have as many heads of them as of queries.
model::Operators undivided(const Share& share, const Block& block) {
  auto model = share.model;
  model.causal = false;
  auto software = share.software;
  software.kernels.einsum_dispatch = false;  // its products are copies, no work of the model
  const auto extent = extent_of(share);
  software.kernels.repeats_kv = model::core_kv_heads(extent, software.kernels) > extent.kv_heads;
  auto all = model::whole(model, share.plan.micro_batch, share.training.sequence_length);
  if (model.moe)
    all.routed = std::llround(static_cast<double>(all.routed) *
                              (1 - dropped_copies(*model.moe, share.training.routing)));
  return operators_of({model, share.plan, share.training, software}, block, all);
}

std::vector<OperatorFlops> flops_of(const Share& share, const model::Operators& operators) {
  const auto part = 1 / static_cast<double>(share.plan.tensor * share.plan.context);
  std::vector<OperatorFlops> flops;
  for (const auto& op : operators) {
    const double scores = part * attention(op.forward);
    flops.push_back({part * products(op.forward) + scores,
                     part * products(op.input_gradient) + 2 * scores,
                     part * products(op.weight_gradient)});
  }
  return flops;
}

}  // namespace

void count_flops(BlockCost& cost, const Share& share, const Block& block) {
  const auto operators = undivided(share, block);
  const auto flops = flops_of(share, operators);
  for (std::size_t i = 0; i < flops.size(); ++i) cost.operators[i].flops = flops[i];
  const auto replays = replays_of(operators, block.drop, per_op(share));
  for (std::size_t r = 0; r < replays.size(); ++r)
    for (std::size_t i = 0; i < replays[r].runs.size(); ++i) {
      const auto& run = replays[r].runs[i];
      cost.replays[r].operators[i].flops = {.forward = run.share * flops[run.op].forward};
    }
}

double flops_again(const Share& share, const Block& block) {
  const auto operators = undivided(share, block);
  const auto flops = flops_of(share, operators);
  double again = 0;
  for (const auto& replay : replays_of(operators, block.drop, per_op(share)))
    for (const auto& run : replay.runs) again += run.share * flops[run.op].forward;
  return again;
}

}  // namespace strategies

// SPDX-License-Identifier: Apache-2.0
#include "strategies/regrouping.hpp"

#include <algorithm>

namespace strategies {

Plan regrouped_plan(const Plan& plan) {
  auto inside = plan;
  const auto tensor = plan.layer_tensor.value_or(plan.tensor);
  inside.tensor = tensor;
  inside.micro_batch = plan.micro_batch * tensor / plan.tensor;
  inside.data = plan.data * plan.tensor / tensor;
  inside.layers.clear();
  inside.layer_tensor.reset();
  return inside;
}

Regrouping regrouping(const Share& share, const Costs& costs, bool sequence_parallel,
                      units::Bytes row_bytes) {
  const auto time = [&](topology::Collective kind, units::Bytes size) {
    auto sending = costs.collective(kind, size, share.regrouping_shape);
    sending.rate.value = std::min(sending.rate.value, share.tensor_rate);
    return sending;
  };
  using enum topology::Collective;
  if (!sequence_parallel) {
    const auto all = time(all_gather, row_bytes);
    return {.after = all, .back_before = all};
  }
  const auto part = time(all_to_all, row_bytes / static_cast<double>(share.plan.tensor));
  return {part, part, part, part};
}

}  // namespace strategies

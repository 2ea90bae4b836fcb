// SPDX-License-Identifier: Apache-2.0
#include "plans/precision.hpp"

#include <algorithm>

namespace strategies {

namespace {

bool has(const InBf16& in_bf16, model::LinearPart part) {
  return std::ranges::find(in_bf16.parts, part) != in_bf16.parts.end();
}
bool has(const InBf16& in_bf16, model::LinearGradient gradient) {
  return std::ranges::find(in_bf16.gradients, gradient) != in_bf16.gradients.end();
}

}  // namespace

bool is_wide_layer(const InBf16& in_bf16, std::int64_t layers, std::int64_t index) {
  return index < in_bf16.first_layers || index >= layers - in_bf16.last_layers;
}

units::Precision layer_precision(const Training& training, bool wide) {
  return wide ? model::wide_precision(training.precision) : training.precision;
}

units::Precision expert_precision(const Training& training, bool wide) {
  return layer_precision(training, wide || has(training.in_bf16, model::LinearPart::experts));
}

model::WideProducts wide_products(const InBf16& in_bf16) {
  using enum model::LinearPart;
  return {.attention = has(in_bf16, attention),
          .mlp = has(in_bf16, mlp),
          .experts = has(in_bf16, experts),
          .shared_experts = has(in_bf16, shared_experts),
          .input_gradients = has(in_bf16, model::LinearGradient::inputs),
          .weight_gradients = has(in_bf16, model::LinearGradient::weights)};
}

model::Copies weight_copies(const InBf16& in_bf16) {
  return {.columns = !has(in_bf16, model::LinearGradient::inputs)};
}

}  // namespace strategies

// SPDX-License-Identifier: Apache-2.0
#include "model/builder.hpp"

#include <algorithm>

namespace model {

using units::Bytes;
using units::Kernel;
using Layout = Kernel::Layout;

double Builder::element() const { return std::max(2.0, units::element_bytes(precision)); }

Kernel Builder::product(Layout layout, std::int64_t m, std::int64_t n, std::int64_t k,
                        std::int64_t batch) const {
  const auto M = static_cast<double>(m), N = static_cast<double>(n), K = static_cast<double>(k);
  const auto B = static_cast<double>(batch);
  return {.kind = Kernel::Kind::product,
          .precision = precision,
          .layout = layout,
          .batch = batch,
          .m = m,
          .n = n,
          .k = k,
          .flops = {2 * B * M * N * K},
          .traffic = {element() * B * (M * K + K * N + M * N)}};
}

Kernel Builder::stream(double bytes) { return {.kind = Kernel::Kind::stream, .traffic = {bytes}}; }
Kernel Builder::random(double bytes) { return {.kind = Kernel::Kind::random, .traffic = {bytes}}; }

Operator Builder::linear(std::string_view name, Part part, Seam seam, std::int64_t in,
                         std::int64_t out, bool bias) const {
  const auto tokens = extent.tokens();
  const double weights = static_cast<double>(in) * static_cast<double>(out);
  const double outputs = static_cast<double>(tokens) * static_cast<double>(out);
  Operator op{.name = name, .part = part, .seam = seam};
  op.forward = {product(Layout::forward, tokens, out, in)};
  op.input_gradient = {product(Layout::input_gradient, tokens, in, out)};
  auto gradient = product(Layout::weight_gradient, out, in, tokens);
  if (kernels.fused_gradient_accumulation) {
    // The product adds to fp32 in place: read and write 4 bytes instead of writing an element.
    gradient.traffic += Bytes{(8 - element()) * weights};
    op.weight_gradient = {gradient};
  } else {
    op.weight_gradient = {gradient, stream((element() + 8) * weights)};
  }
  op.parameters = weights;
  if (bias) {
    op.parameters += static_cast<double>(out);
    op.weight_gradient.push_back(stream(element() * outputs));  // sum of the gradient over tokens
  }
  op.largest = {element() * outputs};
  return op;
}

Operator Builder::norm(std::string_view name, Part part, bool keeps_layer_input) const {
  const double values = static_cast<double>(extent.rows) * static_cast<double>(transformer.hidden);
  // Unfused: cast up, square, mean, scale, cast down each pass over the tensor.
  const int passes = kernels.fused_norm ? 1 : 4;
  Operator op{.name = name, .part = part};
  for (int i = 0; i < passes; ++i) {
    op.forward.push_back(stream(2 * element() * values));
    op.input_gradient.push_back(stream(3 * element() * values));
  }
  op.input_gradient.push_back(stream(3 * element() * values));  // plus the residual's gradient
  op.weight_gradient = {stream(2 * element() * values)};
  op.kept = {{.name = keeps_layer_input ? "layer input" : "norm input",
              .size = {element() * values},
              .layer_input = keeps_layer_input}};
  op.parameters =
      static_cast<double>(transformer.hidden) * (transformer.norm == Norm::layernorm ? 2 : 1);
  op.largest = {element() * values};
  return op;
}

Operator Builder::residual(std::string_view name, Part part, bool bias) const {
  const double values = static_cast<double>(extent.rows) * static_cast<double>(transformer.hidden);
  const bool drops = transformer.dropout > 0;
  const double mask = drops ? 1 : 0;
  Operator op{.name = name, .part = part};
  if (kernels.fused_bias_dropout_add || (!drops && !bias)) {
    op.forward = {stream((3 * element() + mask) * values)};
  } else {
    if (bias) op.forward.push_back(stream(2 * element() * values));
    if (drops) op.forward.push_back(stream((2 * element() + mask) * values));
    op.forward.push_back(stream(3 * element() * values));
  }
  if (drops) {
    op.input_gradient = {stream((2 * element() + mask) * values)};
    op.kept = {{.name = "dropout mask", .size = {values}}};
  }
  op.largest = {element() * values};
  return op;
}

}  // namespace model

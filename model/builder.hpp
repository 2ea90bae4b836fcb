// SPDX-License-Identifier: Apache-2.0
// The pieces that layers, embedding and head are made of.
#pragma once
#include "model/layer.hpp"

namespace model {

// Makes operators of one extent in one precision. Element counts in, kernels out.
struct Builder {
  const Transformer& transformer;
  const Extent& extent;
  const Kernels& kernels;
  units::Precision precision;

  // Bytes of an element outside the matrix products.
  double element() const;

  // (m × k)·(k × n), `batch` times.
  units::Kernel product(units::Kernel::Layout layout, std::int64_t m, std::int64_t n,
                        std::int64_t k, std::int64_t batch = 1) const;
  static units::Kernel stream(double bytes);
  static units::Kernel random(double bytes);

  // A linear layer on every token: its three products, and its weight gradient's accumulation.
  Operator linear(std::string_view name, Part part, Seam seam, std::int64_t in, std::int64_t out,
                  bool bias) const;
  Operator norm(std::string_view name, Part part, bool keeps_layer_input) const;
  // Bias, dropout and residual sum after a block.
  Operator residual(std::string_view name, Part part, bool bias) const;
};

}  // namespace model

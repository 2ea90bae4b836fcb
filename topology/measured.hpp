// SPDX-License-Identifier: Apache-2.0
// Tables of measured kernels as text.
#pragma once
#include <string_view>
#include <vector>

#include "topology/device.hpp"

namespace topology {

struct Measured {
  std::vector<MeasuredProduct> products;
  std::vector<MeasuredAttention> attention;
  friend bool operator==(const Measured&, const Measured&) = default;
};

// Reads the CSV of a device: `#` comments, one header line, then rows of the columns
//   kind,pass,batch,m,n,k,causal,implementation,efficiency
// in any order. A product is (m × k)·(k × n), `batch` times, pass forward, input_gradient or
// weight_gradient; attention has n = sequence, k = head dimension, pass forward, backward or both.
// Attention of another `implementation` is left out; a pass that the wanted one lacks altogether
// (the backward pass of flash-3) is taken from flash-2. Rows without implementation always count.
// Throws std::invalid_argument naming the line. O(text).
Measured parse_measured(std::string_view csv, std::string_view implementation = "flash-2");

}  // namespace topology

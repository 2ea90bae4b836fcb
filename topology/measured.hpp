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
// Its implementation is flash-1, flash-2, flash-3, memory-efficient or left out; rows of any other
// are left out. Throws std::invalid_argument naming the line. O(text).
Measured parse_measured(std::string_view csv);

}  // namespace topology

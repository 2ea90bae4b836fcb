// SPDX-License-Identifier: Apache-2.0
// Tables of measured kernels as text.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "topology/device.hpp"

namespace topology {

// A kernel that only memory limits; efficiency of its traffic over the specified bandwidth.
struct MeasuredStream {
  std::string name;  // copy, add, gelu: whatever the table calls it
  units::Bytes traffic;
  double efficiency;
  friend bool operator==(const MeasuredStream&, const MeasuredStream&) = default;
};

struct Measured {
  std::vector<MeasuredProduct> products;
  std::vector<MeasuredAttention> attention;
  std::vector<MeasuredProduct> narrow;  // products in fp8, over its own peak
  std::vector<MeasuredStream> streams;
  friend bool operator==(const Measured&, const Measured&) = default;
};

// Reads the CSV of a device: `#` comments, one header line, then rows of the columns
//   kind,pass,batch,m,n,k,causal,implementation,efficiency
// in any order, and `precision` (bf16, fp16 or fp8) if it is there. A product is (m × k)·(k × n),
// `batch` times, pass forward, input_gradient or weight_gradient; attention has n = sequence, k =
// head dimension, pass forward, backward or both. Its implementation is flash-1, flash-2, flash-3,
// memory-efficient or left out; rows of any other are left out. A stream has n = bytes read and
// written, and a pass that names it. Throws std::invalid_argument naming the first line that is
// wrong. O(text).
Measured parse_measured(std::string_view csv);

// The same for files of users: calls `complain` with what is wrong in any line, in file order.
struct MeasuredMistake {
  int line, column;  // from one, in bytes
  std::string text;
};
Measured parse_measured(std::string_view csv,
                        const std::function<void(const MeasuredMistake&)>& complain);

}  // namespace topology

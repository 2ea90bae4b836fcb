// SPDX-License-Identifier: Apache-2.0
#include "strategies/compression.hpp"

#include <algorithm>

namespace strategies {

void store_in_8_bit(model::Operators& block, const Drop& drop, double element) {
  for (auto& op : block)
    for (auto& tensor : op.kept) {
      if (!tensor.operand || drops(drop, op, tensor)) continue;
      const units::Bytes wide = tensor.size;
      tensor.size = (stored_value_bytes / element) * wide;
      const units::Kernel cast{.kind = units::Kernel::Kind::stream, .traffic = wide + tensor.size};
      op.forward.push_back(cast);
      op.weight_gradient.insert(op.weight_gradient.begin(), cast);
      op.largest = std::max(op.largest, wide);  // while the gradient reads it
    }
}

}  // namespace strategies

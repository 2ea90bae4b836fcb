// SPDX-License-Identifier: Apache-2.0
#include "strategies/compression.hpp"

#include <algorithm>

namespace strategies {

void store_in_8_bit(model::Operators& block, const Drop& drop) {
  for (auto& op : block)
    for (auto& tensor : op.kept) {
      if (tensor.value_bytes <= stored_value_bytes || drops(drop, op, tensor)) continue;
      const units::Bytes wide = tensor.size;
      tensor.size = (stored_value_bytes / tensor.value_bytes) * wide;
      const units::Kernel cast{.kind = units::Kernel::Kind::stream, .traffic = wide + tensor.size};
      op.forward.push_back(cast);
      auto& reader = op.weight_gradient.empty() ? op.input_gradient : op.weight_gradient;
      reader.insert(reader.begin(), cast);
      op.largest = std::max(op.largest, wide);  // while the gradient reads it
    }
}

}  // namespace strategies

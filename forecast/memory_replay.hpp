// SPDX-License-Identifier: Apache-2.0
// What the caching allocator does for one rank.
#pragma once
#include <string>
#include <vector>

#include "allocator/replay.hpp"

namespace forecast {

struct NamedTensor {
  std::string name, category;  // "layer 3 attention: keys", "activations"
  friend bool operator==(const NamedTensor&, const NamedTensor&) = default;
};

// As PyTorch's memory history has it: what happened, and what is there at the end.
struct MemoryHistory {
  allocator::Settings settings;
  allocator::Trace trace;
  std::vector<allocator::Segment> segments;
  std::vector<NamedTensor> tensors;  // by allocator::TensorId
};

}  // namespace forecast

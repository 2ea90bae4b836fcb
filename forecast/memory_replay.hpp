// SPDX-License-Identifier: Apache-2.0
// What the caching allocator does for one rank.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "allocator/replay.hpp"
#include "forecast/scenario.hpp"

namespace forecast {

// Of a block of the model, an operator of it; either may be empty.
struct NamedTensor {
  std::string block, op, what, category;  // "layer 3", "qkv", "input", "activations"
  std::string name() const;               // "layer 3: qkv, input"
  friend bool operator==(const NamedTensor&, const NamedTensor&) = default;
};

// As PyTorch's memory history has it: what happened, and what is there at the end.
struct MemoryHistory {
  allocator::Settings settings;
  allocator::Trace trace;
  std::vector<allocator::Segment> segments;
  std::vector<NamedTensor> tensors;  // by allocator::TensorId
};

// Steps that a history covers: the first, and one that finds what that left.
inline constexpr std::int64_t steps_in_history = 2;

// Of a rank of a pipeline stage: what the caching allocator does with its tensors
// (memory_timeline.hpp) in its usual settings, where it may have what the device has beside the
// framework and its communicators. Where that is not enough it ends with an entry `oom`. Lowers the
// step anew. Throws what simulate throws.
MemoryHistory memory_history(const Scenario& scenario, int stage);

}  // namespace forecast

// SPDX-License-Identifier: Apache-2.0
// The calls of the caching allocator for one rank.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "allocator/replay.hpp"
#include "forecast/scenario.hpp"

namespace forecast {

// A tensor with the block of the model and the operator that it belongs to; either may be empty.
struct NamedTensor {
  std::string block, op, what, category;  // "layer 3", "qkv", "input", "activations"
  std::string name() const;               // "layer 3: qkv, input"
  friend bool operator==(const NamedTensor&, const NamedTensor&) = default;
};

// A memory history as PyTorch records it: the events, and the segments at the end.
struct MemoryHistory {
  allocator::Settings settings;
  allocator::Trace trace;
  std::vector<allocator::Segment> segments;
  std::vector<NamedTensor> tensors;  // by allocator::TensorId
};

// Steps of a history: the first, and one that finds the blocks cached by the first.
inline constexpr std::int64_t steps_in_history = 2;

// The history of a rank of a pipeline stage: its tensors (memory_timeline.hpp) in a caching
// allocator with its usual settings, which may take the device's memory without that of the
// framework and its communicators. If the memory does not suffice, the history ends with an entry
// `oom`. Lowers the step anew. Throws what simulate throws.
MemoryHistory memory_history(const Scenario& scenario, int stage);

}  // namespace forecast

// SPDX-License-Identifier: Apache-2.0
// The tensors that one rank allocates and frees in a step, in the order in which its host does so.
#pragma once
#include <cstdint>
#include <vector>

#include "forecast/memory_replay.hpp"
#include "forecast/scenario.hpp"
#include "strategies/lowered.hpp"

namespace forecast {

// The tensors of one actor of a lowered step, all on one stream. Tensors that exist throughout
// (weights, gradients and states of the optimizer, by block; workspaces) are allocated before the
// first step. A step allocates
// - one buffer for the parameters that ZeRO gathers, from its begin to the end of its last pass;
// - forward, operator by operator, the tensors that are saved, and those that are alive only while
//   the operator runs; tensors that the backward pass makes again are freed when the block has run;
// - backward, the tensors that run again, and gradients of activations; an operator's saved tensors
//   are freed with its gradients; gradients of parameters that come late exist from the end of
//   their block until the optimizer has run;
// - then copies and buffers of gradients on their way, until the optimizer has run.
// Memory counts these tensors, and the most bytes alive at once are its `peak_allocated`
// (docs/memory.md names the differences that may remain). O(passes · operators)
struct TensorTimeline {
  allocator::Timeline events;
  std::vector<NamedTensor> names;
  std::vector<std::uint32_t> name_of;  // by allocator::TensorId: which of `names`

  const NamedTensor& named(allocator::TensorId tensor) const { return names[name_of[tensor]]; }
};
TensorTimeline tensor_timeline(const Scenario& scenario, const strategies::Lowered& lowered,
                               std::uint32_t actor);

// The most bytes that are allocated at once, as the program asks for them, and the tensors that are
// alive when that is for the first time, in the order of their ids. O(events)
struct AliveAtPeak {
  struct Tensor {
    allocator::TensorId id;
    std::int64_t size;
  };
  std::int64_t bytes = 0;
  std::vector<Tensor> alive;
};
AliveAtPeak peak_of(const allocator::Timeline& events);

}  // namespace forecast

// SPDX-License-Identifier: Apache-2.0
// Private to the room: the tensors that the passes of one virtual stage allocate and free for one
// microbatch.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "forecast/tensor_log.hpp"
#include "plans/schedules/schedule.hpp"
#include "strategies/block_tensors.hpp"
#include "strategies/passes.hpp"

namespace forecast {

// A virtual stage: its blocks, and the tensors of each.
struct ChunkBlocks {
  std::vector<strategies::Block> blocks;
  std::vector<strategies::BlockTensors> tensors;
  std::vector<std::string> names;  // "layer 3", "embedding"
};

// The tensors that one microbatch holds of a virtual stage, from its forward to its backward pass.
class ChunkTensors {
 public:
  explicit ChunkTensors(const ChunkBlocks& chunk);

  // Adds to `ends` where each block's events end.
  using Ends = std::vector<std::size_t>;
  void forward(TensorLog& log, Ends& ends);
  // Logs a backward pass: of the gradients of inputs, of weights, or both.
  void backward(TensorLog& log, strategies::Pass pass, Ends& ends);

  class Backward;  // a backward pass, as strategies::walk_back visits it

 private:
  // The tensors of one block: by operator, those that stay until its gradients are made; and those
  // that belong to no operator.
  struct BlockTensors {
    std::vector<std::vector<allocator::TensorId>> kept, made_again;
    std::vector<allocator::TensorId> whole, input_again;
  };
  NamedTensor named(std::size_t block, std::string_view op, std::string_view what,
                    std::string_view category) const;
  void make_again(TensorLog& log, std::size_t block);
  std::int64_t offloaded(std::size_t block) const;
  std::int64_t again(std::size_t block, std::size_t op, std::size_t tensor) const;

  const ChunkBlocks& chunk_;
  std::vector<BlockTensors> held_;
};

// The passes of one microbatch, each written once; its tensors are numbered from 0.
struct PassScripts {
  std::vector<NamedTensor> tensors;
  allocator::Events forward, backward, backward_input, backward_weight;
  ChunkTensors::Ends forward_ends, backward_ends;  // of each block, in the order in which they run

  const allocator::Events& of(strategies::Pass pass) const;
};
PassScripts scripts_of(const ChunkBlocks& chunk);

}  // namespace forecast

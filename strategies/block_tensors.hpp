// SPDX-License-Identifier: Apache-2.0
// The tensors of a block that a rank holds, and how long it holds them: one rule for the memory
// that passes count and for the list of allocations.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "model/layer.hpp"
#include "strategies/passes.hpp"

namespace strategies {

// The place of a tensor from its forward pass until its gradients are made: on the device, on the
// host, or nowhere, because the backward pass makes it again.
enum class Keeping : std::uint8_t { kept, offloaded, made_again };

struct BlockTensor {
  std::string_view name;
  std::int64_t bytes = 0;
  Keeping keeping = Keeping::kept;
  bool layer_input = false;
};

// The bytes of up to four tensors that are alive at a time; 0: no tensor.
using AtOnce = std::array<std::int64_t, 4>;
std::int64_t sum_of(const AtOnce& tensors);

struct OperatorTensors {
  std::string_view name;  // of the operator
  std::vector<BlockTensor> tensors;
  std::int64_t read = 0;  // of a tensor that is there before, and goes when it has run
  AtOnce made{};          // alive only while it runs
  AtOnce gradients{};     // alive only while its gradients are computed
};

// The parameters of one tensor of weights that this rank reads, before data-parallel ranks share
// them.
struct Weight {
  std::string_view op;  // name of the operator that reads it
  double parameters = 0;
  bool apart = false;    // data-parallel ranks of its own share it
  bool lm_head = false;  // the embedding's where these are tied
};

// Tensors of a block, by operator, in the order of execution.
struct BlockTensors {
  std::vector<OperatorTensors> operators;
  std::vector<Weight> weights;
  std::int64_t sent = 0;  // its output, kept after it went to another stage
  // Recomputation per operator: bytes of outputs that are kept on the device, bytes of those on the
  // host, and of the tensors that are made again the bytes that these outputs stand for.
  std::int64_t outputs = 0, outputs_offloaded = 0, replaced = 0;
};

// The rules for one block on the ranks of a share.
class TensorRules {
 public:
  TensorRules(const Share& share, const Block& block);

  // The tensors of an operator whose work `parts` ranks share equally.
  OperatorTensors of(const model::Operator& op, double parts) const;
  // Bytes of the rows that this rank has at the end of a layer.
  std::int64_t output() const { return output_; }

 private:
  Keeping keeping(const model::Operator& op, const model::Kept& tensor) const;

  const Block& block_;
  double tensor_parallel_;
  bool keeps_gathered_;
  units::Bytes keys_, rows_;
  std::int64_t output_;
  units::Bytes residual_;
};

// Adds the weights of an operator: one for each of its products if these are not `joined`, in
// proportion to what they make.
void add_weights(std::vector<Weight>& weights, const model::Operator& op, bool apart, bool joined);

}  // namespace strategies

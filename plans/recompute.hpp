// SPDX-License-Identifier: Apache-2.0
// Recomputation: the tensors of a layer that are dropped after its forward pass, and the operators
// that run again in the backward pass.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/layer.hpp"

namespace strategies {

// Some of a layer's modules, or all of the layer.
struct ModuleSet {
  std::uint8_t bits = 0;
  static ModuleSet of(std::span<const model::Module> modules);
  static constexpr ModuleSet all() { return {0xff}; }
  bool has(model::Module module) const { return ((bits >> static_cast<int>(module)) & 1) != 0; }
  // Whether a module of the set includes `module`.
  bool covers(model::Module module) const;
  friend auto operator<=>(const ModuleSet&, const ModuleSet&) = default;
};

// The activations of a layer that are dropped after its forward pass.
struct Drop {
  enum Kind : std::uint8_t {
    nothing,
    modules,    // tensors of the modules in `of`
    per_op,     // all but the outputs of every second matrix product and of attention
    everything  // all but the layer's input
  };
  Kind kind = nothing;
  ModuleSet of;
  friend auto operator<=>(const Drop&, const Drop&) = default;
};

// Facts besides the layer that decide per-op recomputation. Without a compiler, outputs are kept
// because of the operator that made them, whether the backward pass reads them or not, and all
// operators before the last operand run again; a compiler leaves out what nobody reads.
struct PerOp {
  bool compiled = false;
  double scattered = 0;  // share of the rows that a reduce-scatter leaves, which is kept; 0: none
};

// Operators of a layer that run again just before the gradients of operator `before`.
struct Replay {
  struct Run {
    std::size_t op;
    double share = 1;  // of its output
    bool sums = true;  // and what leaves it is summed over tensor-parallel ranks again
  };
  std::size_t before;
  std::vector<Run> runs;  // in model order
};

// The operators of a layer that run again, in the order of the backward pass. Modules run as in
// Megatron-Core: an output is made again where it is needed (layernorm: by the products of its
// half; moe_act, mla_up_proj: by the operator that follows), a block (core_attn, mlp, moe,
// shared_experts) before its own gradients, whole, its communication included. Per-op recomputation
// does as torchtitan: it counts matrix products in order, without those of experts, and runs the
// second of each pair again.
std::vector<Replay> replays_of(const model::Operators& layer, const Drop& drop, PerOp per_op);

// Whether the operator is one of a layer, not of what a prediction module has round its own.
inline bool in_layer(const model::Operator& op) {
  return op.part == model::Part::attention || op.part == model::Part::mlp;
}

// Whether a kept tensor is dropped instead. Outputs that per-op recomputation keeps come on top.
bool drops(const Drop& drop, const model::Operator& op, const model::Kept& tensor);

struct KeptOutputs {
  double kept = 0;      // bytes, of matrix products and of reduce-scatters
  double replaced = 0;  // of these, those that stand for dropped tensors
};
KeptOutputs kept_outputs(const model::Operators& layer, PerOp per_op);

}  // namespace strategies

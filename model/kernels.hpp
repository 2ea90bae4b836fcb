// SPDX-License-Identifier: Apache-2.0
// The kernels that compute the mathematics: facts of the software, not of the model or the device.
#pragma once
#include <cstdint>

#include "units/kernel.hpp"

namespace model {

// The kernel of the attention core: unfused = score matrix in memory, matrix products and a softmax
// kernel; flash = FlashAttention-2, only the log-sum-exp is kept; the others keep the same and
// differ in how fast they run: cuDNN's kernels (fused), FlashAttention-1 and -3, and xFormers'
// memory-efficient attention. The last two are a framework's choice by device, which a scenario is
// read with (strategies::attention_on): cuDNN's from a generation on, FlashAttention-2 before.
enum class AttentionKernel {
  unfused,
  fused,
  flash,
  flash_1,
  flash_3,
  memory_efficient,
  fused_from_hopper,
  fused_from_blackwell
};

// The method that finds the scales of fp8: from the largest values of earlier steps, or from the
// tensor as it is, with one scale for all of it, for each row or for each block.
enum class Scaling { delayed, tensorwise, rowwise, blockwise };

// The products of the routed experts that are here: a launch for each (Transformer Engine's grouped
// linear, which hands them to cuBLAS on four streams), one for all, or one for all that takes their
// biases, the activation and the cast of its result along (cuDNN's grouped products in Transformer
// Engine's fused MLP; mxfp8 only, otherwise one by one).
enum class ExpertProducts { one_by_one, grouped, fused };

// Linear layers by the part of a transformer layer that they belong to.
enum class LinearPart : std::uint8_t { attention, mlp, experts, shared_experts };
// The gradients that a linear layer computes, each by a product.
enum class LinearGradient : std::uint8_t { inputs, weights };

// Products of linear layers that stay in 16 bit where the others are in 8 or 4 bit: all of these
// parts, and these gradients of every part.
struct WideProducts {
  bool attention = false, mlp = false, experts = false, shared_experts = false;
  bool input_gradients = false, weight_gradients = false;
  friend bool operator==(const WideProducts&, const WideProducts&) = default;
};

struct Kernels {
  AttentionKernel attention = AttentionKernel::flash;
  bool fused_softmax = true;  // scale, mask and softmax of the score matrix in one kernel
  // Without that kernel: scores of 16 bit are cast to fp32 for the softmax, and its result back.
  bool softmax_in_fp32 = false;
  // torch.autocast over fp32 weights: products alone compute in 16 bit, each after casts of its
  // own. Norms, the softmax of scores and all that layers hand on stay in fp32 (PyTorch's
  // documentation, "CUDA Op-Specific Behavior").
  bool autocast = false;
  bool joins_casts = false;           // a compiler joins the casts of values to their neighbours
  bool fused_bias_activation = true;  // bias and GELU (or SwiGLU's two halves) in one kernel
  // The approximation of GELU by tanh as Python writes it, a kernel for each operation
  // (Transformers' NewGELUActivation).
  bool gelu_in_steps = false;
  bool fused_bias_dropout_add = true;  // bias, dropout and residual in one kernel
  // FlashAttention's output, copied from its batch-first layout into the sequence-first one of the
  // layers, is kept in both: for its own gradient, and as the output projection's input.
  bool copies_attention_output = false;
  bool fused_norm = true;
  bool fused_rotary = true;
  // One product makes queries, keys and values, and one both halves of a gated MLP; otherwise each
  // has a product of its own, and their gradients of the common input are summed up.
  bool joined_projections = true;
  // Keys and values are copied for every head of queries that reads them, in front of the attention
  // core; otherwise the core reads the few that the model has.
  bool repeats_kv = false;
  bool fused_cross_entropy = false;
  // A compiler joins the steps of cross entropy: only the 16-bit logits and their gradients are
  // ever whole.
  bool compiled_cross_entropy = false;
  bool cross_entropy_in_place = false;  // otherwise each of its steps makes logits anew
  // A compiled step writes gradients over tensors that nothing reads later: those of the logits
  // over the logits, those of an activation's input over those of its output.
  bool gradients_in_place = false;
  // The head and its loss run over so many parts of the tokens in turn, each with its gradients, so
  // that the logits of one part alone are ever there (Liger's fused linear cross entropy,
  // torchtitan's chunked loss). `by_width`: the vocabulary over the width, as Liger has it.
  static constexpr std::int64_t by_width = 0, most_loss_chunks = 1024;
  std::int64_t loss_chunks = 1;
  bool fused_gradient_accumulation = true;  // weight gradients are summed up inside the product
  // If they are not: autograd sums them up in 16 bit, and the sums of a microbatch are cast, added
  // to wider ones and zeroed, kernel by kernel (DeepSpeed's BF16_Optimizer).
  bool staged_gradient_accumulation = false;
  double gradient_bytes = 4;           // bytes of one of these sums
  Scaling scaling = Scaling::delayed;  // in fp8; mxfp8 and nvfp4 have scales of their own
  // Kernels of the layer copy a token for its experts before it leaves its rank and sum the results
  // when they are back; otherwise rows travel, and the copies are no work of the layer.
  bool copies_tokens = true;
  // Instead, products with one-hot matrices do both (einsum of GShard and DeepSpeed).
  bool einsum_dispatch = false;
  ExpertProducts expert_products = ExpertProducts::grouped;
  WideProducts wide;
  friend bool operator==(const Kernels&, const Kernels&) = default;
};

constexpr bool fuses_experts(const Kernels& kernels, units::Precision precision) {
  return kernels.expert_products == ExpertProducts::fused && precision == units::Precision::mxfp8;
}

}  // namespace model

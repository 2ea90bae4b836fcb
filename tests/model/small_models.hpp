// SPDX-License-Identifier: Apache-2.0
// Transformers small enough for a pencil, and sums over their operators.
#pragma once
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "model/layer.hpp"

namespace small_models {

inline constexpr model::Kernels unfused{.attention = model::AttentionKernel::unfused};
inline constexpr model::Kernels flash{.attention = model::AttentionKernel::flash};
inline constexpr auto bf16 = units::Precision::bf16;

inline double total(const std::vector<units::Bytes>& tensors) {
  double sum = 0;
  for (const auto& bytes : tensors) sum += bytes.value;
  return sum;
}

// A model of Llama's kind of layer: SwiGLU, RMS norms, no biases.
inline model::Transformer llama(std::int64_t hidden = 64, std::int64_t heads = 4) {
  return {.layers = 3,
          .hidden = hidden,
          .heads = heads,
          .kv_heads = heads,
          .head_dim = hidden / heads,
          .ffn = 3 * hidden,
          .vocab = 100,
          .max_sequence = 32,
          .activation = model::Activation::swiglu,
          .norm = model::Norm::rmsnorm,
          .position = model::Position::rope,
          .tied_embeddings = false,
          .biases = false,
          .qkv_biases = false,
          .dropout = 0};
}

inline model::Transformer mixture(std::int64_t experts, std::int64_t top_k, std::int64_t ffn) {
  auto t = llama();
  t.moe = model::Moe{.experts = experts, .top_k = top_k, .expert_ffn = ffn};
  return t;
}

inline void make_latent(model::Transformer& t, std::int64_t q_rank) {
  t.latent = model::LatentAttention{.q_lora_rank = q_rank,
                                    .kv_lora_rank = 12,
                                    .qk_nope_head_dim = 10,
                                    .qk_rope_head_dim = 6,
                                    .v_head_dim = 14};
  t.head_dim = 16;
  t.kv_heads = t.heads;
}

// A random mixture of all that a description may hold.
inline model::Transformer random_model(std::mt19937& random) {
  const auto from = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  const auto coin = [&] { return from(0, 1) == 1; };
  auto t = llama(16 * from(1, 8), 4);
  t.output_bias = coin();
  t.attention_sinks = coin();
  t.query_key_norm = coin();
  if (coin()) make_latent(t, 5 * from(0, 3));
  if (t.latent) t.query_key_norm = false;
  t.layers = from(1, 6);
  if (coin())
    t.window =
        model::Window{from(1, 20), static_cast<int>(from(1, 3)), static_cast<int>(from(0, 3))};
  t.multi_token_prediction = static_cast<int>(from(0, 2));
  if (!coin()) return t;
  const auto experts = from(1, 9);
  t.moe = model::Moe{.experts = experts,
                     .top_k = from(1, experts),
                     .expert_ffn = from(1, 50),
                     .shared_experts = from(0, 2),
                     .shared_ffn = from(1, 50),
                     .first_dense_layers = from(0, 3),
                     .every = static_cast<int>(from(1, 3)),
                     .router_bias = coin(),
                     .expert_biases = coin(),
                     .shared_gate = false};
  t.moe->shared_gate = t.moe->shared_experts > 0 && coin();
  return t;
}

// The operators of that layer of the model, undivided.
inline model::Operators layer_of(const model::Transformer& t, const model::Extent& extent,
                                 const model::Kernels& kernels, std::int64_t layer) {
  return model::layer(t, extent, kernels, bf16,
                      model::is_windowed_layer(t, layer) ? t.window->size : 0,
                      model::is_moe_layer(t, layer) ? model::Mlp::experts : model::Mlp::dense);
}

inline model::Operators experts_of(const model::Transformer& t, const model::Extent& extent) {
  return model::layer(t, extent, flash, bf16, 0, model::Mlp::experts);
}

inline const model::Operator& named(const model::Operators& operators, std::string_view name) {
  for (const auto& op : operators)
    if (op.name == name) return op;
  throw std::out_of_range("no operator " + std::string(name));
}

inline double product_flops(const std::vector<units::Kernel>& kernels) {
  double sum = 0;
  for (const auto& kernel : kernels)
    if (kernel.kind == units::Kernel::Kind::product) sum += kernel.flops.value;
  return sum;
}

// The bytes that are kept when tensors that recomputing `selected` makes again are not.
inline double kept(const model::Operators& operators,
                   model::Module selected = model::Module::other) {
  double sum = 0;
  for (const auto& op : operators)
    for (const auto& tensor : op.kept)
      if (!model::includes(selected, tensor.module)) sum += tensor.size.value;
  return sum;
}

}  // namespace small_models

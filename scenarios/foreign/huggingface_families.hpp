// SPDX-License-Identifier: Apache-2.0
// The kinds of model that a config.json may name.
#pragma once
#include <array>
#include <string_view>

#include "model/transformer.hpp"

namespace scenarios {

// What the library's class of that model_type does when the file says nothing.
struct Family {
  std::string_view type;
  bool gated = true;
  model::Norm norm = model::Norm::rmsnorm;
  model::Position position = model::Position::rope;
  bool tied = false;
  bool biases = false, qkv_biases = false;
  bool parallel = false;
  int norms = 2;
  bool query_key_norm = false;
  bool latent = false, experts = false;
  double dropout = 0.0;
  std::string_view approximation{};  // what the description cannot hold, if anything
};

inline constexpr model::Norm layernorm = model::Norm::layernorm;

inline constexpr auto cohere_note = "its layernorm has no bias; counted as rmsnorm";
inline constexpr auto gptj_note =
    "biases of attention's output and of the head differ from the description by under 0.01 % of "
    "the parameters";
inline constexpr auto head_bias_note = "the bias of its head (one value per word) is left out";
inline constexpr auto olmo_note = "its query and key norms span all heads; counted as one head's";

inline constexpr auto llama4_note =
    "only the part that reads and writes text; all layers look back all the way, though three of "
    "four attend within chunks of attention_chunk_size tokens";

inline constexpr std::array<Family, 32> families{{
    {.type = "gpt2",
     .gated = false,
     .norm = layernorm,
     .position = model::Position::learned,
     .tied = true,
     .biases = true,
     .qkv_biases = true,
     .dropout = 0.1},
    {.type = "gpt_neox",
     .gated = false,
     .norm = layernorm,
     .biases = true,
     .qkv_biases = true,
     .parallel = true},
    {.type = "gptj",
     .gated = false,
     .norm = layernorm,
     .biases = true,
     .parallel = true,
     .norms = 1,
     .approximation = gptj_note},
    {.type = "gpt_bigcode",
     .gated = false,
     .norm = layernorm,
     .position = model::Position::learned,
     .tied = true,
     .biases = true,
     .qkv_biases = true,
     .dropout = 0.1},
    {.type = "llama"},
    {.type = "mistral"},
    {.type = "qwen2", .qkv_biases = true},
    {.type = "qwen3", .query_key_norm = true},
    {.type = "phi3"},
    {.type = "phi-msft",
     .gated = false,
     .norm = layernorm,
     .biases = true,
     .qkv_biases = true,
     .parallel = true,
     .norms = 1,
     .approximation = head_bias_note},
    {.type = "gemma", .tied = true},
    {.type = "gemma2", .tied = true, .norms = 4},
    {.type = "gemma3_text", .tied = true, .norms = 4, .query_key_norm = true},
    {.type = "olmo2", .query_key_norm = true, .approximation = olmo_note},
    {.type = "starcoder2",
     .gated = false,
     .norm = layernorm,
     .tied = true,
     .biases = true,
     .qkv_biases = true},
    {.type = "stablelm", .norm = layernorm},
    {.type = "cohere", .tied = true, .parallel = true, .norms = 1, .approximation = cohere_note},
    {.type = "falcon",
     .gated = false,
     .norm = layernorm,
     .tied = true,
     .parallel = true,
     .norms = 1},
    {.type = "mimo", .qkv_biases = true},
    {.type = "mixtral", .experts = true},
    {.type = "qwen2_moe", .qkv_biases = true, .experts = true},
    {.type = "qwen3_moe", .query_key_norm = true, .experts = true},
    {.type = "deepseek_v2", .latent = true, .experts = true},
    {.type = "deepseek_v3", .latent = true, .experts = true},
    {.type = "kimi_k2", .latent = true, .experts = true},
    {.type = "gpt_oss", .qkv_biases = true, .experts = true},
    {.type = "olmoe", .query_key_norm = true, .experts = true, .approximation = olmo_note},
    {.type = "phimoe", .norm = layernorm, .experts = true, .approximation = head_bias_note},
    {.type = "dbrx", .experts = true, .approximation = cohere_note},
    {.type = "llama4", .experts = true, .approximation = llama4_note},
    {.type = "llama4_text", .experts = true, .approximation = llama4_note},
    {.type = "minimax_m2", .query_key_norm = true, .experts = true, .approximation = olmo_note},
}};

// Kinds that the description of a transformer cannot hold, and why.
struct Refused {
  std::string_view type, reason;
};

inline constexpr auto indexer =
    "an indexer chooses the tokens that each attention layer looks at, and neither its parameters "
    "nor its sparsity can be described";

inline constexpr std::array<Refused, 5> refused{{
    {"deepseek_v32", indexer},
    {"glm_moe_dsa", indexer},
    {"deepseek_v4",
     "its attention looks at compressed tokens that an indexer chooses, and its residual stream is "
     "several"},
    {"gemma4",
     "its global layers have heads of another size and one projection for keys and values, and "
     "experts stand beside an MLP"},
    {"nemotron_h", "most of its layers are state-space models or have no attention"},
}};

}  // namespace scenarios

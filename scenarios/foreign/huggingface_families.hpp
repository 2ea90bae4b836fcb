// SPDX-License-Identifier: Apache-2.0
// The kinds of model that a config.json may name.
#pragma once
#include <array>
#include <span>
#include <string_view>

#include "model/transformer.hpp"
#include "scenarios/foreign/huggingface_fields.hpp"

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
  // Keys by which the file switches parts on; null: no file of that kind can.
  const char* biases_key = nullptr;                // biases of every linear layer
  const char* output_bias_key = "attention_bias";  // that of attention's output projection
  const char* query_key_norm_key = nullptr;        // norms of queries and keys
  bool router_bias = false;                        // one value per expert
  int window_period = 1;                           // the window is for the first of so many
  int full_period = 0;                             // the last of so many looks back all the way
  std::span<const ClassDefault> sizes{};
};

inline constexpr model::Norm layernorm = model::Norm::layernorm;

inline constexpr auto cohere_note = "its layernorm has no bias; counted as rmsnorm";
inline constexpr auto gptj_note =
    "biases of attention's output and of the head differ from the description by under 0.01 % of "
    "the parameters";
inline constexpr auto head_bias_note = "the bias of its head (one value per word) is left out";
inline constexpr auto olmo_note = "its query and key norms span all heads; counted as one head's";

inline constexpr auto llama4_note =
    "all layers look back all the way, though three of four attend within chunks of "
    "attention_chunk_size tokens";
inline constexpr auto opt_note = "its table of positions has two rows more than positions";
inline constexpr auto bloom_note = "the norm behind its embedding is left out";
inline constexpr auto bare_norm_note = "its layernorm has no weights; counted as rmsnorm";
inline constexpr auto smollm_note = "every fourth layer rotates nothing; counted as rotating";
inline constexpr auto xielu_note = "its activation, xIELU, is counted as a squared ReLU";

// Gemma3TextConfig: files of transformers print only what differs.
inline constexpr std::array<ClassDefault, 9> gemma3_sizes{{{"vocab_size", 262'208},
                                                           {"hidden_size", 2304},
                                                           {"intermediate_size", 9216},
                                                           {"num_hidden_layers", 26},
                                                           {"num_attention_heads", 8},
                                                           {"num_key_value_heads", 4},
                                                           {"head_dim", 256},
                                                           {"max_position_embeddings", 131'072},
                                                           {"sliding_window", 4096}}};

inline constexpr auto families = std::to_array<Family>({
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
    {.type = "gemma2", .tied = true, .norms = 4, .window_period = 2},
    {.type = "gemma3_text",
     .tied = true,
     .norms = 4,
     .query_key_norm = true,
     .full_period = 6,
     .sizes = gemma3_sizes},
    {.type = "olmo2", .query_key_norm = true, .approximation = olmo_note},
    {.type = "starcoder2",
     .gated = false,
     .norm = layernorm,
     .tied = true,
     .biases = true,
     .qkv_biases = true,
     .biases_key = "use_bias"},
    {.type = "stablelm", .norm = layernorm, .query_key_norm_key = "qk_layernorm"},
    {.type = "cohere",
     .tied = true,
     .parallel = true,
     .norms = 1,
     .approximation = cohere_note,
     .query_key_norm_key = "use_qk_norm"},
    {.type = "cohere2",
     .tied = true,
     .parallel = true,
     .norms = 1,
     .approximation = cohere_note,
     .full_period = 4},
    {.type = "falcon",
     .gated = false,
     .norm = layernorm,
     .tied = true,
     .parallel = true,
     .norms = 1,
     .biases_key = "bias"},
    {.type = "mimo", .qkv_biases = true},
    {.type = "opt",
     .gated = false,
     .norm = layernorm,
     .position = model::Position::learned,
     .tied = true,
     .biases = true,
     .qkv_biases = true,
     .dropout = 0.1,
     .approximation = opt_note,
     .biases_key = "enable_bias"},
    {.type = "bloom",
     .gated = false,
     .norm = layernorm,
     .position = model::Position::alibi,
     .tied = true,
     .biases = true,
     .qkv_biases = true,
     .approximation = bloom_note},
    {.type = "mpt",
     .gated = false,
     .position = model::Position::learned,
     .tied = true,
     .approximation = cohere_note},
    {.type = "phi",
     .gated = false,
     .norm = layernorm,
     .biases = true,
     .qkv_biases = true,
     .parallel = true,
     .norms = 1,
     .approximation = head_bias_note},
    {.type = "nemotron", .gated = false, .norm = layernorm},
    {.type = "arcee", .gated = false},
    {.type = "apertus", .gated = false, .query_key_norm = true, .approximation = xielu_note},
    {.type = "olmo", .approximation = bare_norm_note},
    {.type = "olmo3", .query_key_norm = true, .approximation = olmo_note, .full_period = 4},
    {.type = "smollm3", .tied = true, .approximation = smollm_note},
    {.type = "exaone"},
    {.type = "exaone4", .query_key_norm = true, .full_period = 4},
    {.type = "ernie4_5", .tied = true, .biases_key = "use_bias"},
    {.type = "hunyuan_v1_dense", .query_key_norm = true, .query_key_norm_key = "use_qk_norm"},
    {.type = "seed_oss", .qkv_biases = true, .output_bias_key = "attention_out_bias"},
    {.type = "granite"},
    {.type = "glm", .qkv_biases = true, .output_bias_key = nullptr},
    {.type = "glm4", .norms = 4, .output_bias_key = nullptr},
    {.type = "mixtral", .experts = true},
    {.type = "qwen2_moe", .qkv_biases = true, .experts = true},
    {.type = "qwen3_moe", .query_key_norm = true, .experts = true},
    {.type = "deepseek_v2", .latent = true, .experts = true},
    {.type = "deepseek_v3", .latent = true, .experts = true},
    {.type = "kimi_k2", .latent = true, .experts = true},
    {.type = "gpt_oss",
     .qkv_biases = true,
     .experts = true,
     .router_bias = true,
     .window_period = 2},
    {.type = "deepseek", .experts = true},
    {.type = "dots1", .query_key_norm = true, .experts = true, .router_bias = true},
    {.type = "glm4_moe",
     .experts = true,
     .output_bias_key = nullptr,
     .query_key_norm_key = "use_qk_norm",
     .router_bias = true},
    {.type = "glm4_moe_lite", .latent = true, .experts = true, .router_bias = true},
    {.type = "ernie4_5_moe",
     .tied = true,
     .experts = true,
     .biases_key = "use_bias",
     .router_bias = true},
    {.type = "hunyuan_v1_moe",
     .query_key_norm = true,
     .experts = true,
     .query_key_norm_key = "use_qk_norm"},
    {.type = "granitemoe", .experts = true},
    {.type = "granitemoeshared", .experts = true},
    {.type = "olmoe", .query_key_norm = true, .experts = true, .approximation = olmo_note},
    {.type = "phimoe", .norm = layernorm, .experts = true, .approximation = head_bias_note},
    {.type = "dbrx", .experts = true, .approximation = cohere_note},
    {.type = "llama4", .experts = true, .approximation = llama4_note},
    {.type = "llama4_text", .experts = true, .approximation = llama4_note},
    {.type = "minimax_m2", .query_key_norm = true, .experts = true, .approximation = olmo_note},
});

// Kinds whose part for text is another kind in everything that is counted.
struct Alias {
  std::string_view type, like;
};

inline constexpr auto aliases = std::to_array<Alias>({{"gemma3", "gemma3_text"},
                                                      {"glm4v_moe", "glm4_moe"},
                                                      {"glm4v_moe_text", "glm4_moe"},
                                                      {"kimi_k25", "kimi_k2"},
                                                      {"ministral", "mistral"},
                                                      {"ministral3", "mistral"},
                                                      {"qwen2_5_vl", "qwen2"},
                                                      {"qwen2_5_vl_text", "qwen2"},
                                                      {"qwen2_vl", "qwen2"},
                                                      {"qwen2_vl_text", "qwen2"},
                                                      {"qwen3_omni_moe_text", "qwen3_moe"},
                                                      {"qwen3_vl", "qwen3"},
                                                      {"qwen3_vl_moe", "qwen3_moe"},
                                                      {"qwen3_vl_moe_text", "qwen3_moe"},
                                                      {"qwen3_vl_text", "qwen3"}});

}  // namespace scenarios

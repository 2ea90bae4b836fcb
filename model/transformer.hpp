// SPDX-License-Identifier: Apache-2.0
// A transformer as its authors describe it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace model {

enum class Activation { gelu, relu, squared_relu, swiglu, geglu };
enum class Norm { layernorm, rmsnorm };
enum class Position { learned, rope, alibi, none };

// The first of every `every` layers attends to at most `size` tokens back, the others to all; the
// last of every `full_every` layers, where that is not 0, to all too (Gemma 3: 6).
struct Window {
  std::int64_t size = 0;
  int every = 1;
  int full_every = 0;
  friend bool operator==(const Window&, const Window&) = default;
};

// Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1): queries, and keys with
// values, are projected down to a few values per token, normed, and projected up to the heads. A
// part of every query is rotated, and its counterpart in the keys is one for all heads.
struct LatentAttention {
  std::int64_t q_lora_rank = 0;  // 0: queries are projected at once
  std::int64_t kv_lora_rank = 0;
  std::int64_t qk_nope_head_dim = 0;  // not rotated
  std::int64_t qk_rope_head_dim = 0;  // rotated
  std::int64_t v_head_dim = 0;
  std::int64_t qk_head_dim() const { return qk_nope_head_dim + qk_rope_head_dim; }
  friend bool operator==(const LatentAttention&, const LatentAttention&) = default;
};

// Layers whose MLP is a choice of `top_k` of `experts` MLPs for each token, beside those that every
// token sees.
struct Moe {
  std::int64_t experts = 0;
  std::int64_t top_k = 0;
  std::int64_t expert_ffn = 0;  // width of one projection of one expert
  std::int64_t shared_experts = 0;
  std::int64_t shared_ffn = 0;            // of one shared expert
  std::int64_t first_dense_layers = 0;    // layers at the beginning that have an MLP of width ffn
  int every = 1;                          // from there on the first of each `every` has experts
  std::optional<double> capacity_factor;  // room over the fair share of tokens; absent: dropless
  // Each expert gets exactly its capacity of rows; the empty ones are sent and computed, too.
  bool pad_to_capacity = false;
  double imbalance = 1;        // tokens of the fullest expert-parallel rank over the mean
  bool router_bias = false;    // one value per expert (DeepSeek-V3's balancing, gpt-oss's product)
  bool expert_biases = false;  // on every projection of the routed experts (gpt-oss)
  bool shared_gate = false;    // the shared experts' output times a gate of the token (Qwen2)
  friend bool operator==(const Moe&, const Moe&) = default;
};

struct Transformer {
  std::string name;
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;  // = heads: MHA; 1: MQA; between: GQA
  std::int64_t head_dim = 0;  // need not be hidden / heads
  std::int64_t ffn = 0;       // width of one projection
  std::int64_t vocab = 0;     // before padding
  std::int64_t max_sequence = 0;
  Activation activation = Activation::gelu;
  Norm norm = Norm::layernorm;
  Position position = Position::learned;
  bool tied_embeddings = true;
  bool biases = true;        // on every linear layer
  bool qkv_biases = true;    // on the query, key and value projection (Qwen2: only there)
  bool output_bias = false;  // on attention's output projection, whatever `biases` says (gpt-oss)
  bool parallel_block = false;   // attention and MLP read the same norm (GPT-NeoX, Falcon, phi-2)
  int norms_per_layer = 2;       // Gemma 2: 4
  bool query_key_norm = false;   // a norm per head on queries and keys (Qwen3)
  bool attention_sinks = false;  // one learned score per head that takes part in the softmax
  double dropout = 0.1;
  bool causal = true;
  std::optional<Window> window;
  std::optional<LatentAttention> latent;  // then head_dim is its qk_head_dim(), kv_heads = heads
  std::optional<Moe> moe;
  int multi_token_prediction = 0;  // modules that predict one token further each

  bool gated() const { return activation == Activation::swiglu || activation == Activation::geglu; }
  std::int64_t v_head_dim() const { return latent ? latent->v_head_dim : head_dim; }
  friend bool operator==(const Transformer&, const Transformer&) = default;
};

// Layers are counted from 0; one beyond the last is a prediction module's.
bool is_moe_layer(const Transformer& transformer, std::int64_t layer);
bool is_windowed_layer(const Transformer& transformer, std::int64_t layer);

// The number of parameters, with embedding, head and the unpadded vocabulary, without prediction
// modules. A GPT with biases and learned positions: L(12h²+13h) + h(V+s) + 2h.
std::int64_t parameters(const Transformer& transformer);

// The number of parameters that one token meets: only top_k of the routed experts count.
std::int64_t active_parameters(const Transformer& transformer);

// The parameters of all prediction modules together: two norms, the projection of 2h to h, a layer
// and the head's norm each (DeepSeek-V3, arXiv 2412.19437, section 2.2). Embedding and head are the
// model's own.
std::int64_t prediction_parameters(const Transformer& transformer);

}  // namespace model

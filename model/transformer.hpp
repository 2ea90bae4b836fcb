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

// Every `every`-th layer attends to at most `size` tokens back; the others to all.
struct Window {
  std::int64_t size = 0;
  int every = 1;
  friend bool operator==(const Window&, const Window&) = default;
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
  bool biases = true;           // on every linear layer
  bool qkv_biases = true;       // on the query, key and value projection (Qwen2: only there)
  bool parallel_block = false;  // attention and MLP read the same norm (GPT-NeoX, Falcon, phi-2)
  int norms_per_layer = 2;      // Gemma 2: 4
  bool query_key_norm = false;  // a norm per head on queries and keys (Qwen3)
  double dropout = 0.1;
  bool causal = true;
  std::optional<Window> window;

  bool gated() const { return activation == Activation::swiglu || activation == Activation::geglu; }
  friend bool operator==(const Transformer&, const Transformer&) = default;
};

// Parameters, embedding and head included, vocabulary unpadded.
// A GPT with biases and learned positions: L(12h²+13h) + h(V+s) + 2h.
std::int64_t parameters(const Transformer& transformer);

}  // namespace model

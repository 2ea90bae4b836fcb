// SPDX-License-Identifier: Apache-2.0
// Layers of a config.json: which have experts, which a window, and which nobody can describe.
#include <cstdint>
#include <string>
#include <vector>

#include "model/transformer.hpp"
#include "scenarios/documents/error.hpp"
#include "scenarios/foreign/huggingface.hpp"
#include "scenarios/foreign/huggingface_families.hpp"
#include "scenarios/foreign/huggingface_refused.hpp"
#include "tests/catch.hpp"

namespace huggingface_layers_spec {

namespace {

model::Transformer read(const std::string& text) {
  return scenarios::read_huggingface(text, "c.json", nullptr);
}

// A small model of 6 layers of this type with more keys; Mistral's classes have 8 key heads.
std::string small(const std::string& type, const std::string& more) {
  const bool own = type.starts_with("mi") && more.find("num_key_value_heads") == more.npos;
  return R"({"model_type": ")" + type + (own ? R"(", "num_key_value_heads": 4, )" : R"(", )") +
         R"("num_hidden_layers": 6, "hidden_size": 64, "num_attention_heads": 4,
 "vocab_size": 100, "intermediate_size": 96, "max_position_embeddings": 4096)" +
         (more.empty() ? "" : ", " + more) + "}";
}

std::string refusal(const std::string& text) {
  try {
    read(text);
  } catch (const scenarios::Error& wrong) {
    return wrong.what();
  }
  return "read";
}

// "0" for a dense layer and "1" for one with experts.
std::string experts_of(const std::string& type, const std::string& more) {
  const auto model = read(small(type, R"("num_experts_per_tok": 2, )" + more));
  std::string all;
  for (std::int64_t layer = 0; layer < model.layers; ++layer)
    all += is_moe_layer(model, layer) ? '1' : '0';
  return all;
}

// "w" for a layer with a window.
std::string windows_of(const std::string& type, const std::string& more) {
  const auto model = read(small(type, more));
  std::string all;
  for (std::int64_t layer = 0; layer < model.layers; ++layer)
    all += is_windowed_layer(model, layer) ? 'w' : '-';
  return all + (model.window ? std::to_string(model.window->size) : "");
}

struct Case {
  std::string type, more, layers;
};

}  // namespace

TEST_CASE("layers with experts are those that the keys of each family say") {
  const std::string routed = R"("n_routed_experts": 8, "moe_intermediate_size": 32)";
  const std::string experts = R"("num_experts": 8, "moe_intermediate_size": 32)";
  const std::string local = R"("num_local_experts": 8)";
  const std::string ernie = R"("moe_num_experts": 8, "moe_k": 2, "moe_intermediate_size": 32, )";
  for (const auto& one : std::vector<Case>{
           {"mixtral", local, "111111"},
           {"deepseek", routed, "111111"},
           {"deepseek", routed + R"(, "first_k_dense_replace": 2)", "001111"},
           {"deepseek", routed + R"(, "moe_layer_freq": 2)", "101010"},
           {"deepseek", routed + R"(, "moe_layer_freq": 2, "first_k_dense_replace": 1)", "001010"},
           {"deepseek", routed + R"(, "moe_layer_freq": 3, "first_k_dense_replace": 3)", "000100"},
           {"deepseek", routed + R"(, "moe_layer_freq": [0, 0, 1, 1, 1, 1])", "001111"},
           {"qwen3_moe", experts, "111111"},
           {"qwen3_moe", experts + R"(, "decoder_sparse_step": 2)", "010101"},
           {"qwen3_moe", experts + R"(, "decoder_sparse_step": 3)", "001001"},
           {"qwen3_moe", experts + R"(, "mlp_only_layers": [0, 1])", "001111"},
           {"llama4_text", local + R"(, "interleave_moe_layer_step": 2)", "010101"},
           {"arctic", local + R"(, "moe_layer_frequency": 3)", "001001"},
           {"ernie4_5_moe", ernie + R"("moe_layer_start_index": 1)", "011111"},
           {"ernie4_5_moe", ernie + R"("moe_layer_start_index": 3, "moe_layer_interval": 2)",
            "000101"},
           {"ernie4_5_moe", ernie + R"("moe_layer_start_index": 2, "moe_layer_interval": 2)",
            "000101"}}) {
    INFO(one.type << " " << one.more);
    CHECK(experts_of(one.type, one.more) == one.layers);
  }
}

TEST_CASE("layers with experts that follow no rule are refused with the key") {
  const std::string experts = R"("num_experts_per_tok": 2, "num_experts": 8, )";
  const std::string ernie =
      R"("moe_num_experts": 8, "moe_k": 2, "moe_intermediate_size": 32, "moe_layer_start_index": 1, )";
  for (const auto& one : std::vector<Case>{
           {"qwen3_moe", experts + R"("mlp_only_layers": [0, 2])", "only the first layers"},
           {"qwen3_moe", experts + R"("mlp_only_layers": [5])", "only the first layers"},
           {"qwen3_moe", experts + R"("decoder_sparse_step": 2, "mlp_only_layers": [0])",
            "only the first layers can be without experts"},
           {"ernie4_5_moe", ernie + R"("moe_layer_end_index": 4)",
            "the last layers have no experts"},
           {"mixtral", R"("num_local_experts": 4, "num_experts_per_tok": 5)",
            "5 of 4 experts per token; a token sees each at most once"},
           {"mixtral", R"("num_local_experts": 70000, "num_experts_per_tok": 2)",
            "70000 experts; expected 1 to 65536: no model has so many"}}) {
    INFO(one.type << " " << one.more);
    CHECK_THAT(refusal(small(one.type, one.more)), STEPCAST_HOLDS(one.layers));
  }
  CHECK(experts_of("ernie4_5_moe", ernie + R"("moe_layer_end_index": 5)") == "011111");
}

TEST_CASE("layers have the window of their file where its family switches one on") {
  const std::string size = R"("sliding_window": 512)";
  for (const auto& one : std::vector<Case>{
           {"llama", "", "------"},
           {"llama", size, "------"},  // its class looks at no window
           {"mistral", size, "wwwwww512"},
           {"mistral", R"("sliding_window": null)", "------"},
           {"mistral", R"("sliding_window": 4096)", "------"},  // no narrower than the sequence
           {"mistral", size + R"(, "use_sliding_window": false)", "------"},
           {"qwen2", size, "------"},
           {"qwen2", size + R"(, "use_sliding_window": true, "max_window_layers": 0)", "wwwwww512"},
           {"gemma2", size, "w-w-w-512"},
           {"gemma3_text", size, "wwwww-512"},
           {"gemma3_text", size + R"(, "sliding_window_pattern": 3)", "ww-ww-512"},
           {"exaone4", size + R"(, "sliding_window_pattern": "LLG")", "ww-ww-512"},
           {"mistral",
            size + R"(, "layer_types": ["sliding_attention", "full_attention", "full_attention",
 "sliding_attention", "full_attention", "full_attention"])",
            "w--w--512"}}) {
    INFO(one.type << " " << one.more);
    CHECK(windows_of(one.type, one.more) == one.layers);
  }
}

TEST_CASE("a part that no description can hold is refused by its key, and one that is off is not") {
  for (const auto& one : std::vector<Case>{
           {"llama", R"("attention_output_gate": true)", "a gate on the output of attention"},
           {"llama", R"("is_encoder_decoder": true)", "it has an encoder and a decoder"},
           {"llama", R"("block_configs": [{}])", "its layers differ"},
           {"llama", R"("cross_attention_layers": [3])", "look at an image instead of the text"},
           {"llama", R"("cross_layer_interval": 4)", "look at an image instead of the text"},
           {"llama", R"("linear_attn_config": {"a": 1})", "layers with linear attention"},
           {"llama", R"("mamba_d_state": 16)", "layers that are state-space models"},
           {"llama", R"("ssm_cfg": {"a": 1})", "layers that are state-space models"},
           {"llama", R"("index_topk": 2048)", "an indexer chooses the tokens"},
           {"llama", R"("attn_type_list": [1, 0, 1, 0, 1, 1])", "layers of kind 0, with linear"},
           {"llama", R"("attention_output_gate": false)", "read"},
           {"llama", R"("attn_type_list": [1, 1, 1, 1, 1, 1])", "read"},
           {"llama", R"("index_topk": null)", "read"},
           {"mpt", R"("ffn_type": "mptmoe")", "an MLP of kind 'mptmoe' cannot be described"},
           {"opt", R"("word_embed_proj_dim": 32)", "an embedding of 32 beside a hidden size of 64"},
           {"opt", R"("word_embed_proj_dim": 64)", "read"}}) {
    INFO(one.more);
    CHECK_THAT(refusal(small(one.type, one.more)), STEPCAST_HOLDS(one.layers));
  }
}

TEST_CASE("a kind of model is read or refused with a reason, and never both") {
  for (const auto& [type, reason] : scenarios::refused) {
    INFO(type);
    for (const auto& family : scenarios::families)
      if (family.type == type) CHECK(type == "granitemoehybrid");  // which layers decide
    for (const auto& alias : scenarios::aliases) CHECK(alias.type != type);
    if (type == "minimax") continue;  // whose class may be another
    CHECK_THAT(refusal(small(std::string(type), "")), STEPCAST_HOLDS(std::string(reason)));
  }
  for (const auto& alias : scenarios::aliases) {
    INFO(alias.type);
    int like = 0;
    for (const auto& family : scenarios::families) {
      like += family.type == alias.like ? 1 : 0;
      CHECK(family.type != alias.type);
    }
    CHECK(like == 1);
  }
}

// Attention of a layer has 64 x 64 parameters for queries and outputs each, and 64 x 16 n for keys
// and values of n heads of 16. A gated MLP has 3 x 64 x 96, a plain one 2 x 64 x 96. The embedding
// has 100 x 64, as has a head of its own.
TEST_CASE("small models have the parameters that are counted by hand") {
  constexpr std::int64_t square = 64 * 64, gated = 3 * 64 * 96, plain = 2 * 64 * 96,
                         embedding = 100 * 64, norm = 64, layers = 6;
  constexpr std::int64_t four = 4 * square, two = 2 * square + 2 * 64 * 32;
  struct Counted {
    std::string type, more;
    std::int64_t parameters;
  };
  const std::string latent =
      R"("n_routed_experts": null, "num_experts_per_tok": null, "kv_lora_rank": 8,
 "qk_nope_head_dim": 8, "qk_rope_head_dim": 8, "v_head_dim": 16)";
  for (const auto& one : std::vector<Counted>{
           {"llama", "", layers * (four + gated + 2 * norm) + 2 * embedding + norm},
           {"llama", R"("tie_word_embeddings": true)",
            layers * (four + gated + 2 * norm) + embedding + norm},
           {"llama", R"("num_key_value_heads": 2)",
            layers * (two + gated + 2 * norm) + 2 * embedding + norm},
           {"llama", R"("attention_bias": true)",
            layers * (four + 4 * 64 + gated + 2 * norm) + 2 * embedding + norm},
           {"llama", R"("mlp_bias": true)",
            layers * (four + gated + 96 + 96 + 64 + 64 + 2 * norm) + 2 * embedding + norm},
           {"llama", R"("head_dim": 32)",
            layers * (4 * 64 * 128 + gated + 2 * norm) + 2 * embedding + norm},
           {"qwen2", "", layers * (four + 3 * 64 + gated + 2 * norm) + 2 * embedding + norm},
           {"gpt_neox", R"("tie_word_embeddings": false)",
            layers * (four + 4 * 64 + plain + 96 + 64 + 4 * norm) + 2 * embedding + 2 * norm},
           {"mixtral",
            R"("num_local_experts": 8, "num_experts_per_tok": 2, "num_key_value_heads": 4)",
            layers * (four + 8 * gated + 8 * 64 + 2 * norm) + 2 * embedding + norm}}) {
    INFO(one.type << " " << one.more);
    CHECK(model::parameters(read(small(one.type, one.more))) == one.parameters);
  }
  // Queries of 4 heads of 16, keys and values by way of 8, and 8 rotated parts for all heads.
  const auto model = read(small("deepseek_v2", latent));
  const std::int64_t attention = 64 * 4 * 16 + 64 * (8 + 8) + 8 + 8 * 4 * (8 + 16) + 4 * 16 * 64;
  CHECK(model::parameters(model) == layers * (attention + gated + 2 * norm) + 2 * embedding + norm);
}

}  // namespace huggingface_layers_spec

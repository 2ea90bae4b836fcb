// SPDX-License-Identifier: Apache-2.0
#include "report/launch/launch_model_config.hpp"

#include <array>
#include <string_view>

#include "report/document.hpp"
#include "report/launch/launch_constants.hpp"
#include "scenarios/documents/error.hpp"
#include "scenarios/foreign/huggingface.hpp"

namespace report {
namespace {

using model::Transformer;

struct Class {
  std::string_view type, name;
  std::string_view experts;  // the key of their number; empty: it has none
};

constexpr std::array classes{Class{"llama", "LlamaForCausalLM", ""},
                             Class{"mistral", "MistralForCausalLM", ""},
                             Class{"qwen2", "Qwen2ForCausalLM", ""},
                             Class{"qwen3", "Qwen3ForCausalLM", ""},
                             Class{"mixtral", "MixtralForCausalLM", "num_local_experts"},
                             Class{"qwen3_moe", "Qwen3MoeForCausalLM", "num_experts"},
                             Class{"qwen2_moe", "Qwen2MoeForCausalLM", "num_experts"},
                             Class{"deepseek_v3", "DeepseekV3ForCausalLM", "n_routed_experts"},
                             Class{"deepseek_v2", "DeepseekV2ForCausalLM", "n_routed_experts"},
                             Class{"gpt_oss", "GptOssForCausalLM", "num_local_experts"},
                             Class{"gpt_neox", "GPTNeoXForCausalLM", ""},
                             Class{"opt", "OPTForCausalLM", ""},
                             Class{"gpt2", "GPT2LMHeadModel", ""},
                             Class{"bloom", "BloomForCausalLM", ""}};

void put_sizes(const Transformer& m, std::string_view type, Object& config) {
  const bool short_names = type == "gpt2" || type == "bloom";
  config.put(short_names ? "n_layer" : "num_hidden_layers", m.layers)
      .put(type == "gpt2" ? "n_embd" : "hidden_size", m.hidden)
      .put(short_names ? "n_head" : "num_attention_heads", m.heads)
      .put("vocab_size", m.vocab)
      .put("tie_word_embeddings", m.tied_embeddings);
  if (type != "bloom" || m.ffn != 4 * m.hidden)
    config.put(type == "gpt2" ? "n_inner" : type == "opt" ? "ffn_dim" : "intermediate_size", m.ffn);
  if (m.max_sequence > 0)
    config.put(type == "gpt2"    ? "n_positions"
               : type == "bloom" ? "seq_length"
                                 : "max_position_embeddings",
               m.max_sequence);
  const bool has_default = type == "mistral" || type == "mixtral";  // of eight heads
  if (m.kv_heads != m.heads || has_default) config.put("num_key_value_heads", m.kv_heads);
  if (m.head_dim * m.heads != m.hidden && !m.latent) config.put("head_dim", m.head_dim);
}

const char* activation_word(model::Activation activation) {
  using enum model::Activation;
  switch (activation) {
    case swiglu:
      return "silu";
    case geglu:
    case gelu:
      return "gelu";
    case relu:
      return "relu";
    case squared_relu:
      return "relu2";
  }
  return "gelu";
}

void put_layer_types(const Transformer& m, Object& config) {
  auto types = Document::array();
  for (std::int64_t layer = 0; layer < m.layers; ++layer)
    types.push_back(
        std::string(model::is_windowed_layer(m, layer) ? "sliding_attention" : "full_attention"));
  config.put("layer_types", std::move(types));
}

void put_shape(const Transformer& m, std::string_view type, Object& config) {
  const bool gpt = type == "gpt2" || type == "opt";
  config.put(gpt ? "activation_function" : "hidden_act", activation_word(m.activation))
      .number(type == "gpt2"    ? "resid_pdrop"
              : type == "opt"   ? "dropout"
              : type == "bloom" ? "hidden_dropout"
                                : "attention_dropout",
              m.dropout);
  if (type == "opt") config.put("word_embed_proj_dim", m.hidden);
  if (type == "gpt_neox") config.put("use_parallel_residual", m.parallel_block);
  if (m.output_bias && m.qkv_biases) config.put("attention_bias", true);
  if (m.window) config.put("sliding_window", m.window->size);
  if (m.window && type.starts_with("qwen"))
    config.put("use_sliding_window", true).put("max_window_layers", 0);
  if (m.window && (type.starts_with("qwen") || type == "gpt_oss")) put_layer_types(m, config);
  if (m.multi_token_prediction > 0)
    config.put("num_nextn_predict_layers", m.multi_token_prediction);
  if (!m.latent) return;
  if (m.latent->q_lora_rank > 0) config.put("q_lora_rank", m.latent->q_lora_rank);
  config.put("kv_lora_rank", m.latent->kv_lora_rank)
      .put("qk_nope_head_dim", m.latent->qk_nope_head_dim)
      .put("qk_rope_head_dim", m.latent->qk_rope_head_dim)
      .put("v_head_dim", m.latent->v_head_dim);
}

void put_expert_sizes(const model::Moe& moe, const Class& of, Object& config) {
  config.put(std::string(of.experts).c_str(), moe.experts).put("num_experts_per_tok", moe.top_k);
  if (of.experts != "num_local_experts") config.put("moe_intermediate_size", moe.expert_ffn);
  if (of.type == "qwen2_moe")
    config.put("shared_expert_intermediate_size", moe.shared_experts * moe.shared_ffn);
  else if (moe.shared_experts > 0)
    config.put("n_shared_experts", moe.shared_experts);
  if (of.experts == "num_experts")
    config.put("decoder_sparse_step", moe.every);
  else if (of.experts == "n_routed_experts")
    config.put("first_k_dense_replace", moe.first_dense_layers).put("moe_layer_freq", moe.every);
  if (moe.router_bias && of.type == "deepseek_v3") config.put("topk_method", "noaux_tc");
}

Document scaling_of(const ModelConstants& known) {
  if (known.scaling == ModelConstants::Scaling::llama3)
    return Object()
        .number("factor", known.scaling_factor)
        .number("high_freq_factor", 4)
        .number("low_freq_factor", 1)
        .put("original_max_position_embeddings", known.original_length)
        .put("rope_type", "llama3")
        .take();
  return Object()
      .number("beta_fast", 32)
      .number("beta_slow", 1)
      .number("factor", known.scaling_factor)
      .number("mscale", known.mscale)
      .number("mscale_all_dim", known.mscale)
      .put("original_max_position_embeddings", known.original_length)
      .put("rope_type", "yarn")
      .take();
}

void put_constants(const ModelConstants& known, const Transformer& m, std::string_view type,
                   Object& config) {
  const bool rms = m.norm == model::Norm::rmsnorm;
  config.number(rms                  ? "rms_norm_eps"
                : type == "gpt_neox" ? "layer_norm_eps"
                                     : "layer_norm_epsilon",
                known.norm_epsilon);
  if (known.rotary_base > 0)
    config.number(type == "gpt_neox" ? "rotary_emb_base" : "rope_theta",
                  static_cast<double>(known.rotary_base));
  if (known.rotary_share < 1) config.number("rotary_pct", known.rotary_share);
  if (known.scaling != ModelConstants::Scaling::none) config.put("rope_scaling", scaling_of(known));
  if (!m.moe || !m.latent) return;
  config.put("n_group", known.groups)
      .put("topk_group", known.chosen_groups)
      .number("routed_scaling_factor", known.routed_scale)
      .put("norm_topk_prob", !known.scores_all)
      .put("scoring_func", m.moe->router_bias ? "sigmoid" : "softmax");
}

std::string config_as(const Transformer& m, const Class& of) {
  Object config;
  config.put("architectures", Document::array({std::string(of.name)}))
      .put("model_type", std::string(of.type));
  put_sizes(m, of.type, config);
  put_shape(m, of.type, config);
  if (m.moe) put_expert_sizes(*m.moe, of, config);
  if (const auto* known = constants_of(m)) put_constants(*known, m, of.type, config);
  return dump(config.take());
}

// Whether the file defines the whole model of the scenario, except the distribution of tokens over
// experts and the longest sequence of rotated positions, which it cannot hold.
bool says_all(const std::string& config, const Transformer& m) {
  try {
    auto read = scenarios::read_huggingface(config, "config.json", nullptr);
    read.name = m.name;
    if (m.position != model::Position::learned) read.max_sequence = m.max_sequence;
    if (read.moe && m.moe) read.moe->imbalance = m.moe->imbalance;
    return read == m;
  } catch (const scenarios::Error&) {  // a class that cannot have such sizes
    return false;
  }
}

}  // namespace

std::optional<std::string> model_config(const Transformer& m) {
  for (const auto& of : classes) {
    if (of.experts.empty() == m.moe.has_value()) continue;
    auto config = config_as(m, of);
    if (says_all(config, m)) return config;
  }
  return std::nullopt;
}

}  // namespace report

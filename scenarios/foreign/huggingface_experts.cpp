// SPDX-License-Identifier: Apache-2.0
#include "scenarios/foreign/huggingface_experts.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace scenarios {

namespace {

constexpr std::int64_t most_experts = 65'536;

// Reads ERNIE's rule: in the layers from start to end, the last of every moe_layer_interval layers
// has experts.
void read_range(model::Moe& moe, std::int64_t layers, Fields& fields) {
  const auto start = fields.count({"moe_layer_start_index"});
  const auto every =
      std::min<std::int64_t>(fields.whole({"moe_layer_interval"}).value_or(1), 10'000);
  const auto end = fields.whole({"moe_layer_end_index"}, -1).value_or(-1);
  moe.every = static_cast<int>(every);
  moe.first_dense_layers = (start + every) / every * every - 1;
  if (end != -1 && end < layers - 1)
    fields.complain({"moe_layer_end_index"},
                    "moe_layer_end_index: the last layers have no experts, which cannot be "
                    "described; only the first can be without",
                    true);
}

bool is_list(const Value* value) { return value != nullptr && value->kind == Value::Kind::list; }

constexpr auto frequency = {"moe_layer_freq", "moe_layer_frequency"};
constexpr auto dense_counts = {"first_k_dense_replace", "num_dense_layers"};

// Returns whether each layer has experts; nothing if the key has no list.
std::vector<bool> listed_experts(const std::string& key, Fields& fields) {
  std::vector<bool> experts;
  if (key == "mlp_layer_types")
    for (const auto& word : fields.words({"mlp_layer_types"})) {
      experts.push_back(word == "sparse");
      if (word != "sparse" && word != "dense")
        fields.complain({key.c_str()},
                        key + ": layers of kind '" + beginning(word, 40) +
                            "' cannot be described; only dense and sparse ones can",
                        true);
    }
  else if (is_list(fields.value({key.c_str()})) && key == "is_moe_layer")
    experts = fields.truths(key.c_str());
  else if (is_list(fields.value({key.c_str()})))
    for (const auto has : fields.list(key.c_str())) experts.push_back(has == 1);
  return experts;
}

// Takes the dense layers from a list with an entry per layer; if other keys give them, compares the
// list with those.
void read_listed(model::Transformer& t, const std::string& key, const std::vector<bool>& experts,
                 bool given, Fields& fields) {
  const auto layers = static_cast<std::size_t>(t.layers);
  if (experts.size() < layers)
    return fields.complain({key.c_str()}, key + ": a list of " + std::to_string(experts.size()) +
                                              " of " + std::to_string(layers) + " layers");
  if (!given) t.moe->first_dense_layers = std::ranges::find(experts, true) - experts.begin();
  for (std::size_t i = 0; i < layers; ++i) {
    if (experts[i] == is_moe_layer(t, static_cast<std::int64_t>(i))) continue;
    const auto* here = experts[i] ? "with" : "without";
    const auto* there = experts[i] ? "without" : "with";
    const auto differs = key + ": layer " + std::to_string(i) + " is " + here +
                         " experts, and by other keys " + there;
    return fields.complain(
        {key.c_str()},
        given ? differs : key + ": only the first layers can be without experts in a list", !given);
  }
}

// Layers by number n have experts if n is a multiple of the frequency (DeepSeek), or n + 1 is
// (Arctic).
void read_frequency(model::Moe& moe, std::string_view type, int every) {
  moe.every = every;
  if (every > 1 && type.starts_with("deepseek"))
    moe.first_dense_layers = (moe.first_dense_layers + every - 1) / every * every;
  if (every > 1 && type == "arctic") moe.first_dense_layers = every - 1;
}

// Reads Llama 4's list of the layers that have experts, which takes the place of every n
// (Llama4TextConfig).
void read_layers_with_experts(model::Transformer& t, Fields& fields) {
  const auto listed = fields.list("moe_layers");
  auto& moe = *t.moe;
  if (listed.empty() || listed.front() < 0 || listed.front() >= t.layers)
    return fields.complain({"moe_layers"}, "moe_layers: expected numbers of layers, from 0");
  moe.first_dense_layers = listed.front();
  const auto step = listed.size() > 1 ? listed[1] - listed[0] : t.layers;
  moe.every = static_cast<int>(std::clamp<std::int64_t>(step, 1, 10'000));
  std::vector<std::int64_t> described;
  for (std::int64_t layer = 0; layer < t.layers; ++layer)
    if (is_moe_layer(t, layer)) described.push_back(layer);
  if (described != listed)
    fields.complain({"moe_layers"},
                    "moe_layers: only the first layers, and then all but one of every N, can be "
                    "without experts",
                    true);
}

// Reads which layers have experts. Qwen and Llama 4 give n, and the last of every n layers has
// them.
void read_pattern(model::Transformer& t, std::string_view type, Fields& fields) {
  constexpr std::int64_t most = 10'000;
  auto& moe = *t.moe;
  const auto period = [&](Fields::Names names) {
    return static_cast<int>(std::min(fields.whole(names).value_or(1), most));
  };
  moe.first_dense_layers = fields.count(dense_counts);
  if (!is_list(fields.value(frequency))) read_frequency(moe, type, period(frequency));
  if (fields.has({"decoder_sparse_step", "interleave_moe_layer_step"})) {
    moe.every = period({"decoder_sparse_step", "interleave_moe_layer_step"});
    moe.first_dense_layers = moe.every - 1;
  }
  if (type.starts_with("llama4") && is_list(fields.value({"moe_layers"})))
    read_layers_with_experts(t, fields);
  if (fields.has({"moe_layer_start_index"})) read_range(moe, t.layers, fields);
  const auto dense = fields.list("mlp_only_layers");
  for (std::size_t i = 0; i < dense.size(); ++i)
    if (moe.every > 1 || dense[i] != static_cast<std::int64_t>(i))
      return fields.complain({"mlp_only_layers"},
                             "mlp_only_layers: only the first layers can be without experts");
  if (!dense.empty()) moe.first_dense_layers = static_cast<std::int64_t>(dense.size());
  bool given = moe.every > 1 || !dense.empty() || fields.has(dense_counts) ||
               fields.has({"moe_layer_start_index"});
  for (const auto* key :
       {"moe_layer_freq", "moe_layer_frequency", "mlp_layer_types", "is_moe_layer"})
    if (const auto experts = listed_experts(key, fields); !experts.empty()) {
      read_listed(t, key, experts, given, fields);
      given = true;
    }
}

void read_shared(model::Transformer& t, std::string_view type, Fields& fields) {
  auto& moe = *t.moe;
  if (type == "qwen2_moe") {  // prints the width of all of them together
    moe.shared_experts = 1;
    moe.shared_ffn = fields.needed({"shared_expert_intermediate_size"});
    moe.shared_gate = true;
  } else if (type.starts_with("llama4")) {
    moe.shared_experts = 1;
  } else if (type == "arctic") {  // an MLP beside the experts, as wide as the model
    moe.shared_experts = fields.yes_no("parallel_attn_mlp_res", false, nullptr) ? 1 : 0;
    moe.shared_ffn = moe.shared_experts * t.hidden;
  } else if (type == "grok-1") {  // Grok 2 has an MLP of the dense width beside the experts
    moe.shared_experts = fields.yes_no("residual_moe", false, nullptr) ? 1 : 0;
    moe.shared_ffn = moe.shared_experts * t.ffn;
  } else {
    moe.shared_experts = fields
                             .same_in_layers({"n_shared_experts", "num_shared_expert",
                                              "num_shared_experts", "moe_num_shared_experts"},
                                             0)
                             .value_or(0);
  }
  // Tencent's own code has this switch, transformers' class has not.
  if (fields.word({"model_type"}).compare("hunyuan") == 0 &&
      !fields.yes_no("use_mixed_mlp_moe", true, nullptr))
    moe.shared_experts = 0;
  if (type == "granitemoeshared") {  // prints a width, not a count
    moe.shared_ffn = fields.count({"shared_intermediate_size"});
    moe.shared_experts = moe.shared_ffn > 0 ? 1 : 0;
  }
  if (type == "bailing_moe" && moe.shared_experts > 0)  // each of them
    moe.shared_ffn = fields.count({"moe_shared_expert_intermediate_size"});
  if (moe.shared_experts > 0 && moe.shared_ffn == 0) moe.shared_ffn = moe.expert_ffn;
}

}  // namespace

void read_latent(model::Transformer& t, Fields& fields) {
  auto& latent = t.latent.emplace();
  latent.q_lora_rank = fields.count({"q_lora_rank"});
  latent.kv_lora_rank = fields.needed({"kv_lora_rank"});
  latent.qk_nope_head_dim = fields.needed({"qk_nope_head_dim"});
  latent.qk_rope_head_dim = fields.needed({"qk_rope_head_dim"});
  latent.v_head_dim = fields.needed({"v_head_dim"});
  t.kv_heads = t.heads;
  t.head_dim = latent.qk_head_dim();
}

void read_experts(model::Transformer& t, const Family& family, Fields& fields) {
  const auto type = family.type;
  auto& moe = t.moe.emplace();
  const auto experts = {"num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts"};
  moe.experts = fields.needed(experts);
  const auto chosen = {"num_experts_per_tok", "experts_per_token", "moe_top_k", "moe_k",
                       "moe_topk"};
  moe.top_k =
      fields.has(chosen) ? fields.same_in_layers(chosen).value_or(1) : fields.needed(chosen);
  if (moe.experts > most_experts)
    fields.complain(experts, std::to_string(moe.experts) + " experts; expected 1 to " +
                                 std::to_string(most_experts) + ": no model has so many");
  if (fields.has(experts) && moe.top_k > moe.experts)
    fields.complain(chosen, std::to_string(moe.top_k) + " of " + std::to_string(moe.experts) +
                                " experts per token; a token sees each at most once");
  moe.expert_ffn = fields.same_in_layers({"moe_intermediate_size"}).value_or(t.ffn);
  read_shared(t, type, fields);
  read_pattern(t, type, fields);
  moe.router_bias = family.router_bias || fields.word({"topk_method"}) == "noaux_tc" ||
                    fields.yes_no("use_routing_bias", false, nullptr) ||
                    fields.yes_no("moe_router_enable_expert_bias", false, nullptr);
  moe.expert_biases = type == "gpt_oss";
  if (fields.yes_no("use_mtp", false, nullptr))
    t.multi_token_prediction =
        static_cast<int>(std::min<std::int64_t>(fields.count({"num_mtp_modules"}), 64));
}

}  // namespace scenarios

// SPDX-License-Identifier: Apache-2.0
#include "scenarios/foreign/huggingface_experts.hpp"

#include <algorithm>

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

constexpr auto frequency = {"moe_layer_freq", "moe_layer_frequency"};

// Reads a list with an entry per layer, 1 if the layer has experts.
void read_listed(model::Moe& moe, Fields& fields) {
  auto layers = fields.list(*frequency.begin());
  const auto first = std::ranges::find(layers, 1);
  moe.first_dense_layers = first - layers.begin();
  if (std::ranges::any_of(first, layers.end(), [](std::int64_t has) { return has != 1; }))
    fields.complain(frequency,
                    "moe_layer_freq: only the first layers can be without experts in a list", true);
}

// Reads which layers have experts. Qwen and Llama 4 give n, and the last of every n layers has
// them.
void read_pattern(model::Moe& moe, std::int64_t layers, Fields& fields) {
  constexpr std::int64_t most = 10'000;
  const auto period = [&](Fields::Names names) {
    return static_cast<int>(std::min(fields.whole(names).value_or(1), most));
  };
  moe.first_dense_layers = fields.count({"first_k_dense_replace", "num_dense_layers"});
  if (fields.is_list(frequency))
    read_listed(moe, fields);
  else
    moe.every = period(frequency);
  if (fields.has({"decoder_sparse_step", "interleave_moe_layer_step"})) {
    moe.every = period({"decoder_sparse_step", "interleave_moe_layer_step"});
    moe.first_dense_layers = moe.every - 1;
  }
  if (fields.has({"moe_layer_start_index"})) read_range(moe, layers, fields);
  const auto dense = fields.list("mlp_only_layers");
  for (std::size_t i = 0; i < dense.size(); ++i)
    if (moe.every > 1 || dense[i] != static_cast<std::int64_t>(i))
      return fields.complain({"mlp_only_layers"},
                             "mlp_only_layers: only the first layers can be without experts");
  if (!dense.empty()) moe.first_dense_layers = static_cast<std::int64_t>(dense.size());
}

void read_shared(model::Moe& moe, std::string_view type, std::int64_t hidden, Fields& fields) {
  if (type == "qwen2_moe") {  // prints the width of all of them together
    moe.shared_experts = 1;
    moe.shared_ffn = fields.needed({"shared_expert_intermediate_size"});
    moe.shared_gate = true;
  } else if (type.starts_with("llama4")) {
    moe.shared_experts = 1;
  } else if (type == "arctic") {  // an MLP beside the experts, as wide as the model
    moe.shared_experts = fields.yes_no("parallel_attn_mlp_res", false, nullptr) ? 1 : 0;
    moe.shared_ffn = moe.shared_experts * hidden;
  } else {
    moe.shared_experts = fields
                             .same_in_layers({"n_shared_experts", "num_shared_expert",
                                              "num_shared_experts", "moe_num_shared_experts"},
                                             0)
                             .value_or(0);
  }
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
  if (type.starts_with("llama4"))  // prints the experts' width as intermediate_size
    t.ffn = fields.whole({"intermediate_size_mlp"}).value_or(t.ffn);
  read_shared(moe, type, t.hidden, fields);
  read_pattern(moe, t.layers, fields);
  moe.router_bias = family.router_bias || fields.word({"topk_method"}) == "noaux_tc" ||
                    fields.yes_no("use_routing_bias", false, nullptr) ||
                    fields.yes_no("moe_router_enable_expert_bias", false, nullptr);
  moe.expert_biases = type == "gpt_oss";
  if (fields.yes_no("use_mtp", false, nullptr))
    t.multi_token_prediction =
        static_cast<int>(std::min<std::int64_t>(fields.count({"num_mtp_modules"}), 64));
}

}  // namespace scenarios

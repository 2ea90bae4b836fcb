// SPDX-License-Identifier: Apache-2.0
#include "scenarios/foreign/huggingface.hpp"

#include <algorithm>
#include <filesystem>
#include <span>

#include "scenarios/documents/json.hpp"
#include "scenarios/foreign/huggingface_experts.hpp"
#include "scenarios/foreign/huggingface_family.hpp"
#include "scenarios/foreign/huggingface_layers.hpp"

namespace scenarios {
namespace {

constexpr std::int64_t most_layers = 10'000;

using model::Activation;
using model::Position;

constexpr std::initializer_list<const char*> head_keys{"num_attention_heads", "n_head", "n_heads",
                                                       "num_heads", "attention_heads"};
constexpr std::initializer_list<const char*> kv_head_keys{
    "num_key_value_heads", "num_kv_heads",          "n_head_kv",
    "kv_n_heads",          "multi_query_group_num", "num_key_value_heads_per_layer"};

void read_heads(model::Transformer& t, const Family& family, Fields& fields) {
  const auto one_for_all = {"num_key_value_heads_per_layer"};
  // read_peculiar reads the key that decides where no number is given.
  const bool by_switch =
      !fields.has(kv_head_keys) &&
      (family.type == "falcon" || family.type == "gpt_bigcode" || family.type == "plamo" ||
       (family.type == "gpt2" && fields.has({"attention_head_type"})));
  t.kv_heads = fields.has(one_for_all) ? fields.same_in_layers(one_for_all).value_or(1)
               : by_switch             ? t.heads
                                       : fields.whole_or(kv_head_keys, t.heads, "kv_heads",
                                                         "absent; every head has its own keys and values");
  const auto dims = {"head_dim", "attention_head_dim", "kv_channels"};
  const auto share = std::max<std::int64_t>(1, t.hidden / t.heads);
  // transformers takes "head_dim or hidden_size // heads" (from memory).
  const auto* dim = fields.value(dims);
  const bool zero = dim != nullptr && dim->text == "0";
  if (zero) fields.note("head_dim = " + std::to_string(share) + ": 0 is hidden / heads");
  t.head_dim = zero ? share : fields.whole_or(dims, share, "head_dim", "hidden / heads");
  if ((zero || !fields.has(dims)) && t.hidden % t.heads != 0)
    fields.complain(head_keys, "hidden size " + std::to_string(t.hidden) + " is not divisible by " +
                                   std::to_string(t.heads) + " heads, and there is no head_dim");
}

void read_sizes(model::Transformer& t, const Family& family, Fields& fields) {
  const auto layers = {"num_hidden_layers", "n_layer", "n_layers", "num_layers"};
  t.layers = fields.needed(layers);
  if (t.layers > most_layers)
    fields.complain(layers, "num_hidden_layers: " + std::to_string(t.layers) +
                                " is out of range; expected 1 to " + std::to_string(most_layers) +
                                ": no model is that deep");
  t.hidden = fields.needed({"hidden_size", "n_embd", "d_model", "n_embed"});
  t.heads = fields.needed(head_keys);
  t.vocab = fields.needed({"vocab_size", "padded_vocab_size"});
  t.max_sequence =
      fields.whole_or({"max_position_embeddings", "n_positions", "n_ctx", "max_seq_len",
                       "seq_length", "max_sequence_length", "model_max_length"},
                      2048, "max_sequence", "no position limit is given");
  if (family.latent)
    read_latent(t, fields);
  else
    read_heads(t, family, fields);
  const auto ffn = {"intermediate_size", "n_inner", "ffn_hidden_size", "ffn_dim"};
  if (family.gated)
    t.ffn = fields.needed(ffn);
  else if (const auto ratio = fields.whole({"expansion_ratio"}); ratio && !fields.has(ffn))
    t.ffn = std::min(*ratio, most_layers) * t.hidden;
  else
    t.ffn = fields.whole_or(ffn, 4 * t.hidden, "ffn", "absent; four times hidden");
}

void read_activation(model::Transformer& t, const Family& family, Fields& fields) {
  const auto word = fields.word({"hidden_activation", "hidden_act", "activation_function"});
  const bool gelu = word.find("gelu") != word.npos || (word.empty() && !family.gated);
  if (family.gated)
    t.activation = gelu || family.geglu ? Activation::geglu : Activation::swiglu;
  else if (word == "relu2" || word == "squared_relu" || word == "xielu")
    t.activation = Activation::squared_relu;
  else
    t.activation = word == "relu" ? Activation::relu : Activation::gelu;
  const auto has = [&](std::string_view part) { return word.find(part) != word.npos; };
  if (!word.empty() && !gelu && !has("silu") && !has("swi") && !has("relu") && !has("xielu"))
    fields.differ("approximated: its activation, " + beginning(word, 40) + ", is counted as " +
                  (family.gated ? "SiLU" : "GELU"));
  if (word.empty()) fields.note("activation: absent; the default of " + std::string(family.type));
}

void read_biases(model::Transformer& t, const Family& family, Fields& fields) {
  t.biases = family.biases;
  t.qkv_biases = fields.yes_no(family.qkv_bias_key, family.qkv_biases, nullptr);
  if (family.output_bias_key != nullptr)
    t.output_bias = fields.yes_no(family.output_bias_key, false, nullptr);
  if (fields.yes_no("mlp_bias", false, nullptr)) t.biases = true;
  if (family.biases_key != nullptr) {
    t.biases = fields.yes_no(family.biases_key, family.biases, "biases");
    t.qkv_biases = t.biases || (family.gated && t.qkv_biases);
  }
}

void read_mpt(model::Transformer& t, Fields& fields) {
  if (!fields.yes_no("no_bias", true, "without biases")) t.biases = t.qkv_biases = true;
  if (fields.yes_no("alibi", false, nullptr))
    t.position = Position::alibi;
  else if (fields.yes_no("rope", false, nullptr))
    t.position = Position::rope;
  else if (!fields.yes_no("learned_pos_emb", true, nullptr))
    t.position = Position::none;
  t.query_key_norm = fields.yes_no("qk_ln", false, nullptr);
  if (fields.word({"attn_type"}) == "multiquery_attention") t.kv_heads = 1;
  const auto ffn = fields.word({"ffn_type"});
  if (ffn == "mptglu" || ffn == "mptgeglu")
    t.activation = Activation::geglu;
  else if (!ffn.empty() && ffn != "mptmlp" && ffn != "te_ln_mlp")
    fields.complain({"ffn_type"},
                    "ffn_type: an MLP of kind '" + beginning(ffn, 40) +
                        "' cannot be described; only mptmlp, te_ln_mlp, mptglu and mptgeglu can",
                    true);
}

void check_opt(const model::Transformer& t, Fields& fields) {
  if (const auto width = fields.whole({"word_embed_proj_dim"}).value_or(t.hidden);
      width != t.hidden)
    fields.complain({"word_embed_proj_dim"},
                    "word_embed_proj_dim: an embedding of " + std::to_string(width) +
                        " beside a hidden size of " + std::to_string(t.hidden) +
                        "; projections between the two cannot be described",
                    true);
}

void read_falcon(model::Transformer& t, Fields& fields) {
  // Falcon's first files, of type RefinedWeb, give n_head_kv if they are of the later architecture.
  const bool later = fields.yes_no("new_decoder_architecture", fields.has({"n_head_kv"}), nullptr);
  t.parallel_block = fields.yes_no("parallel_attn", true, "parallel_block");
  const auto norms = fields.whole({"num_ln_in_parallel_attn"}).value_or(later ? 2 : 1);
  t.norms_per_layer = !t.parallel_block || norms > 1 ? 2 : 1;
  // The first Falcons print a count of key heads that they do not have.
  if (!later) t.kv_heads = fields.yes_no("multi_query", true, "multi_query") ? 1 : t.heads;
  if (fields.yes_no("alibi", false, nullptr)) t.position = Position::alibi;
}

// A hybrid's file may have attention in all layers, with or without experts.
void read_granite_hybrid(model::Transformer& t, Fields& fields) {
  t.ffn = fields.whole({"shared_intermediate_size"}).value_or(t.ffn);
  if (fields.word({"position_embedding_type"}) == "nope") t.position = Position::none;
}

// Reads the fields that only single families have.
void read_peculiar(model::Transformer& t, const Family& family, Fields& fields) {
  const auto type = family.type;
  if (type == "gpt_neox")
    t.parallel_block = fields.yes_no("use_parallel_residual", true, "parallel_block");
  if (type == "stablelm" && fields.yes_no("use_parallel_residual", false, nullptr)) {
    t.parallel_block = true;
    t.norms_per_layer = 1;
  }
  if (type == "gpt_bigcode" && fields.yes_no("multi_query", true, "multi_query")) t.kv_heads = 1;
  // SantaCoder's file, of a class of its own.
  if (type == "gpt2" && fields.word({"attention_head_type"}) == "multiquery") t.kv_heads = 1;
  if (type == "plamo") {  // gives the heads that share keys and values
    const auto sharing = fields.needed({"n_shared_head"});
    t.kv_heads = (t.heads + sharing - 1) / sharing;
  }
  if (type == "falcon") read_falcon(t, fields);
  if (type == "mpt") read_mpt(t, fields);
  if (type == "opt") check_opt(t, fields);
  if (type == "granitemoehybrid") read_granite_hybrid(t, fields);
  if (type == "qwen") t.ffn = std::max<std::int64_t>(1, t.ffn / 2);  // prints both halves together
  if (type == "chatglm" && !fields.yes_no("multi_query_attention", true, nullptr))
    t.kv_heads = t.heads;
  if (type == "hyperclovax" && fields.yes_no("use_post_norm", false, nullptr))
    t.norms_per_layer = 4;
  // Baichuan's larger size, 13B, has no last position.
  if (type == "baichuan" && !fields.has({"max_position_embeddings"})) {
    t.position = Position::alibi;
    fields.note("position = alibi: 'max_position_embeddings' is absent, as in files of the 13B");
  }
  t.attention_sinks = type == "gpt_oss";
  t.multi_token_prediction = static_cast<int>(std::min<std::int64_t>(
      fields.count({"num_nextn_predict_layers", "num_mtp_layers", "mtp_num_layers"}), 64));
}

// Returns the model's name from the file, or from the file's own name: "llama3.1-70b.config.json",
// "Llama-3.1-70B/config.json".
std::string model_name(Fields& fields, const std::string& file_name) {
  const auto written = fields.word({"_name_or_path"});
  const std::filesystem::path path(written.empty() ? file_name : written);
  auto name = written.empty() ? path.stem().string() : path.filename().string();
  if (name.ends_with(".config")) name.resize(name.size() - std::string_view(".config").size());
  return name == "config" && path.has_parent_path() ? path.parent_path().filename().string() : name;
}

}  // namespace

model::Transformer read_huggingface(std::string_view text, const std::string& file_name,
                                    std::vector<std::string>* defaulted,
                                    std::vector<std::string>* differences) {
  const auto document = parse_json(text, file_name, huggingface_limits);
  Fields fields(document, file_name, defaulted, differences);
  if (document.kind != Value::Kind::map)
    fields.complain({}, "expected a JSON object; is this a config.json?");
  const auto known =
      document.kind == Value::Kind::map ? family_of(fields) : std::optional<Family>{};
  fields.throw_if_any();
  const auto& family = *known;
  model::Transformer t;
  t.norm = family.norm;
  t.position = family.position;
  t.parallel_block = family.parallel;
  t.norms_per_layer = family.norms;
  t.query_key_norm =
      family.query_key_norm_key == nullptr
          ? family.query_key_norm
          : fields.yes_no(family.query_key_norm_key, family.query_key_norm, "query_key_norm");
  fields.fall_back_on(fields.wraps_text() ? family.sizes_inside : std::span<const ClassDefault>{},
                      family.sizes);
  read_sizes(t, family, fields);
  read_activation(t, family, fields);
  read_biases(t, family, fields);
  read_peculiar(t, family, fields);
  read_windows(t, family, fields);
  if (family.experts) read_experts(t, family, fields);
  if (family.type.starts_with("llama4"))  // prints the experts' width as intermediate_size
    t.ffn = fields.whole({"intermediate_size_mlp"}).value_or(t.ffn);
  check_parts(t, family, fields);
  t.tied_embeddings = fields.yes_no("tie_word_embeddings", family.tied, "tied_embeddings");
  t.dropout = fields.share(
      {"resid_pdrop", "residual_dropout", "hidden_dropout", "dropout", "attention_dropout"},
      family.dropout);
  if (fields.gives_size(head_keys) && t.heads % t.kv_heads != 0)
    fields.complain(kv_head_keys, std::to_string(t.kv_heads) +
                                      " key and value heads do not divide " +
                                      std::to_string(t.heads) + " heads");
  if (t.query_key_norm && (family.type == "stablelm" || family.type == "cohere"))
    fields.differ(
        "approximated: its query and key norms have weights of every head; counted as "
        "one head's");
  if (!family.approximation.empty())
    fields.differ("approximated: " + std::string(family.approximation));
  t.name = model_name(fields, file_name);
  fields.throw_if_any();
  return t;
}

model::Transformer load_huggingface(const std::filesystem::path& file,
                                    std::vector<std::string>* defaulted) {
  return read_huggingface(read_file(file, huggingface_limits), file.string(), defaulted);
}

}  // namespace scenarios

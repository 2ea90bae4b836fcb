// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "model/words.hpp"
#include "scenarios/foreign/huggingface.hpp"
#include "scenarios/model_parts.hpp"
#include "scenarios/named.hpp"
#include "scenarios/tables.hpp"

namespace scenarios {
namespace {

using model::Transformer;

struct ModelDraft {
  Transformer transformer;
  std::optional<bool> qkv_biases;
  void finish() {}
};

template <class T>
auto of(T Transformer::*member) {
  return [member](auto& draft) -> auto& { return draft.transformer.*member; };
}

constexpr Range model_sizes{1, 16'777'216, "no published transformer is near that"};

// --- the table

void add_sizes(Table<ModelDraft>& table) {
  const Table<ModelDraft> keys{
      whole<ModelDraft>("layers", "", {1, 10'000, "no published transformer is near that"},
                        "Transformer layers", of(&Transformer::layers)),
      whole<ModelDraft>("hidden", "", model_sizes, "Width of the residual stream",
                        of(&Transformer::hidden)),
      whole<ModelDraft>("heads", "", {1, 65'536, "no published transformer is near that"},
                        "Attention heads", of(&Transformer::heads)),
      whole<ModelDraft>("kv_heads", "heads", {1, 65'536, "no published transformer is near that"},
                        "Heads of keys and values", of(&Transformer::kv_heads)),
      whole<ModelDraft>("head_dim", "hidden / heads", {1, 65'536, "the size of one head"},
                        "Size of one head", of(&Transformer::head_dim)),
      whole<ModelDraft>("ffn", "4 x hidden", model_sizes, "Width of one projection of the MLP",
                        of(&Transformer::ffn)),
      whole<ModelDraft>("vocab", "", model_sizes, "Vocabulary before padding",
                        of(&Transformer::vocab)),
      shown_if([](const ModelDraft& draft) { return draft.transformer.max_sequence > 0; },
               whole<ModelDraft>("max_sequence", "the sequence length",
                                 {1, 1e9, "no published transformer is near that"},
                                 "Longest sequence that the model was made for",
                                 of(&Transformer::max_sequence)))};
  table.insert(table.end(), keys.begin(), keys.end());
}

void add_shape(Table<ModelDraft>& table) {
  const Table<ModelDraft> keys{
      choice<ModelDraft>("activation", "gelu", "Activation of the MLP",
                         of(&Transformer::activation)),
      choice<ModelDraft>("norm", "layernorm", "Normalisation", of(&Transformer::norm)),
      choice<ModelDraft>("position", "learned", "How positions enter", of(&Transformer::position)),
      yes_no<ModelDraft>("tied_embeddings", "true", "Embedding and head share their weights",
                         of(&Transformer::tied_embeddings)),
      yes_no<ModelDraft>("biases", "true", "Biases on every linear layer",
                         of(&Transformer::biases)),
      yes_no<ModelDraft>("qkv_biases", "as biases", "Biases on query, key and value",
                         &ModelDraft::qkv_biases),
      yes_no<ModelDraft>("output_bias", "as biases", "A bias on attention's output projection",
                         of(&Transformer::output_bias)),
      yes_no<ModelDraft>("parallel_block", "false", "Attention and MLP read the same input",
                         of(&Transformer::parallel_block)),
      whole<ModelDraft>("norms_per_layer", "2", {0, 8, "norms of one layer"}, "Norms of one layer",
                        of(&Transformer::norms_per_layer)),
      yes_no<ModelDraft>("query_key_norm", "false", "A norm per head on queries and keys",
                         of(&Transformer::query_key_norm)),
      yes_no<ModelDraft>("attention_sinks", "false", "A learned score per head in the softmax",
                         of(&Transformer::attention_sinks)),
      number<ModelDraft>("dropout", "0.1", {0, 0.99, "the share of values that are dropped"},
                         "Dropout probability", of(&Transformer::dropout)),
      yes_no<ModelDraft>("causal", "true", "Each token sees only those before it",
                         of(&Transformer::causal))};
  table.insert(table.end(), keys.begin(), keys.end());
}

Key<ModelDraft> of_transformer(Key<Transformer> key) {
  return {
      key.field,
      [assign = key.assign](ModelDraft& draft, const Cursor& at) { assign(draft.transformer, at); },
      [show = key.show](const ModelDraft& draft) { return show(draft.transformer); }};
}

Table<ModelDraft> make_model_table() {
  Table<ModelDraft> table;
  table.push_back(text<ModelDraft>("name", "A name for reports", of(&Transformer::name)));
  add_sizes(table);
  add_shape(table);
  for (const auto& key : {window_key(), attention_key(), moe_key()})
    table.push_back(of_transformer(key));
  table.push_back(whole<ModelDraft>(
      "multi_token_prediction", "0", {0, 64, "modules that predict further tokens"},
      "Modules that predict further tokens", of(&Transformer::multi_token_prediction)));
  table.push_back(unread<ModelDraft>("huggingface", {.type = Type::text},
                                     "Path of a config.json to start from, relative to the file"));
  add_entry_keys(table);
  return table;
}

const Table<ModelDraft>& model_table() {
  static const auto made = make_model_table();
  return made;
}

void read_config(ModelDraft& draft, const Cursor& place) {
  const auto& name = place.value().text;
  const auto path = (place.reading().base() / name).string();
  try {
    std::vector<std::string> differences;
    draft.transformer = read_huggingface(place.reading().texts().of(path, huggingface_limits), path,
                                         nullptr, &differences);
    for (const auto& one : differences) place.reading().note(name + ": " + one);
    draft.qkv_biases = draft.transformer.qkv_biases;
  } catch (const Error& wrong) {
    for (const auto& one : wrong.complaints) {  // in the words of the file: not where it lies
      const auto text =
          name + one.place.substr(std::min(path.size(), one.place.size())) + ": " + one.text;
      one.unsupported ? place.unsupported(text) : place.complain(text);
    }
  }
}

// The config.json that the mapping starts from, if it names one.
bool read_foreign(ModelDraft& draft, const Cursor& at) {
  for (const auto& member : at.value().members) {
    if (member.key.text != "huggingface" || member.value.kind != Value::Kind::scalar) continue;
    const auto place = at.member(member);
    if (at.value().find("base") != nullptr)
      place.complain("given beside 'base'; a model starts from one of them");
    read_config(draft, place);
    if (draft.transformer.layers == 0) at.reading().doubt(at.path());
    return true;
  }
  return false;
}

// --- what follows from the rest

bool knows(const Cursor& at, const char* key) {
  return !at.reading().doubtful(at.path() + "." + key);
}

// Returns the place of that key, or of the model's name if the key comes from elsewhere.
Cursor place_of_key(const Cursor& at, std::string_view key) { return at.find(key).value_or(at); }

void derive_latent(Transformer& t, const Cursor& at) {
  if (!t.latent) return;
  const std::pair<const char*, std::int64_t> needed[]{
      {"kv_lora_rank", t.latent->kv_lora_rank},
      {"qk_nope_head_dim", t.latent->qk_nope_head_dim},
      {"qk_rope_head_dim", t.latent->qk_rope_head_dim},
      {"v_head_dim", t.latent->v_head_dim}};
  for (const auto& [key, value] : needed)
    if (value == 0)
      require({key}, "latent attention has no usual sizes", place_of_key(at, "attention"));
  t.head_dim = std::max<std::int64_t>(1, t.latent->qk_head_dim());
  t.kv_heads = t.heads;
}

void derive_heads(Transformer& t, const Cursor& at) {
  if (t.kv_heads == 0) t.kv_heads = t.heads;
  if (t.head_dim == 0 && t.heads > 0) {
    t.head_dim = t.hidden / t.heads;
    if (t.hidden % t.heads != 0 && knows(at, "hidden") && knows(at, "heads"))
      at.complain_at("hidden", plain(static_cast<double>(t.hidden)) + " is not divisible by " +
                                   plain(static_cast<double>(t.heads)) + " heads; give head_dim");
  }
  if (t.kv_heads > 0 && t.heads % t.kv_heads != 0 && knows(at, "heads"))
    at.complain_at("kv_heads",
                   plain(static_cast<double>(t.kv_heads)) + " does not divide " +
                       plain(static_cast<double>(t.heads)) +
                       " heads; each key and value head serves the same number of query heads");
}

// Complains if `kind` of attention contradicts kv_heads.
void check_kind(const Transformer& t, const Cursor& at) {
  const auto attention = at.find("attention");
  const auto kind = attention ? attention->find("kind") : std::nullopt;
  if (!kind || t.heads == 0 || !knows(at, "heads") || !knows(at, "kv_heads")) return;
  const auto& text = kind->value().text;
  if (text == "gqa" && !t.latent && t.kv_heads == t.heads)
    return kind->complain("gqa has fewer kv_heads than heads, but the model has " +
                          plain(static_cast<double>(t.kv_heads)) +
                          " of both; give kv_heads, or write mha");
  const auto wanted = text == "mha" ? t.heads : text == "mqa" ? 1 : t.kv_heads;
  if (wanted != t.kv_heads)
    kind->complain(text + " has " + plain(static_cast<double>(wanted)) +
                   " kv_heads, but the model has " + plain(static_cast<double>(t.kv_heads)) +
                   "; write gqa, or leave one of the two out");
}

void derive_ffn(Transformer& t, const Cursor& at) {
  if (t.ffn > 0 || t.hidden == 0) return;
  const bool experts_only =
      t.moe && t.moe->expert_ffn > 0 && t.moe->first_dense_layers == 0 && t.moe->every == 1;
  if (experts_only)
    t.ffn = t.moe->expert_ffn;
  else if (t.gated())
    require({"ffn"}, "a gated MLP has no usual width; give the width of one projection", at);
  else
    t.ffn = 4 * t.hidden;
}

void derive_moe(Transformer& t, const Cursor& at) {
  if (!t.moe) return;
  auto& moe = *t.moe;
  const auto place = place_of_key(at, "moe");
  if (moe.experts == 0 || moe.top_k == 0) {  // `experts: 0` makes a model dense
    if (moe.experts == 0 && knows(at, "moe.experts"))
      require({"experts"}, "experts need their number", place);
    if (moe.top_k == 0 && moe.experts > 0 && knows(at, "moe.top_k"))
      require({"top_k"}, "a token sees some of the experts", place);
    t.moe.reset();
    return;
  }
  if (moe.top_k > moe.experts && knows(at, "moe"))
    place.complain_at("top_k", plain(static_cast<double>(moe.top_k)) + " of " +
                                   plain(static_cast<double>(moe.experts)) +
                                   " experts; a token sees each at most once");
  if (moe.first_dense_layers >= t.layers && t.layers > 0 && knows(at, "layers"))
    place.complain_at("first_dense_layers",
                      plain(static_cast<double>(moe.first_dense_layers)) + " of " +
                          plain(static_cast<double>(t.layers)) +
                          " layers: no layer has experts; leave moe out, or make fewer dense");
  if (moe.expert_ffn == 0) moe.expert_ffn = t.ffn;
  if (moe.shared_experts > 0 && moe.shared_ffn == 0) moe.shared_ffn = moe.expert_ffn;
}

void derive(ModelDraft& draft, const Cursor& at) {
  auto& t = draft.transformer;
  t.qkv_biases = draft.qkv_biases.value_or(t.biases);
  derive_latent(t, at);
  derive_heads(t, at);
  check_kind(t, at);
  derive_ffn(t, at);
  derive_moe(t, at);
  check_values(model_table(), draft, at);
}

}  // namespace

std::vector<Field> model_fields() { return fields_of(model_table()); }

Transformer read_model(const Cursor& at) {
  ModelDraft draft;
  const bool foreign = read_foreign(draft, at);
  const auto name = read_named(Kind::model, model_table(), draft, at);
  if (!name && !foreign)
    require({"layers", "hidden", "heads", "vocab"},
            "a model without `base` or `huggingface` needs layers, hidden, heads and vocab", at);
  if (draft.transformer.name.empty()) draft.transformer.name = name.value_or("model");
  derive(draft, at);
  return draft.transformer;
}

Value shown(const Transformer& model) {
  return show_map(model_table(), ModelDraft{.transformer = model, .qkv_biases = model.qkv_biases});
}

}  // namespace scenarios

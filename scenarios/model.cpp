// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "scenarios/huggingface.hpp"
#include "scenarios/named.hpp"
#include "scenarios/tables.hpp"

namespace scenarios {
namespace {

using model::Transformer;

struct Draft {
  Transformer transformer;
  std::optional<bool> qkv_biases;
  void finish() {}
};

template <class T>
auto of(T Transformer::*member) {
  return [member](Draft& draft) -> T& { return draft.transformer.*member; };
}

constexpr Range sizes{1, 16'777'216, "no published transformer is near that"};
constexpr Range counts{0, 1'000'000, "no published transformer is near that"};

// --- attention: {kind, ...}

const std::vector<Field>& attention_fields() {
  static const std::vector<Field> fields{
      {"kind",
       "Multi-head, grouped-query, multi-query or multi-head latent attention",
       "as kv_heads says",
       {.type = Type::choice, .choices = {"mha", "gqa", "mqa", "mla"}}},
      {"q_lora_rank",
       "Latent attention: rank of the queries",
       "",
       {.type = Type::whole, .range = counts}},
      {"kv_lora_rank",
       "Latent attention: rank of keys and values",
       "",
       {.type = Type::whole, .range = counts}},
      {"qk_nope_head_dim",
       "Latent attention: head size without rotary part",
       "",
       {.type = Type::whole, .range = counts}},
      {"qk_rope_head_dim",
       "Latent attention: rotary part of the head size",
       "",
       {.type = Type::whole, .range = counts}},
      {"v_head_dim",
       "Latent attention: head size of the values",
       "",
       {.type = Type::whole, .range = counts}}};
  return fields;
}

void read_attention(Draft& draft, const Cursor& at) {
  if (!check(map_of(attention_fields()), at)) return;
  const auto* kind = at.value().find("kind");
  const bool latent = std::ranges::any_of(
      at.value().members, [](const Member& member) { return member.key.text != "kind"; });
  if (latent || (kind != nullptr && kind->text == "mla"))
    at.unsupported("multi-head latent attention is not supported yet; supported: mha, gqa, mqa");
  if (kind != nullptr && kind->text == "mqa" && at.value().find("kv_heads") == nullptr &&
      draft.transformer.kv_heads == 0)
    draft.transformer.kv_heads = 1;
}

// --- moe

const std::vector<Field>& moe_fields() {
  static const std::vector<Field> fields{
      {"experts", "Routed experts of a layer", "", {.type = Type::whole, .range = counts}},
      {"top_k", "Experts that see a token", "", {.type = Type::whole, .range = counts}},
      {"expert_ffn", "Width of one expert's projection", "", {.type = Type::whole, .range = sizes}},
      {"shared_experts",
       "Experts that see every token",
       "0",
       {.type = Type::whole, .range = counts}},
      {"shared_ffn",
       "Width of one shared expert",
       "expert_ffn",
       {.type = Type::whole, .range = sizes}},
      {"first_dense_layers",
       "Layers without experts at the beginning",
       "0",
       {.type = Type::whole, .range = counts}},
      {"every", "Every so many layers have experts", "1", {.type = Type::whole, .range = sizes}},
      {"capacity_factor",
       "Room of an expert over its fair share of tokens",
       "dropless",
       {.type = Type::number, .range = {0, 1000, "a multiple of the fair share"}}},
      {"imbalance",
       "Tokens of the fullest expert-parallel rank over the mean",
       "1",
       {.type = Type::number, .range = {1, 1000, "the fullest rank has at least the mean"}}}};
  return fields;
}

void read_moe(Draft&, const Cursor& at) {
  const Form form = map_of(moe_fields());
  if (!check(form, at) || at.value().members.empty()) return;
  at.unsupported("mixture-of-experts layers are not supported yet; supported: dense transformers");
}

// --- attention_window: N or {size, every}

const Form& window_form() {
  static const Form form{
      .type = Type::either,
      .forms = {{.type = Type::whole, .range = sizes},
                map_of({{"size",
                         "Tokens that a layer looks back",
                         "",
                         {.type = Type::whole, .range = sizes}},
                        {"every",
                         "Every so many layers have the window",
                         "1",
                         {.type = Type::whole, .range = {1, 10'000, "a number of layers"}}}})}};
  return form;
}

void read_window(Draft& draft, const Cursor& at) {
  if (!check(window_form(), at)) return;
  const auto& value = at.value();
  const auto* size = value.kind == Value::Kind::scalar ? &value : value.find("size");
  if (size == nullptr) {
    at.complain("missing key 'size'; expected {size: N, every: M}");
    return;
  }
  const auto* every = value.find("every");
  draft.transformer.window = {to_whole(*size),
                              every == nullptr ? 1 : static_cast<int>(to_whole(*every))};
}

// --- the table

void add_sizes(Table<Draft>& table) {
  const Table<Draft> keys{
      whole<Draft>("layers", "", {1, 10'000, "no published transformer is near that"},
                   "Transformer layers", of(&Transformer::layers)),
      whole<Draft>("hidden", "", sizes, "Width of the residual stream", of(&Transformer::hidden)),
      whole<Draft>("heads", "", {1, 65'536, "no published transformer is near that"},
                   "Attention heads", of(&Transformer::heads)),
      whole<Draft>("kv_heads", "heads", {1, 65'536, "no published transformer is near that"},
                   "Heads of keys and values", of(&Transformer::kv_heads)),
      whole<Draft>("head_dim", "hidden / heads", {1, 65'536, "the size of one head"},
                   "Size of one head", of(&Transformer::head_dim)),
      whole<Draft>("ffn", "4 x hidden", sizes, "Width of one projection of the MLP",
                   of(&Transformer::ffn)),
      whole<Draft>("vocab", "", sizes, "Vocabulary before padding", of(&Transformer::vocab)),
      whole<Draft>("max_sequence", "the sequence length",
                   {1, 1e9, "no published transformer is near that"},
                   "Longest sequence that the model was made for", of(&Transformer::max_sequence))};
  table.insert(table.end(), keys.begin(), keys.end());
}

void add_shape(Table<Draft>& table) {
  using model::Activation;
  using model::Norm;
  using model::Position;
  const Table<Draft> keys{
      choice<Draft>("activation", "gelu",
                    std::vector<Named<Activation>>{{"gelu", Activation::gelu},
                                                   {"relu", Activation::relu},
                                                   {"squared_relu", Activation::squared_relu},
                                                   {"swiglu", Activation::swiglu},
                                                   {"geglu", Activation::geglu}},
                    "Activation of the MLP", of(&Transformer::activation)),
      choice<Draft>(
          "norm", "layernorm",
          std::vector<Named<Norm>>{{"layernorm", Norm::layernorm}, {"rmsnorm", Norm::rmsnorm}},
          "Normalisation", of(&Transformer::norm)),
      choice<Draft>("position", "learned",
                    std::vector<Named<Position>>{{"learned", Position::learned},
                                                 {"rope", Position::rope},
                                                 {"alibi", Position::alibi},
                                                 {"none", Position::none}},
                    "How positions enter", of(&Transformer::position)),
      yes_no<Draft>("tied_embeddings", "true", "Embedding and head share their weights",
                    of(&Transformer::tied_embeddings)),
      yes_no<Draft>("biases", "true", "Biases on every linear layer", of(&Transformer::biases)),
      yes_no<Draft>("qkv_biases", "as biases", "Biases on query, key and value",
                    &Draft::qkv_biases),
      yes_no<Draft>("parallel_block", "false", "Attention and MLP read the same input",
                    of(&Transformer::parallel_block)),
      whole<Draft>("norms_per_layer", "2", {0, 8, "norms of one layer"}, "Norms of one layer",
                   of(&Transformer::norms_per_layer)),
      yes_no<Draft>("query_key_norm", "false", "A norm per head on queries and keys",
                    of(&Transformer::query_key_norm)),
      number<Draft>("dropout", "0.1", {0, 0.99, "the share of values that are dropped"},
                    "Dropout probability", of(&Transformer::dropout)),
      yes_no<Draft>("causal", "true", "Each token sees only those before it",
                    of(&Transformer::causal))};
  table.insert(table.end(), keys.begin(), keys.end());
}

Table<Draft> make_table() {
  Table<Draft> table;
  add_sizes(table);
  add_shape(table);
  table.push_back({{"attention_window", "Tokens that each layer, or every so many, looks back",
                    "all", window_form()},
                   read_window});
  table.push_back(
      {{"attention", "Kind of attention", "as kv_heads says", map_of(attention_fields())},
       read_attention});
  table.push_back({{"moe", "Mixture-of-experts layers", "none", map_of(moe_fields())}, read_moe});
  table.push_back(not_yet<Draft>(
      "multi_token_prediction", "0",
      {.type = Type::whole, .range = {0, 64, "modules that predict further tokens"}},
      "Modules that predict further tokens", [](const Value& v) { return to_whole(v) == 0; },
      "write 0 or leave it out"));
  table.push_back(text<Draft>("name", "A name for reports", of(&Transformer::name)));
  table.push_back(unread<Draft>("huggingface", {.type = Type::text},
                                "Path of a config.json to start from, relative to the file"));
  add_entry_keys(table);
  return table;
}

const Table<Draft>& table() {
  static const auto made = make_table();
  return made;
}

void read_config(Draft& draft, const Cursor& place) {
  const auto& name = place.value().text;
  const auto path = (place.reading().base() / name).string();
  try {
    draft.transformer = read_huggingface(read_file(path), path, nullptr);
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
bool read_foreign(Draft& draft, const Cursor& at) {
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

// What follows from the rest.
void derive(Draft& draft, const Cursor& at) {
  auto& t = draft.transformer;
  const auto knows = [&](const char* key) { return !at.reading().doubtful(at.path() + "." + key); };
  t.qkv_biases = draft.qkv_biases.value_or(t.biases);
  if (t.kv_heads == 0) t.kv_heads = t.heads;
  if (t.head_dim == 0 && t.heads > 0) {
    t.head_dim = t.hidden / t.heads;
    if (t.hidden % t.heads != 0 && knows("hidden") && knows("heads"))
      at.complain_at("hidden", plain(static_cast<double>(t.hidden)) + " is not divisible by " +
                                   plain(static_cast<double>(t.heads)) + " heads; give head_dim");
  }
  if (t.kv_heads > 0 && t.heads % t.kv_heads != 0 && knows("heads"))
    at.complain_at("kv_heads",
                   plain(static_cast<double>(t.kv_heads)) + " does not divide " +
                       plain(static_cast<double>(t.heads)) +
                       " heads; each key and value head serves the same number of query heads");
  if (t.ffn > 0 || t.hidden == 0) return;
  if (t.gated())
    require({"ffn"}, "a gated MLP has no usual width; give the width of one projection", at);
  else
    t.ffn = 4 * t.hidden;
}

}  // namespace

std::vector<Field> model_fields() { return fields_of(table()); }

Transformer read_model(const Cursor& at) {
  Draft draft;
  const bool foreign = read_foreign(draft, at);
  const auto name = read_named(Kind::model, table(), draft, at);
  if (!name && !foreign)
    require({"layers", "hidden", "heads", "vocab"},
            "a model without `base` or `huggingface` needs layers, hidden, heads and vocab", at);
  if (draft.transformer.name.empty()) draft.transformer.name = name.value_or("model");
  derive(draft, at);
  return draft.transformer;
}

}  // namespace scenarios

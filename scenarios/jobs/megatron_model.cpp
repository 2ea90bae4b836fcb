// SPDX-License-Identifier: Apache-2.0
// The model of a Megatron-LM job.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "scenarios/documents/layer_rule.hpp"
#include "scenarios/jobs/layer_pattern.hpp"
#include "scenarios/jobs/megatron.hpp"
#include "scenarios/jobs/named_model.hpp"
#include "units/text.hpp"

namespace scenarios {
namespace {

constexpr std::string_view from_checkpoint = "--use-checkpoint-args";

// Returns a size that every job must give.
std::int64_t needed(const MegatronJob& job, std::string_view name, std::string_view key) {
  const auto& given = job.given;
  if (given.has(name)) {
    const auto value = given.whole(name);
    if (value == 0) given.complain(name, "it must be at least 1");
    return value.value_or(0);
  }
  if (const auto size = job.known_whole(key.substr(key.find('.') + 1), 0); size > 0) return size;
  const auto why = given.has(from_checkpoint) ? std::string("the sizes stand in the checkpoint")
                                              : std::string(name) + " is not given";
  job.draft.want(std::string(key), why + "; add --set " + std::string(key) + "=N",
                 {from_checkpoint});
  return 0;
}

void read_sizes(MegatronJob& job) {
  const auto& given = job.given;
  auto& draft = job.draft;
  const auto layers = given.has("--num-layers")           ? "--num-layers"
                      : given.has("--encoder-num-layers") ? "--encoder-num-layers"
                                                          : "--num-layers";
  job.layers = needed(job, layers, "model.layers");
  job.hidden = needed(job, "--hidden-size", "model.hidden");
  job.heads = needed(job, "--num-attention-heads", "model.heads");
  if (job.layers > 0 && given.has(layers)) draft.whole("model.layers", job.layers, {layers});
  if (job.hidden > 0 && given.has("--hidden-size"))
    draft.whole("model.hidden", job.hidden, {"--hidden-size"});
  if (job.heads > 0 && given.has("--num-attention-heads"))
    draft.whole("model.heads", job.heads, {"--num-attention-heads"});
  job.layers = draft.holding("model.layers", job.layers);
  job.hidden = draft.holding("model.hidden", job.hidden);
  job.heads = draft.holding("model.heads", job.heads);
}

// Whether attention has latent keys and values.
bool is_latent(const MegatronJob& job) {
  const auto* kind = job.known_value("attention.kind");
  return job.given.has("--multi-latent-attention") || (kind != nullptr && kind->text == "mla");
}

void read_heads(MegatronJob& job) {
  const auto& given = job.given;
  if (is_latent(job)) {
    if (given.mentioned("--multi-latent-attention") != nullptr &&
        !given.has("--multi-latent-attention"))
      given.refuse("--multi-latent-attention",
                   "the model that the job names has latent attention, and is not modelled "
                   "without; leave this out");
    if (given.has("--group-query-attention") && given.has("--multi-latent-attention"))
      given.complain("--group-query-attention",
                     "it excludes --multi-latent-attention; leave one of them out");
    return;
  }
  constexpr const char* kind = "--attention-head-type";  // of BigCode's fork
  if (given.word_or(kind, "multihead") == "multiquery")
    job.draft.whole("model.kv_heads", 1, {kind});
  else if (given.has("--group-query-attention"))
    job.draft.whole("model.kv_heads", given.whole_or("--num-query-groups", 1),
                    {"--num-query-groups", "--group-query-attention"});
  else if (const auto heads = given.whole("--num-key-value-heads"))
    job.draft.whole("model.kv_heads", *heads, {"--num-key-value-heads"});
  else if (job.heads > 0)
    job.draft.whole("model.kv_heads", job.heads, {"--group-query-attention"}, "as many as heads");
  if (const auto size = given.whole("--kv-channels"))
    job.draft.whole("model.head_dim", *size, {"--kv-channels"});
}

void read_latent(MegatronJob& job) {
  const auto& given = job.given;
  if (!is_latent(job)) return;
  auto& draft = job.draft;
  draft.text("model.attention.kind", "mla", {"--multi-latent-attention"});
  draft.whole("model.attention.q_lora_rank", given.whole_or("--q-lora-rank", 0), {"--q-lora-rank"},
              given.has("--q-lora-rank") ? "" : "queries have no low rank");
  constexpr std::array<std::pair<const char*, std::pair<const char*, int>>, 4> sizes{
      {{"kv_lora_rank", {"--kv-lora-rank", 32}},
       {"qk_nope_head_dim", {"--qk-head-dim", 128}},
       {"qk_rope_head_dim", {"--qk-pos-emb-head-dim", 64}},
       {"v_head_dim", {"--v-head-dim", 128}}}};
  for (const auto& [key, argument] : sizes)
    draft.whole("model.attention." + std::string(key),
                given.whole_or(argument.first, argument.second), {argument.first});
}

void read_ffn(MegatronJob& job) {
  if (const auto ffn = job.given.whole("--ffn-hidden-size")) {
    job.draft.whole("model.ffn", *ffn, {"--ffn-hidden-size"});
    return;
  }
  if (job.hidden == 0) return;
  if (job.given.has("--swiglu"))
    job.draft.whole("model.ffn", job.hidden * 8 / 3 / 64 * 64, {"--ffn-hidden-size"},
                    "8/3 of hidden, in whole 64");
  else
    job.draft.whole("model.ffn", 4 * job.hidden, {"--ffn-hidden-size"}, "4 x hidden");
}

// Whether the job gives that size of the vocabulary to the model, and not to a tokenizer beside a
// known model, whose own size holds.
bool sizes_vocabulary(const MegatronJob& job, std::string_view name) {
  const auto* argument = job.given.find(name);
  return argument != nullptr && (job.known.sizes == nullptr ||
                                 !std::string_view(argument->text).starts_with("tokenizer."));
}

// Reads the tokenizer's vocabulary, if it is known without its file.
void read_vocabulary(MegatronJob& job) {
  const auto& given = job.given;
  auto& draft = job.draft;
  const auto multiple = given.whole_or("--make-vocab-size-divisible-by", 128);
  const bool said = given.has("--padded-vocab-size") || given.has("--pad-vocab-size-to");
  const bool padded = !said && !given.has("--no-pad-vocab-size");
  for (const auto* name : {"--padded-vocab-size", "--pad-vocab-size-to"})
    if (sizes_vocabulary(job, name)) draft.whole("model.vocab", given.whole_or(name, 1), {name});
  draft.whole("software.vocab_multiple", padded ? multiple : 1,
              {"--make-vocab-size-divisible-by", "--padded-vocab-size", "--no-pad-vocab-size"});
  if (said) return;
  const auto tokenizer = given.word_or("--tokenizer-type", "");
  const bool known = job.known.sizes != nullptr;
  if (sizes_vocabulary(job, "--vocab-size")) {
    const bool counts_end = tokenizer == "NullTokenizer" && !known;
    draft.whole("model.vocab", given.whole_or("--vocab-size", 1) + (counts_end ? 1 : 0),
                {"--vocab-size", "--tokenizer-type"},
                counts_end ? "and the end of a document" : "");
    return;
  }
  if (known) return;
  constexpr std::int64_t gpt2 = 50257;
  const auto* patched = "--patch-tokenizer-type";  // a tokenizer of Pai-Megatron's
  const bool byte_pairs =
      tokenizer == "GPT2BPETokenizer" || (tokenizer.empty() && !job.bert && !given.has(patched));
  const auto* path = "--tokenizer-model";
  if (!byte_pairs && set_vocabulary_of(job, path)) return;
  if (byte_pairs)
    draft.whole("model.vocab", gpt2, {"--tokenizer-type", "--merge-file"},
                "GPT-2's vocabulary, which pretrain_gpt.py takes");
  else
    draft.want("model.vocab",
               "the vocabulary stands in the tokenizer's files, not in this job; add --set "
               "model.vocab=N",
               {"--vocab-file", "--tokenizer-type", patched});
}

void read_positions(MegatronJob& job) {
  const auto& given = job.given;
  auto word = given.word_or("--position-embedding-type", "learned_absolute");
  if (given.has("--use-rotary-position-embeddings")) word = "rope";
  if (word == "learned_absolute" && given.has("--no-position-embedding")) word = "none";
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> words{
      {{"learned_absolute", "learned"},
       {"rope", "rope"},
       {"mrope", "rope"},
       {"yarn", "rope"},
       {"none", "none"},
       {"alibi", "alibi"}}};
  const auto* known = std::ranges::find(words, word, [](const auto& pair) { return pair.first; });
  if (known == words.end()) {
    given.refuse("--position-embedding-type",
                 "these positions are not modelled; expected "
                 "learned_absolute, rope, mrope, yarn or none");
    return;
  }
  constexpr const char* part = "--rotary-percent";
  if (given.has(part) && given.number(part) == 1.0) job.draft.unused(part, "all of it is rotated");
  job.draft.text(
      "model.position", std::string(known->second),
      {"--position-embedding-type", "--use-rotary-position-embeddings", "--no-position-embedding"});
}

void read_activation(MegatronJob& job) {
  const auto& given = job.given;
  const char* word = given.has("--swiglu")         ? "swiglu"
                     : given.has("--squared-relu") ? "squared_relu"
                     : given.has("--quick-geglu")  ? "geglu"
                                                   : "gelu";
  job.draft.text("model.activation", word, {"--swiglu", "--squared-relu", "--quick-geglu"});
}

void read_norms(MegatronJob& job) {
  const auto& given = job.given;
  const auto word = units::lower_case(given.word_or("--normalization", "LayerNorm"));
  if (word == "layernorm" || word == "rmsnorm")
    job.draft.text("model.norm", word, {"--normalization"});
  else
    given.complain("--normalization", "expected LayerNorm or RMSNorm");
  if (job.tells("--qk-layernorm") && !is_latent(job))
    job.draft.yes_no("model.query_key_norm", given.has("--qk-layernorm"), {"--qk-layernorm"});
}

void read_biases(MegatronJob& job) {
  const auto& given = job.given;
  const bool biases = !given.has("--disable-bias-linear");
  job.draft.yes_no("model.biases", biases, {"--disable-bias-linear"});
  if (!biases && job.tells("--add-qkv-bias"))
    job.draft.yes_no("model.qkv_biases", given.has("--add-qkv-bias"), {"--add-qkv-bias"});
}

// Reads dropout, which without an argument is the known model's.
void read_dropout(MegatronJob& job) {
  const auto& given = job.given;
  const auto* known = job.known_value("dropout");
  const auto usual = known == nullptr ? 0.1 : std::atof(known->text.c_str());
  const auto of_attention = given.number("--attention-dropout").value_or(usual),
             of_hidden = given.number("--hidden-dropout").value_or(usual);
  const auto* larger = of_hidden >= of_attention ? "--hidden-dropout" : "--attention-dropout";
  auto text = given.word_or(larger, known == nullptr ? "0.1" : known->text);
  job.draft.set("model.dropout", job_text(std::move(text)),
                {"--hidden-dropout", "--attention-dropout"},
                of_hidden == of_attention ? "" : "the larger of both");
}

// Returns the rule by which layers have the window; nothing, after a complaint, if they follow
// none.
std::optional<WindowRule> windows_of(const Given& given) {
  const auto* name = "--window-attn-skip-freq";
  const auto text = given.word(name);
  if (!text) return WindowRule{};
  std::optional<WindowRule> rule;
  if (const auto listed = layer_list(*text))
    rule = window_rule({listed->begin(), listed->end()});
  else if (const auto every = given.whole(name); every && *every > 1 && *every <= 10'000)
    rule = WindowRule{1, static_cast<int>(*every)};
  if (!rule)
    given.refuse(name,
                 "windows in all layers, in the first of every N, or in all but the last of every "
                 "N can be forecast; expected N of 2 and more, or a list such as ([1]*5+[0]*1)*4");
  return rule;
}

void read_window(MegatronJob& job) {
  const auto& given = job.given;
  if (!given.has("--window-size")) {
    if (job.tells("--window-size"))
      job.draft.leave_out("model.attention_window", {"--window-size"});
    return;
  }
  auto sizes = given.words("--window-size");
  for (auto& size : sizes) std::erase_if(size, [](char c) { return c == '(' || c == ')'; });
  std::erase(sizes, "");
  std::int64_t size = 0;
  for (const char c : sizes.empty() ? std::string() : sizes.front())
    size = c >= '0' && c <= '9' && size < (1 << 20) ? size * 10 + (c - '0') : -1 * (1 << 30);
  if (size < 1) {
    given.complain("--window-size", "expected LEFT,RIGHT, such as 127,0");
    return;
  }
  const auto rule = windows_of(given);
  if (!rule) return;
  const Draft::Names from{"--window-attn-skip-freq"};
  job.draft.whole("model.attention_window.size", size, {"--window-size"});
  job.draft.whole("model.attention_window.every", rule->every, from);
  if (rule->full_every > 0)
    job.draft.whole("model.attention_window.full_every", rule->full_every, from);
}

}  // namespace

bool set_vocabulary_of(MegatronJob& job, std::string_view name) {
  const auto* argument = job.given.find(name);
  // A path that only a shell can tell names nothing, and nothing else asks for it.
  if (argument == nullptr || argument->values.size() != 1 ||
      !argument->values.front().trouble.empty())
    return false;
  const auto* model = named_model(argument->values.front().text);
  const auto* vocabulary = model == nullptr ? nullptr : model->find("vocab");
  if (vocabulary == nullptr) return false;
  job.draft.set("model.vocab", *vocabulary, {name}, "rows of that model's embedding");
  return true;
}

void read_megatron_model(MegatronJob& job) {
  read_sizes(job);
  read_heads(job);
  read_latent(job);
  read_ffn(job);
  read_vocabulary(job);
  auto& draft = job.draft;
  if (const auto longest = job.given.whole("--max-position-embeddings"))
    draft.whole("model.max_sequence", *longest, {"--max-position-embeddings"});
  read_activation(job);
  read_norms(job);
  read_positions(job);
  draft.yes_no("model.tied_embeddings", !job.given.has("--untie-embeddings-and-output-weights"),
               {"--untie-embeddings-and-output-weights"});
  read_biases(job);
  read_dropout(job);
  read_window(job);
  if (const bool sinks = job.given.word_or("--softmax-type", "vanilla") == "learnable";
      sinks || (job.known.sizes != nullptr && job.given.has("--softmax-type")))
    draft.yes_no("model.attention_sinks", sinks, {"--softmax-type"});
  if (job.bert)
    draft.yes_no("model.causal", false, {"--vocab-file"},
                 "a vocabulary of word pieces without merges is BERT's");
  if (const auto modules = job.given.whole_or("--mtp-num-layers", 0);
      modules > 0 || job.tells("--mtp-num-layers"))
    draft.whole("model.multi_token_prediction", modules, {"--mtp-num-layers"});
}

}  // namespace scenarios

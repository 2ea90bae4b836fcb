// SPDX-License-Identifier: Apache-2.0
// A new model of transformers' examples: the defaults of a kind of model, under keys that the
// command gives (run_clm.py --model_type gpt2 --config_overrides n_embd=1024,n_layer=24).
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <map>

#include "scenarios/jobs/named_model.hpp"
#include "scenarios/jobs/trainer_rules.hpp"

namespace scenarios {
namespace {

constexpr const char *overrides_name = "config_overrides", *kind_name = "model_type";

// Kinds whose configuration class has the sizes of a model that is known (GPT2Config).
struct KindOfModel {
  std::string_view kind, model;
};
constexpr std::array<KindOfModel, 1> kinds_of_model{{{"gpt2", "gpt2"}}};

// Keys of that class, and the keys of a scenario; empty: no size follows.
struct OverriddenKey {
  std::string_view key, path;
};
constexpr std::array<OverriddenKey, 10> overridden_keys{{{"n_embd", "model.hidden"},
                                                         {"n_head", "model.heads"},
                                                         {"n_layer", "model.layers"},
                                                         {"n_inner", "model.ffn"},
                                                         {"n_positions", "model.max_sequence"},
                                                         {"vocab_size", "model.vocab"},
                                                         {"initializer_range", ""},
                                                         {"layer_norm_epsilon", ""},
                                                         {"scale_attn_weights", ""},
                                                         {"use_cache", ""}}};

using Sizes = std::map<std::string, std::int64_t, std::less<>>;  // by key of a scenario

// Takes one "key=value" of the overrides; returns whether it is read.
bool take_override(std::string_view pair, Sizes& sizes) {
  const auto equals = std::min(pair.find('='), pair.size());
  const auto* known =
      std::ranges::find(overridden_keys, pair.substr(0, equals), &OverriddenKey::key);
  if (known == overridden_keys.end() || equals == pair.size()) return false;
  if (known->path.empty()) return true;
  const auto text = pair.substr(equals + 1);
  std::int64_t size = 0;
  const auto [stop, wrong] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (wrong != std::errc() || stop != text.data() + text.size() || size < 1) return false;
  sizes[std::string(known->path)] = size;
  return true;
}

// Returns the first override that is not read; empty: all are.
std::string take_overrides(const std::string& all, Sizes& sizes) {
  std::string_view rest = all;
  while (!rest.empty()) {
    const auto end = std::min(rest.find(','), rest.size());
    if (!take_override(rest.substr(0, end), sizes)) return std::string(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {};
}

// Adds the sizes that follow from the others in GPT2Config and GPT2Attention. Returns whether heads
// divide the width.
bool add_following(Sizes& sizes, const Value& model) {
  const auto size = [&](const char* key) {
    const auto found = sizes.find(std::string("model.") + key);
    return found == sizes.end() ? std::atoll(model.find(key)->text.c_str()) : found->second;
  };
  const auto hidden = size("hidden"), heads = size("heads");
  sizes.try_emplace("model.ffn", 4 * hidden);
  sizes["model.kv_heads"] = heads;
  sizes["model.head_dim"] = hidden / heads;
  return hidden % heads == 0;
}

}  // namespace

bool read_new_model(TrainerJob& job) {
  const auto& given = job.given;
  const bool overridden = given.has(overrides_name);
  for (const auto* name : {"model_name_or_path", "config_name"}) {
    if (!given.has(name)) continue;
    if (overridden)
      given.complain(overrides_name, std::string("beside --") + name +
                                         " the script does not start (run_clm.py); name a kind of "
                                         "model by --model_type instead, or leave it out");
    return false;
  }
  const auto* kind = std::ranges::find(kinds_of_model, job.word(kind_name), &KindOfModel::kind);
  if (kind == kinds_of_model.end()) return false;
  const auto* model = named_model(std::string(kind->model));
  Sizes sizes;
  const auto unread = take_overrides(job.word(overrides_name), sizes);
  if (!unread.empty()) {
    job.draft.want("model",
                   unread +
                       " of --config_overrides is not read; add --set "
                       "model.huggingface=config.json",
                   {overrides_name});
    return true;
  }
  if (!add_following(sizes, *model))
    given.complain(overrides_name, "n_head must divide n_embd, or the model is not made");
  for (const auto& member : model->members)
    job.draft.set("model." + member.key.text, member.value, {kind_name},
                  "the defaults of that kind of model");
  for (const auto& [path, size] : sizes) job.draft.whole(path, size, {overrides_name, kind_name});
  return true;
}

}  // namespace scenarios

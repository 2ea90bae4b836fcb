// SPDX-License-Identifier: Apache-2.0
// Arguments that only axolotl, LLaMA-Factory or the examples of transformers have.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <map>
#include <utility>

#include "scenarios/jobs/named_model.hpp"
#include "scenarios/jobs/trainer_rules.hpp"

namespace scenarios {
namespace {

// Reads cut cross entropy, which its plugin switches on alone (CutCrossEntropyArgs has
// cut_cross_entropy: true, from memory); what Liger's plugin has is off until a key asks for it.
void read_cut_cross_entropy(TrainerJob& job) {
  constexpr const char *name = "cut_cross_entropy", *plugins = "plugins";
  const auto words = job.given.words(plugins);
  const bool plugged = std::ranges::any_of(
      words, [](const auto& word) { return word.ends_with("CutCrossEntropyPlugin"); });
  if (!job.yes(name, plugged)) return;
  const Draft::Names from{name, plugins};
  job.draft.yes_no("software.fused_cross_entropy", true, from);
  job.draft.text("software.loss_chunks", "liger", from, "head and loss in one, part by part");
  job.draft.partly(job.given.has(name) ? name : plugins,
                   "cut cross entropy makes logits again in the backward pass; the forecast has "
                   "their memory, not this time");
}

void read_axolotl_kernels(TrainerJob& job) {
  auto& draft = job.draft;
  for (const auto* name :
       {"flash_attention", "sdp_attention", "xformers_attention", "flex_attention"})
    if (job.yes(name)) draft.text("software.attention", "flash", {name});
  if (job.yes("eager_attention")) set_eager_attention(draft, "eager_attention");
  constexpr std::array<std::pair<const char*, const char*>, 6> fusions{
      {{"liger_fused_linear_cross_entropy", "software.fused_cross_entropy"},
       {"liger_cross_entropy", "software.fused_cross_entropy"},
       {"chunked_cross_entropy", "software.fused_cross_entropy"},
       {"liger_rms_norm", "software.fused_norm"},
       {"liger_rope", "software.fused_rotary"},
       {"liger_glu_activation", "software.fused_bias_activation"}}};
  for (const auto& [name, key] : fusions)
    if (job.yes(name)) draft.yes_no(key, true, {name});
  if (const auto* name = "liger_fused_linear_cross_entropy"; job.yes(name))
    draft.text("software.loss_chunks", "liger", {name}, "head and loss in one, part by part");
  read_cut_cross_entropy(job);
}

constexpr const char *stages_name = "pipeline_model_parallel_size",
                     *divides_name = "use_distributed_optimizer";

}  // namespace

void read_axolotl(TrainerJob& job) {
  const auto& given = job.given;
  read_axolotl_kernels(job);
  const auto* some = given.find("unfrozen_parameters");
  if (some != nullptr && !some->values.empty())
    given.refuse("unfrozen_parameters", "weights that stay as they are are not modelled");
  const auto* whole = "batch_size";
  if (given.has(whole) && given.has("gradient_accumulation_steps"))
    given.complain(whole,
                   "gradient_accumulation_steps decides it, too, and axolotl does not start with "
                   "both (from memory); leave one of them out");
  const auto* compiles = "torch_compile";
  if (given.word_or(compiles, "") == "auto")
    job.draft.yes_no("software.compile", true, {compiles}, "from PyTorch 2.5.1 on (from memory)");
  if (given.has("processor_type")) given.refuse("processor_type", "a vision tower is not modelled");
  if (job.yes("pad_to_sequence_len"))  // every sequence is as long as the forecast has it
    job.draft.whole("training.sequence_length", given.whole_or("max_length", 512),
                    {"max_length", "pad_to_sequence_len"});
}

bool runs_megatron(const TrainerJob& job) {
  const auto& given = job.given;
  return job.framework == "llamafactory" &&
         (job.yes("use_mca") || job.yes("use_megatron_bridge") ||
          given.mentioned(divides_name) != nullptr || given.whole_or(stages_name, 1) > 1);
}

void read_llamafactory_stages(TrainerJob& job) {
  const auto& given = job.given;
  job.pipeline = given.degree(stages_name);
  if (job.pipeline == 1) return;
  constexpr const char* virtual_name = "virtual_pipeline_model_parallel_size";
  const auto chunks = given.whole_or(virtual_name, 1);
  job.pipeline = job.draft.whole("plan.pipeline", job.pipeline, {stages_name});
  job.draft.text("plan.schedule", chunks > 1 ? "interleaved" : "1f1b", {stages_name, virtual_name});
  if (chunks > 1) job.draft.whole("plan.virtual_stages", chunks, {virtual_name});
}

// Recomputation under Megatron-LM is that of recompute_granularity, which is none by default, and
// not that of LLaMA-Factory's own layers (from memory).
void read_llamafactory(TrainerJob& job) {
  const auto& given = job.given;
  if (job.tensor > 1 && job.yes("sequence_parallel"))
    job.draft.yes_no("plan.sequence_parallel", true, {"sequence_parallel"});
  if (!runs_megatron(job)) return;
  const bool said = given.has("use_mca") || given.has("use_megatron_bridge");
  if (!said)
    job.draft.partly(given.has(stages_name) ? stages_name : divides_name,
                     "Megatron-LM runs the layers; the forecast has those of PyTorch");
  const bool divides = job.yes(divides_name, true);
  job.draft.whole("plan.zero", divides ? 1 : 0, {divides_name});
  job.draft.yes_no("plan.overlap.data", job.yes("overlap_grad_reduce", true),
                   {"overlap_grad_reduce"});
  job.draft.yes_no("plan.overlap.parameters", divides && job.yes("overlap_param_gather", true),
                   {"overlap_param_gather"});
  const auto kept = job.word("recompute_granularity");
  if (kept == "full" || kept == "selective")
    job.draft.text("plan.recompute", kept, {"recompute_granularity"});
}

// A new model of transformers' examples: the defaults of a kind of model, under keys that the
// command gives (run_clm.py --model_type gpt2 --config_overrides n_embd=1024,n_layer=24).
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

// SPDX-License-Identifier: Apache-2.0
#include "scenarios/frameworks/megatron_swift.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "scenarios/jobs/keys_as_flags.hpp"
#include "scenarios/jobs/megatron.hpp"
#include "scenarios/jobs/named_model.hpp"
#include "scenarios/jobs/packing_words.hpp"

namespace scenarios {
namespace {

constexpr const char* swift_table = "megatron_swift";
constexpr std::string_view model_names[]{"model", "mcore_model", "--load"};

// Returns "--moe_permute_fusion" as its key, "moe_permute_fusion".
JobArgument as_key(JobArgument argument) {
  argument.text = written(argument);
  argument.name.erase(0, std::min(argument.name.find_first_not_of('-'), argument.name.size()));
  std::ranges::replace(argument.name, '-', '_');
  const std::string_view name = argument.name;
  if (argument.values.empty() && !name.starts_with('$'))  // "$@" has none
    argument.values.push_back({"true", {}, argument.at});
  return argument;
}

// Returns keys as flags of Megatron-LM, whose names they have: "no_rope_fusion true" switches
// fusion off.
std::vector<JobArgument> flags_of(const std::vector<JobArgument>& arguments) {
  const auto& table = arguments_of(swift_table);
  std::vector<JobArgument> flags;
  for (const auto& argument : arguments) {
    if (argument.name.empty() || argument.stray) {
      flags.push_back(argument);
      continue;
    }
    const auto key = as_key(argument);
    auto name = "--" + key.name;
    std::ranges::replace(name, '_', '-');
    const auto* flag = table.find_here(key.name) == nullptr ? table.below()->find(name) : nullptr;
    if (flag != nullptr)
      flags.push_back(as_flag(key, *flag, flag->negates));
    else
      std::ranges::move(keys_as_flags({key}, table, true), std::back_inserter(flags));
  }
  return flags;
}

JobArgument standing(const char* flag, const std::string& value, const std::string& text) {
  JobArgument argument{flag, {}, {}};
  if (!value.empty()) argument.values.push_back({value, {}, {}});
  argument.text = text;
  argument.file = "ms-swift";
  argument.standard = true;
  return argument;
}

std::string last_word(const std::vector<JobArgument>& flags, std::string_view name) {
  std::string word;
  for (const auto& one : flags)
    if (gives(one, name) && one.values.size() == 1 && one.values.front().trouble.empty())
      word = one.values.front().text;
  return word;
}

// Adds the values that ms-swift passes to Megatron-LM for options that a job does not give.
void add_defaults(std::vector<JobArgument>& all, const std::vector<JobArgument>& flags) {
  constexpr std::array<std::pair<const char*, const char*>, 8> defaults{
      {{"--micro-batch-size", "1"},
       {"--global-batch-size", "16"},
       {"--use-distributed-optimizer", ""},
       {"--attention-backend", "flash"},
       {"--expert-tensor-parallel-size", "1"},
       {"--moe-token-dispatcher-type", "alltoall"},
       {"--moe-grouped-gemm", ""},
       {"--recompute-granularity", "selective"}}};
  const auto says = [&](std::string_view name) {
    return std::ranges::any_of(flags, [&](const JobArgument& one) { return one.name == name; });
  };
  const auto add = [&](const char* name, const char* value) {
    auto text = std::string(name);
    if (*value != '\0') text += std::string(" ") + value;
    if (!says(name)) all.push_back(standing(name, value, text + ", the default of ms-swift"));
  };
  for (const auto& [name, value] : defaults) add(name, value);
  const auto type = last_word(flags, "torch_dtype");
  if (type == "float16")
    add("--fp16", "");
  else if (type != "float32" && !says("--fp16"))
    add("--bf16", "");
}

// Returns the argument that names the model: the first that names a known model, else the first
// that is given; empty: none.
std::string_view naming(const std::vector<JobArgument>& flags) {
  std::string_view given;
  for (const auto name : model_names) {
    auto word = last_word(flags, name);
    if (word.ends_with("-mcore")) word.resize(word.size() - 6);
    if (!word.empty() && named_model(word) != nullptr) return name;
    if (!word.empty() && given.empty()) given = name;
  }
  return given;
}

// Removes the suffix of weights that were converted for Megatron-LM: "Qwen3-8B-mcore" is Qwen3-8B.
void name_models(std::vector<JobArgument>& flags) {
  for (auto& one : flags)
    if (std::ranges::find(model_names, std::string_view(one.name)) != std::end(model_names))
      for (auto& value : one.values)
        if (value.text.ends_with("-mcore")) value.text.resize(value.text.size() - 6);
}

// Adds the vocabulary of the known model, which ms-swift does not pad further.
void add_vocabulary(std::vector<JobArgument>& all, const std::vector<JobArgument>& flags) {
  const auto name = naming(flags);
  const auto* model = name.empty() ? nullptr : named_model(last_word(flags, name));
  if (const auto* rows = model == nullptr ? nullptr : model->find("vocab"); rows != nullptr)
    all.push_back(standing("--padded-vocab-size", rows->text, "--padded-vocab-size"));
}

void refuse_partial_training(const MegatronJob& job) {
  const auto& given = job.given;
  if (const auto kind = given.word_or("tuner_type", "full"); kind != "full")
    given.refuse("tuner_type",
                 "only adapters are trained; weights that stay as they are are not modelled");
  for (const auto name : model_names)
    if (names_senses(given.word_or(name, ""))) given.refuse(name, "a vision tower is not modelled");
}

KnownModel model_of_swift(const Given& given) {
  std::vector<JobArgument> named;
  for (const auto name : model_names)
    if (const auto* argument = given.find(name)) named.push_back(*argument);
  const auto name = naming(named);
  if (name.empty()) return {};
  return {named_model(given.word_or(name, "")), name, "its config.json"};
}

void add_swift(MegatronJob& job) {
  const auto& given = job.given;
  refuse_partial_training(job);
  if (job.known.from.empty())
    job.draft.want("model",
                   "the job names no model; add --set model.huggingface=config.json or --set "
                   "model=NAME of the catalog");
  else
    name_model(job.draft, given, job.known.from);
  const auto packed = given.yes("packing");
  if (packed) job.draft.partly("packing", packed_texts);
  if (!packed && given.has("--seq-length")) job.draft.partly("--seq-length", unpacked_texts);
}

}  // namespace

JobScenario megatron_swift_scenario(const FrameworkJob& job, const std::string& file,
                                    Complaints& complaints) {
  FrameworkJob flags = job;
  flags.program.clear();
  auto given = flags_of(job.arguments);
  name_models(given);
  flags.arguments.clear();
  add_defaults(flags.arguments, given);
  add_vocabulary(flags.arguments, given);
  std::ranges::move(given, std::back_inserter(flags.arguments));
  auto scenario = megatron_scenario(
      flags, file, complaints, {swift_table, "megatron-core", add_swift, true, model_of_swift});
  settle_named_model(scenario);
  std::erase_if(scenario.account.arguments, [](const JudgedArgument& one) {
    return one.place.starts_with("ms-swift") && one.text.find(',') == one.text.npos;
  });
  return scenario;
}

}  // namespace scenarios

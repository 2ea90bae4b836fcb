// SPDX-License-Identifier: Apache-2.0
#include "scenarios/frameworks/megatron_bridge.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "scenarios/frameworks/nemo_export.hpp"
#include "scenarios/jobs/keys_as_flags.hpp"
#include "scenarios/jobs/megatron.hpp"
#include "scenarios/jobs/named_model.hpp"

namespace scenarios {
namespace {

constexpr const char *name_of_recipe = "recipe", *flavor_name = "flavor",
                     *mixed_key = "mixed_precision";

// Returns the arguments that recipes of both frameworks set, unless an override says otherwise.
std::vector<JobArgument> shared_defaults() {
  constexpr std::array<std::pair<const char*, const char*>, 7> defaults{
      {{"--use-distributed-optimizer", ""},
       {"--overlap-grad-reduce", ""},
       {"--overlap-param-gather", ""},
       {"--disable-bias-linear", ""},
       {"--swiglu", ""},
       {"--untie-embeddings-and-output-weights", ""},
       {"--normalization", "RMSNorm"}}};
  std::vector<JobArgument> all;
  for (const auto& [name, value] : defaults) {
    JobArgument argument{name, {}, {}};
    if (*value != '\0') argument.values.push_back({value, {}, {}});
    argument.file = "the recipe";
    argument.standard = true;
    all.push_back(std::move(argument));
  }
  return all;
}

// Reads the precision from the name of a bundle of data types: bf16_mixed,
// bf16_with_fp8_current_scaling_mixed, nvfp4.
void read_precision_of(MegatronJob& job) {
  const auto& given = job.given;
  const auto word = given.word_or(mixed_key, "bf16_mixed");
  const auto has = [&](std::string_view part) { return word.find(part) != word.npos; };
  const auto set = [&](const char* precision) {
    job.draft.text("training.precision", precision, {mixed_key},
                   given.has(mixed_key) ? "" : "as recipes have it");
  };
  // Recipes keep weights in 8 bit alone, except with scales for blocks.
  const auto keep = [&] {
    if (given.mentioned("--fp8-param-gather") == nullptr)
      job.draft.yes_no("software.narrow_weights", true, {mixed_key}, "as recipes have it");
    else if (given.has("--fp8-param-gather"))
      job.draft.yes_no("software.narrow_weights", true, {"--fp8-param-gather"});
  };
  const auto fp8 = [&](const char* kind) {
    set("fp8");
    job.draft.text("training.fp8_recipe", kind, {mixed_key});
    if (kind != std::string_view("blockwise") || given.has("--fp8-param-gather")) keep();
  };
  if (given.has("--fp8-format") || given.has("--fp4-format")) return;
  // Current scaling keeps the first and the last layer in bf16, two of each in hybrid Nemotrons.
  const std::int64_t ends = !has("current_scaling") ? 0 : has("nemotron") || has("nanov2") ? 2 : 1;
  const bool other = has("nvfp4") || has("mxfp8") || has("current_scaling") || has("subchannel") ||
                     has("blockwise");
  if (other || has("fp8")) read_megatron_bf16(job, !other, ends, {mixed_key});
  if (has("nvfp4"))
    set("nvfp4");
  else if (has("mxfp8"))
    set("mxfp8"), keep();
  else if (has("current_scaling"))
    fp8("tensorwise");
  else if (has("subchannel") || has("blockwise"))
    fp8("blockwise");
  else if (has("fp8"))
    fp8("delayed");
  else if (has("fp16") || has("16-mixed"))
    set(has("bf16") ? "bf16" : "fp16");
  else if (has("bf16"))
    set("bf16");
  else
    given.complain(mixed_key,
                   "expected bf16_mixed, fp16_mixed, bf16_with_fp8_…_mixed, bf16_with_mxfp8_"
                   "mixed or bf16_with_nvfp4_mixed");
}

// Sets the precision of gradients where nothing says it: fp32 in all bundles but those of fp16
// (fp16_mixed has grad_reduce_in_fp32: false, from memory).
void read_gradients_of(MegatronJob& job) {
  if (job.given.mentioned("--grad-reduce-in-bf16") != nullptr) return;
  const auto word = job.given.word_or(mixed_key, "bf16_mixed");
  const bool half = word.starts_with("fp16") || word.starts_with("16");
  const std::string note = job.given.has(mixed_key) ? "" : "as recipes have it";
  if (half)
    job.draft.text("software.gradient_precision", "fp16", {mixed_key}, note);
  else
    job.draft.text("plan.gradient_precision", "fp32", {mixed_key}, note);
}

// Turns Transformer Engine's overlap off, which the profile has, where nothing asks for it.
void read_overlap_of(MegatronJob& job) {
  const auto* asks = "--tp-comm-overlap";
  if (job.given.mentioned(asks) == nullptr)
    job.draft.text("software.tensor_overlap", "async", {asks});
}

// Returns the model's name: llama-3.2-1b for "llama32_1b_pretrain_config", llama-3-8b for
// "llama3_8b", qwen3-30b-a3b for "qwen3_30b_a3b".
std::string model_of_recipe(std::string name) {
  for (const auto* end :
       {"_config", "_pretrain", "_finetune", "_sft", "_peft", "_lora", "_4k", "_8k"})
    if (const auto at = name.find(end); at != name.npos) name.resize(at);
  if (const auto slash = name.find_last_of(".:/");
      slash != name.npos && name.find('_', slash) != name.npos)
    name.erase(0, slash + 1);
  std::ranges::replace(name, '_', '-');
  constexpr std::array<std::pair<std::string_view, std::string_view>, 10> families{
      {{"llama31-", "llama-3.1-"},
       {"llama32-", "llama-3.2-"},
       {"llama33-", "llama-3.3-"},
       {"llama3-", "llama-3-"},
       {"llama2-", "llama-2-"},
       {"qwen25-", "qwen2.5-"},
       {"mistral-7b", "mistral-7b-v0.1"},
       {"mixtral-8x7b", "mixtral-8x7b-v0.1"},
       {"mixtral-8x22b", "mixtral-8x22b-v0.1"},
       {"deepseek-v3", "deepseek-v3"}}};
  for (const auto& [from, to] : families)
    if (name.starts_with(from)) return std::string(to) + name.substr(from.size());
  return name;
}

// Whether the name is that of a recipe with state-space layers (from memory of the recipes).
bool has_state_space(std::string_view recipe) {
  const auto has = [&](std::string_view word) { return recipe.find(word) != recipe.npos; };
  return has("mamba") || has("nemotronh") || has("nemotron_h") ||
         (has("nemotron") && has("nano") && !has("llama"));
}

// Whether the model's sizes are those of a class of NeMo 2.
bool is_of_class(const Given& given) {
  return given.table().find(class_of_model) != nullptr &&
         given.mentioned(class_of_model) != nullptr;
}

// Returns the model that the job names: by a class, a name of Hugging Face, its recipe or flavor.
KnownModel model_of_bridge(const Given& given) {
  const bool of_class = is_of_class(given);
  if (!of_class && given.has("--num-layers") && given.has("--hidden-size")) return {};
  for (const auto* name :
       {of_class ? class_of_model : "hf_path", name_of_recipe, flavor_name, "model.hf_model_id"}) {
    const auto word = given.word_or(name, "");
    const auto* model = word.empty() ? nullptr : named_model(word);
    if (model == nullptr && !word.empty()) model = named_model(model_of_recipe(word));
    if (model != nullptr) return {model, name, {}};
  }
  return {};
}

void judge_recipe(MegatronJob& job) {
  const auto& given = job.given;
  const bool other = job.draft.holding("model.layers", 1) == 0;  // a model over the job
  if (has_state_space(given.word_or(name_of_recipe, "")) && !other)
    return given.refuse(name_of_recipe, "state-space layers are not modelled");
  const auto from = job.known.from;
  if (from == name_of_recipe || from == flavor_name)
    job.draft.partly(from,
                     "of this recipe only the model is known; recomputation, prediction modules, "
                     "layouts of stages and kernels that it sets are left out unless the job "
                     "gives them");
  const bool of_class = is_of_class(given);
  const bool sized = !of_class && given.has("--num-layers") && given.has("--hidden-size");
  if (job.known.sizes != nullptr || sized) return;
  job.draft.want("model",
                 std::string(of_class ? "the model has the sizes of a class of NeMo, of which not "
                                        "all are written"
                                      : "the model stands in the recipe, which is a program") +
                     "; add --set model=NAME of the catalog, or --set "
                     "model.huggingface=config.json",
                 {of_class ? class_of_model : name_of_recipe});
}

void read_gpus(MegatronJob& job) {
  const auto& given = job.given;
  constexpr const char *devices = "trainer.devices", *nodes = "trainer.num_nodes";
  const auto each = given.whole(devices), hosts = given.whole(nodes);
  if (each && hosts)
    job.draft.whole("cluster.gpus", *each * *hosts, {devices, nodes}, "their product");
}

void add_bridge(MegatronJob& job) {
  const auto& given = job.given;
  judge_recipe(job);
  read_precision_of(job);
  read_gradients_of(job);
  read_overlap_of(job);
  read_gpus(job);
  if (given.mentioned("model.freeze_vision_model") != nullptr)
    given.refuse("model.freeze_vision_model", "a vision tower is not modelled");
  constexpr const char* adapters_only =
      "only adapters are trained; weights that stay as they are are not modelled";
  const auto adapters = given.word_or("peft", "none");
  const char *name = "peft", *part = "peft.*";
  if (adapters != "none" && adapters != "null" && !adapters.empty())
    given.refuse(name, adapters_only);
  else if (given.table().find(part) != nullptr && given.has(part) &&
           given.mentioned(name) == nullptr)
    given.refuse(part, adapters_only);
}

// Whether the arguments describe the model themselves.
bool says_model(const std::vector<JobArgument>& flags) {
  return std::ranges::any_of(flags,
                             [](const JobArgument& one) { return gives(one, "--num-layers"); });
}

// Complains of a length of the data that is not the model's, with which Bridge does not start
// (ConfigContainer.validate, from memory).
void check_lengths(const FrameworkJob& job, std::string_view table, Complaints& complaints) {
  const JobArgument *of_model = nullptr, *of_data = nullptr;
  for (const auto& argument : job.arguments) {
    const auto* known = arguments_of(table).find_here(argument.name);
    if (known == nullptr || argument.values.size() != 1) continue;
    if (known->name == std::string_view("model.seq_length")) of_model = &argument;
    if (known->name == std::string_view("dataset.sequence_length")) of_data = &argument;
  }
  if (of_model == nullptr || of_data == nullptr) return;
  const auto &one = of_model->values.front(), &other = of_data->values.front();
  if (!one.trouble.empty() || !other.trouble.empty() || one.text == other.text) return;
  complaints.add(of_data->at, written(*of_data) + ": the model has " + written(*of_model) +
                                  ", and Megatron-Bridge does not start where they differ; write "
                                  "the same");
}

// Asks for the degrees and the micro-batch that a recipe may set and that no override gives, and
// for sequence parallelism beside tensor parallelism, which some recipes have and others have not.
void ask_degrees(JobScenario& scenario) {
  auto* plan = scenario.document.find("plan");
  if (plan == nullptr) return;
  constexpr std::array<std::pair<const char*, const char*>, 5> asked{
      {{"tensor", "N, 1 where it has none"},
       {"pipeline", "N, 1 where it has none"},
       {"context", "N, 1 where it has none"},
       {"micro_batch", "N"},
       {"sequence_parallel", "true or false"}}};
  auto keys = std::vector(asked.begin(), asked.end());
  if (plan->find("expert") != nullptr) {
    keys.emplace_back("expert", "N, 1 where it has none");
    keys.emplace_back("expert_tensor", "N, 1 where experts are whole");
  }
  for (const auto& [name, values] : keys) {
    const std::string key = name;
    const auto comment = scenario.comments.find("plan." + key);
    if (comment == scenario.comments.end() || !comment->second.starts_with("without ")) continue;
    scenario.comments.erase(comment);
    std::erase_if(plan->members, [&](const Member& one) { return one.key.text == key; });
    scenario.wanted.push_back(
        {"plan." + key, "the recipe has it; add --set plan." + key + "=" + values, {}});
  }
}

}  // namespace

bool is_bridge(const Value& document) {
  constexpr std::array<std::string_view, 23> sections{"model",
                                                      "train",
                                                      "optimizer",
                                                      "scheduler",
                                                      "checkpoint",
                                                      "logger",
                                                      "rng",
                                                      "ddp",
                                                      "dist",
                                                      "dataset",
                                                      "tokenizer",
                                                      "mixed_precision",
                                                      "comm_overlap",
                                                      "peft",
                                                      "profiling",
                                                      "validation",
                                                      "rerun_state_machine",
                                                      "ft",
                                                      "straggler",
                                                      "nvrx_straggler",
                                                      "inprocess_restart",
                                                      "recipe",
                                                      "tensor_inspect"};
  const auto* train = document.find("train");
  const auto* model = document.find("model");
  const bool trains = train != nullptr && (train->find("train_iters") != nullptr ||
                                           train->find("global_batch_size") != nullptr);
  const bool parts = model != nullptr &&
                     (model->find("tensor_model_parallel_size") != nullptr ||
                      model->find("num_layers") != nullptr || model->find("seq_length") != nullptr);
  return (trains || parts) && (document.find("checkpoint") != nullptr || trains) &&
         document.find("trainer") == nullptr &&
         std::ranges::all_of(document.members, [&](const Member& member) {
           return std::ranges::find(sections, member.key.text) != sections.end();
         });
}

JobScenario bridge_scenario(const FrameworkJob& job, const std::string& file,
                            Complaints& complaints, std::string_view table) {
  FrameworkJob flags = job;
  flags.program.clear();
  check_lengths(job, table, complaints);
  flags.arguments = keys_as_flags(job.arguments, arguments_of(table), table == "primus_bridge");
  auto all = shared_defaults();
  const bool of_class = std::ranges::any_of(flags.arguments, [](const JobArgument& one) {
    return std::string_view(one.name) == class_of_model;
  });
  if (of_class)  // the classes of its parts have defaults of their own
    std::erase_if(all, [](const JobArgument& one) {
      return gives(one, "--use-distributed-optimizer") || gives(one, "--overlap-grad-reduce") ||
             gives(one, "--overlap-param-gather");
    });
  const bool of_recipe = of_class || !says_model(flags.arguments);
  if (!of_recipe)  // of a configuration class, whose defaults are Megatron-LM's
    std::erase_if(all, [](const JobArgument& one) {
      return gives(one, "--swiglu") || gives(one, "--normalization") ||
             gives(one, "--disable-bias-linear") ||
             gives(one, "--untie-embeddings-and-output-weights");
    });
  // A tokenizer's sizes stand below those of the model, by the same name.
  std::stable_partition(flags.arguments.begin(), flags.arguments.end(), [](const JobArgument& one) {
    return std::string_view(one.text).starts_with("tokenizer.");
  });
  all.insert(all.end(), flags.arguments.begin(), flags.arguments.end());
  flags.arguments = std::move(all);
  auto scenario = megatron_scenario(flags, file, complaints,
                                    {table, table == "nemo2" ? "nemo" : "megatron-bridge",
                                     add_bridge, of_recipe, model_of_bridge});
  settle_named_model(scenario);
  if (of_recipe && !of_class) ask_degrees(scenario);
  return scenario;
}

}  // namespace scenarios

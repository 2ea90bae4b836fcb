// SPDX-License-Identifier: Apache-2.0
#include "scenarios/frameworks/primus.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "scenarios/frameworks/megatron_bridge.hpp"
#include "scenarios/frameworks/torchtitan.hpp"
#include "scenarios/jobs/keyed_job.hpp"
#include "scenarios/jobs/keys_as_flags.hpp"
#include "scenarios/jobs/megatron.hpp"
#include "scenarios/jobs/table_files.hpp"
#include "scenarios/jobs/variables.hpp"

namespace scenarios {
namespace {

constexpr int deepest_extends = 8, highest_folder = 6;

// A file of primus/configs: "models/megatron/llama3_8B.yaml".
struct PresetFile {
  std::string name, text;
};

const Value& shipped_presets() {
  static const Value presets = [] {
    for (const auto& file : job_table_files())
      if (file.table == "primus_models") return parse_yaml(file.text, "primus_models.yaml");
    return Value{};
  }();
  return presets;
}

std::string joined_path(const std::string& folder, std::string name) {
  auto path = folder;
  while (name.starts_with("../")) {
    name.erase(0, 3);
    path.resize(path.empty() ? 0 : path.size() - 1);  // its last slash
    const auto slash = path.rfind('/');
    path.resize(slash == path.npos ? 0 : slash + 1);
  }
  if (name.starts_with("./")) name.erase(0, 2);
  return path + name;
}

class Presets {
 public:
  Presets(std::span<const std::string> env, const JobFiles& files, Complaints& complaints,
          std::vector<JobArgument>& arguments)
      : env_(env), files_(files), complaints_(complaints), arguments_(arguments) {}

  // Adds the arguments of the files that the file extends, then its own.
  void add(const std::string& name, const Place& asked, int depth = 0) {
    if (depth > deepest_extends) return;
    for (const auto& root : roots())
      if (files_)
        if (const auto text = files_(root + name)) {
          add_text(*text, root, name, asked, depth);
          return;
        }
    if (const auto* shipped = shipped_presets().find(name)) {
      add_arguments(*shipped, "primus/configs/" + name);
      return;
    }
    complaints_.add(asked, "primus/configs/" + name +
                               " stands neither beside the job nor above it; put the job into a "
                               "copy of Primus, or the folder configs beside it");
  }

 private:
  static std::vector<std::string> roots() {
    std::vector<std::string> all;
    std::string up;
    for (int i = 0; i < highest_folder; ++i) {
      all.push_back(up + "configs/");
      all.push_back(up + "primus/configs/");
      up += "../";
    }
    return all;
  }

  void add_text(const std::string& text, const std::string& root, const std::string& name,
                const Place& asked, int depth) {
    auto document = parse_yaml(text, root + name);
    replace_variables(document, env_);
    const auto* extends = document.find("extends");
    if (extends == nullptr) extends = document.find("bases");  // its older name
    if (extends != nullptr) {
      const auto folder = name.substr(0, name.rfind('/') + 1);
      const auto extend = [&](const Value& one) {
        if (one.kind == Value::Kind::scalar) add(joined_path(folder, one.text), asked, depth + 1);
      };
      extend(*extends);
      for (const auto& one : extends->items) extend(one);
    }
    std::erase_if(document.members, [](const Member& one) {
      return one.key.text == "extends" || one.key.text == "bases";
    });
    add_arguments(document, root + name);
  }

  void add_arguments(const Value& document, const std::string& file) {
    auto keys = keyed_job(document, true);
    const bool standard = file.find("/modules/") != file.npos ||
                          file.ends_with("language_model.yaml") ||
                          file.ends_with("primus_megatron_model.yaml");
    for (auto& argument : keys.arguments) {
      argument.file = file;
      argument.standard = standard;
      arguments_.push_back(std::move(argument));
    }
  }

  std::span<const std::string> env_;
  const JobFiles& files_;
  Complaints& complaints_;
  std::vector<JobArgument>& arguments_;
};

// Returns the module that trains: the first that names a framework, overrides or a trainer.
const Member* trainer_of(const Value& document) {
  const auto* all = document.find("modules");
  if (all == nullptr || all->kind != Value::Kind::map) return nullptr;
  for (const auto& module : all->members)
    if (module.value.kind == Value::Kind::map &&
        (module.value.find("framework") != nullptr || module.value.find("overrides") != nullptr ||
         module.value.find("trainer_class") != nullptr))
      return &module;
  return nullptr;
}

std::string text_at(const Value& map, std::string_view key) {
  const auto* value = map.find(key);
  return value != nullptr && value->kind == Value::Kind::scalar ? value->text : std::string();
}

// Adds the values of the experiment beside its overrides: "modules.pre_trainer.model", "exp_name".
void add_frame(const Value& document, std::vector<JobArgument>& arguments) {
  for (auto& argument : keyed_job(document).arguments) {
    const std::string_view key = argument.name;
    if (key.starts_with("modules.") && key.find(".overrides.") != key.npos) continue;
    if (key.ends_with(".trainer_class")) argument.name = "trainer_class";
    arguments.push_back(std::move(argument));
  }
}

// --- rules of its own arguments for Megatron-LM

void read_manual_split(MegatronJob& job) {
  const auto* name = "decoder_pipeline_manual_split_list";
  const auto words = job.given.words(name);
  if (words.empty() || job.pipeline == 1) return;
  std::vector<std::int64_t> layers;
  for (const auto& word : words) layers.push_back(std::atoll(word.c_str()));
  const auto stages = static_cast<std::int64_t>(layers.size());
  std::int64_t sum = 0;
  for (const auto count : layers) sum += count;
  if (stages % job.pipeline != 0 || (job.layers > 0 && sum != job.layers)) {
    job.given.complain(name, "expected the layers of every stage, " + std::to_string(job.layers) +
                                 " on a multiple of " + std::to_string(job.pipeline));
    return;
  }
  if (stages > job.pipeline) {
    job.draft.text("plan.schedule", "interleaved", {name});
    job.draft.whole("plan.virtual_stages", stages / job.pipeline, {name});
  }
  job.draft.set("plan.layers_per_stage", job_list(layers), {name});
}

void set_schedule_of(MegatronJob& job, std::string_view word, Draft::Names from) {
  job.draft.text("plan.schedule", std::string(word), from);
  if (word == "zb-v") job.draft.whole("plan.virtual_stages", 2, from);
}

void read_zero_bubble(MegatronJob& job) {
  const auto& given = job.given;
  if (job.pipeline == 1) return;
  if (given.yes("patch_zero_bubble")) {
    const bool v = given.yes("zero_bubble_v_schedule");
    const auto setup = given.word_or("zero_bubble_v_schedule_mem_setup", "half");
    if (v && setup != "zb")
      given.refuse("zero_bubble_v_schedule_mem_setup",
                   "schedules of half or least memory are not modelled; expected zb");
    else
      set_schedule_of(job, v ? "zb-v" : "zb-h1",
                      {"patch_zero_bubble", "zero_bubble_v_schedule", "enable_zero_bubble",
                       "zero_bubble_v_schedule_mem_setup"});
  }
  if (!given.yes("patch_primus_pipeline")) return;
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> words{
      {{"1f1b", "1f1b"},
       {"1f1b-interleaved", "interleaved"},
       {"zero-bubble", "zb-h1"},
       {"zbv-formatted", "zb-v"}}};
  const auto word = given.word_or("pp_algorithm", "1f1b-interleaved");
  const auto* known = std::ranges::find(words, word, [](const auto& pair) { return pair.first; });
  if (known == words.end())
    given.refuse("pp_algorithm",
                 "this schedule is not modelled; expected 1f1b, 1f1b-interleaved, zero-bubble or "
                 "zbv-formatted");
  else if (known->second != "interleaved")  // that follows from virtual stages
    set_schedule_of(job, known->second, {"pp_algorithm", "patch_primus_pipeline"});
}

void read_layer_ids(MegatronJob& job) {
  const auto* name = "recompute_layer_ids";
  Value layers;
  layers.kind = Value::Kind::list;
  for (const auto& word : job.given.words(name)) {
    Value one;
    one.kind = Value::Kind::map;
    for (const auto* key : {"from", "to"}) one.members.push_back({job_text(key), job_text(word)});
    one.members.push_back({job_text("recompute"), job_text("full")});
    layers.items.push_back(std::move(one));
  }
  if (!layers.items.empty()) job.draft.set("plan.layers", std::move(layers), {name});
}

// Reads the tokenizer's vocabulary, if it is that of a known model.
void read_tokenizer(MegatronJob& job) {
  if (job.given.has("--vocab-size") || job.given.has("--padded-vocab-size")) return;
  set_vocabulary_of(job, "tokenizer_model");
}

void add_primus(MegatronJob& job) {
  const auto& given = job.given;
  job.draft.text("name", given.word_or("modules.*", "primus"), {"modules.*"});
  if (given.word_or("model_type", "gpt") == "mamba")
    given.refuse("model_type", "state-space layers are not modelled");
  read_tokenizer(job);
  read_manual_split(job);
  read_zero_bubble(job);
  read_layer_ids(job);
  const bool turbo = given.yes("enable_primus_turbo");
  if (turbo && given.yes("use_turbo_deepep") && given.whole_or("--num-experts", 0) > 0)
    job.draft.text("software.moe_dispatcher", "deepep",
                   {"use_turbo_deepep", "enable_primus_turbo"});
  if (given.yes("torch_compile.enable"))
    job.draft.yes_no("software.compile", true, {"torch_compile.enable"});
  if (given.yes("enable_fused_linear_ce")) {
    job.draft.yes_no("software.fused_cross_entropy", true, {"enable_fused_linear_ce"});
    job.draft.text("software.loss_chunks", "liger", {"enable_fused_linear_ce"});
  }
}

}  // namespace

bool is_primus(const Value& document) { return trainer_of(document) != nullptr; }

PrimusJob read_primus(const Value& document, std::span<const std::string> env,
                      const JobFiles& files, Complaints& complaints) {
  auto resolved = document;
  replace_variables(resolved, env);
  PrimusJob primus{"megatron", {}};
  const auto* trainer = trainer_of(resolved);
  if (trainer == nullptr) return primus;
  const auto& module = trainer->value;
  if (const auto framework = text_at(module, "framework"); !framework.empty())
    primus.framework = framework;
  auto& arguments = primus.job.arguments;
  Presets presets(env, files, complaints, arguments);
  for (const auto& [key, folder] : {std::pair{"config", "modules/"}, std::pair{"model", "models/"}})
    if (const auto* named = module.find(key); named != nullptr && !named->text.empty())
      presets.add(folder + primus.framework + "/" + named->text, {named->line, named->column, 0});
  add_frame(resolved, arguments);
  if (const auto* overrides = module.find("overrides"))
    for (auto& argument : keyed_job(*overrides, true).arguments)
      arguments.push_back(std::move(argument));
  auto model = text_at(module, "model");
  primus.job.program = model.substr(0, model.rfind(".yaml"));
  mark_unresolved(primus.job);
  return primus;
}

JobScenario primus_scenario(PrimusJob primus, const std::string& file,
                            std::optional<std::int64_t> gpus, Complaints& complaints) {
  auto& job = primus.job;
  if (primus.framework == "torchtitan") {
    std::erase_if(job.arguments, [](const JobArgument& one) { return one.off; });
    return torchtitan_scenario(job, file, gpus, complaints, "primus_torchtitan");
  }
  if (primus.framework == "megatron_bridge")
    return bridge_scenario(job, file, complaints, "primus_bridge");
  if (primus.framework != "megatron")
    complaints.add(Place{}, "framework " + primus.framework +
                                ": expected megatron, torchtitan or megatron_bridge");
  job.arguments = keys_as_flags(job.arguments, arguments_of("primus"), true);
  job.program.clear();
  return megatron_scenario(job, file, complaints, {"primus", "megatron-core", add_primus});
}

}  // namespace scenarios

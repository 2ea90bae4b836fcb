// SPDX-License-Identifier: Apache-2.0
#include "scenarios/frameworks/readers.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "scenarios/documents/toml.hpp"
#include "scenarios/frameworks/automodel.hpp"
#include "scenarios/frameworks/bridge_performance.hpp"
#include "scenarios/frameworks/megatron_bridge.hpp"
#include "scenarios/frameworks/megatron_swift.hpp"
#include "scenarios/frameworks/model_args.hpp"
#include "scenarios/frameworks/nanotron.hpp"
#include "scenarios/frameworks/nemo.hpp"
#include "scenarios/frameworks/nemo_command.hpp"
#include "scenarios/frameworks/nemo_export.hpp"
#include "scenarios/frameworks/neox.hpp"
#include "scenarios/frameworks/primus.hpp"
#include "scenarios/frameworks/recipe_command.hpp"
#include "scenarios/frameworks/recipe_word.hpp"
#include "scenarios/frameworks/recognised.hpp"
#include "scenarios/frameworks/torchtitan.hpp"
#include "scenarios/frameworks/yaml_config.hpp"
#include "scenarios/jobs/deepspeed.hpp"
#include "scenarios/jobs/keyed_job.hpp"
#include "scenarios/jobs/launcher.hpp"
#include "scenarios/jobs/megatron.hpp"
#include "scenarios/jobs/scripts/shell_script.hpp"
#include "scenarios/jobs/variables.hpp"
#include "units/text.hpp"

namespace scenarios {
namespace {

// --- torchtitan

// Takes MODULE, CONFIG and CONFIG_FILE, which run_train.sh passes to the program, as arguments.
void take_variables(FrameworkJob& job) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> names{
      {{"variables.MODULE", "--module"},
       {"variables.CONFIG", "--config"},
       {"variables.CONFIG_FILE", "--job.config_file"}}};
  std::vector<JobArgument> taken;
  for (auto& option : job.launcher)
    for (const auto& [name, flag] : names)
      if (option.name == name) {
        option.standard = true;  // it is listed with the arguments
        taken.push_back(option);
        taken.back().name = flag;
        taken.back().standard = false;
      }
  job.arguments.insert(job.arguments.begin(), taken.begin(), taken.end());
}

// Turns "--compile.no-enable", as tyro spells "--compile.enable false", into that; false: it is
// another argument.
bool switched_off(JobArgument& argument) {
  const auto& table = arguments_of("torchtitan");
  const auto no = argument.name.find(".no-");
  if (no == std::string::npos || table.find(argument.name) != nullptr) return false;
  constexpr std::size_t dot = 1, prefix = 4;
  auto name = argument.name.substr(0, no + dot) + argument.name.substr(no + prefix);
  std::ranges::replace(name.begin() + static_cast<std::ptrdiff_t>(no), name.end(), '-', '_');
  if (table.find(name) == nullptr) return false;
  argument.name = std::move(name);
  argument.values = {{"false", {}, argument.at}};
  return true;
}

// Returns the arguments of a command line, laid over those of the file that it names;
// "--compile.enable" without a value is true.
FrameworkJob titan_command(const Looked& looked, const JobHints& hints, Complaints& complaints) {
  auto job = read_shell_script(looked.text, arguments_of("torchtitan"), hints.env, looked.files);
  take_variables(job);
  std::vector<JobArgument> all;
  for (auto& argument : job.arguments) {
    const auto text = written(argument);
    if (switched_off(argument)) argument.text = text;
    const auto* known = arguments_of("torchtitan").find(argument.name);
    if (known == nullptr) continue;
    argument.text = text;
    const std::string_view key = argument.name;
    argument.name = known->repeats ? std::string(key.substr(key.starts_with("--") ? 2 : 0))
                                   : std::string(known->name);
    if (argument.values.empty()) argument.values.push_back({"true", {}, argument.at});
    if (!gives(argument, "job.config_file")) continue;
    for (auto& one : keys_of_file(argument, looked.files, complaints))
      all.push_back(std::move(one));
  }
  all.insert(all.end(), job.arguments.begin(), job.arguments.end());
  job.arguments = std::move(all);
  return job;
}

// --- NeMo 2 and Megatron-Bridge

// Returns the end of the first argument of a call: a comma outside of brackets, or the end.
std::size_t end_of_argument(std::string_view call) {
  int depth = 0;
  for (std::size_t i = 0; i < call.size(); ++i) {
    const char c = call[i];
    if (c == ',' && depth == 0) return i;
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
  }
  return call.size();
}

// Returns "num_nodes = '2'" of a call of a recipe as the override that means the same.
JobArgument as_override(std::string_view word, const JobArgument& origin) {
  const auto equals = std::min(word.find('='), word.size());
  const auto name = units::trimmed(word.substr(0, equals));
  auto text = units::trimmed(word.substr(std::min(equals + 1, word.size())));
  if (text.size() > 1 && text.front() == text.back() && (text[0] == '"' || text[0] == '\''))
    text = text.substr(1, text.size() - 2);
  auto argument = origin;
  argument.text = std::string(word);
  argument.name = name == "num_nodes"           ? "trainer.num_nodes"
                  : name == "num_gpus_per_node" ? "trainer.devices"
                                                : std::string(name);
  argument.values.front().text = std::string(text);
  return argument;
}

// Takes the arguments of a call of NeMo's recipe, "llama3_8b(num_nodes=2)", as overrides in front
// of all others, which change what the call has made.
void take_call_apart(FrameworkJob& job, const ArgumentTable& table) {
  const auto* recipe = table.find("recipe");
  std::vector<JobArgument> of_call;
  for (auto& argument : job.arguments) {
    if (recipe == nullptr || table.find(argument.name) != recipe || argument.values.size() != 1)
      continue;
    const auto call = argument.values.front().text;
    const auto open = call.find('('), close = call.rfind(')');
    if (open == call.npos || close == call.npos || close < open) continue;
    argument.values.front().text.resize(open);
    for (auto rest = std::string_view(call).substr(open + 1, close - open - 1); !rest.empty();) {
      const auto end = end_of_argument(rest);
      of_call.push_back(as_override(units::trimmed(rest.substr(0, end)), argument));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  job.arguments.insert(job.arguments.begin(), of_call.begin(), of_call.end());
}

// Recipes of fine-tuning train adapters unless they are told: peft=none (NeMo 2's
// finetune_recipe(peft_scheme="lora"), Bridge's NAME_finetune_config(peft="lora") and
// NAME_peft_config(peft_scheme="lora"), which finetune_NAME.py takes). Those of NAME_sft_config
// train all weights. A part of the adapters, peft.dim=8, leaves them on.
void add_default_adapters(FrameworkJob& job, const Looked& looked) {
  constexpr std::string_view key = "peft";
  const bool told = std::ranges::any_of(job.arguments, [&](const JobArgument& argument) {
    std::string_view name = argument.name;
    name.remove_prefix(std::min(name.find_first_not_of('-'), name.size()));
    return name == key || name == "peft_scheme";
  });
  if (told || looked.map) return;
  const std::string_view program = job.program;
  std::string cause;
  if (program.starts_with("finetune_") && program.ends_with(".py")) cause = program;
  for (const auto* word : {"llm finetune", "_finetune_config", "_peft_config"})
    if (cause.empty() && looked.has(word)) cause = word;
  if (cause.empty()) return;
  JobArgument adapters{std::string(key), {{"lora", {}, {}}}, {}, cause};
  adapters.text += ": peft=lora unless it is told otherwise";
  job.arguments.push_back(std::move(adapters));
}

ReadJob read_recipe(const Looked& looked, const JobHints& hints, Complaints& complaints,
                    std::string_view table) {
  FrameworkJob job;
  if (looked.map) {
    auto document = *looked.map;
    replace_references(document, hints.env);
    job = keyed_job(document, true);
    mark_unresolved(job);
    if (is_nemo_export(document)) read_nemo_classes(job, complaints);
  } else if (is_performance_script(looked.text)) {
    if (auto launch = read_launch(looked.text, hints.env, looked.files))
      job = performance_job(std::move(*launch));
  } else {
    job = read_shell_script(looked.text, arguments_of(table), hints.env, looked.files);
    std::vector<JobArgument> below;
    for (const auto& argument : job.arguments)
      if (takes_recipe(argument.name) && arguments_of(table).find(argument.name) != nullptr)
        below = keys_of_file(argument, looked.files, complaints);
    job.arguments.insert(job.arguments.begin(), below.begin(), below.end());
    take_call_apart(job, arguments_of(table));
  }
  add_default_adapters(job, looked);
  job.over = hints.over;
  auto scenario = bridge_scenario(job, looked.file, complaints, table);
  return {std::move(job), std::move(scenario)};
}

}  // namespace

namespace {

// Adds the keys of the file that Megatron-DeepSpeed's --deepspeed_config names, if there is one.
bool add_deepspeed_file(FrameworkJob& job, const JobFiles& files) {
  const auto named = std::ranges::find_if(job.arguments, [](const JobArgument& argument) {
    return gives(argument, "--deepspeed_config") && argument.values.size() == 1 &&
           argument.values.front().trouble.empty();
  });
  if (named == job.arguments.end()) return false;
  const auto path = named->values.front().text;
  const auto text = files ? files(path) : std::nullopt;
  if (!text) return false;
  const auto place = named->at;
  for (auto& key : keyed_job(parse_yaml(plain_json(*text), path), true).arguments) {
    key.file = path;
    key.named = place;
    job.arguments.push_back(std::move(key));
  }
  return true;
}

}  // namespace

ReadJob read_megatron_job(const Looked& looked, const JobHints& hints, Complaints& complaints) {
  if (looked.map && is_yaml_config(*looked.map)) {
    auto job = read_yaml_config(*looked.map);
    job.over = hints.over;
    auto scenario = megatron_scenario(job, looked.file, complaints,
                                      {.table = job.table, .gpus = world_size_of(hints)});
    return {std::move(job), std::move(scenario)};
  }
  const auto& table = arguments_of("megatron");
  auto job = looked.map ? read_model_args(*looked.map, table, hints.env)
                        : read_shell_script(looked.text, table, hints.env, looked.files);
  job.over = hints.over;
  MegatronHost host{.gpus = world_size_of(hints)};
  if (add_deepspeed_file(job, looked.files)) {
    host.table = "deepspeed+megatron";
    host.add = read_megatron_engine_file;
  }
  auto scenario = megatron_scenario(job, looked.file, complaints, host);
  return {std::move(job), std::move(scenario)};
}

ReadJob read_megatron_swift_job(const Looked& looked, const JobHints& hints,
                                Complaints& complaints) {
  auto job =
      read_shell_script(looked.text, arguments_of("megatron_swift"), hints.env, looked.files);
  job.over = hints.over;
  auto scenario = megatron_swift_scenario(job, looked.file, complaints);
  return {std::move(job), std::move(scenario)};
}

ReadJob read_torchtitan_job(const Looked& looked, const JobHints& hints, Complaints& complaints) {
  auto job = looked.toml                 ? keyed_job(*looked.toml)
             : is_torchtitan_job(looked) ? titan_command(looked, hints, complaints)
                                         : keyed_job(parse_toml(looked.text, looked.file));
  job.over = hints.over;
  auto scenario = torchtitan_scenario(job, looked.file, gpus_of(job.launcher, hints), complaints);
  return {std::move(job), std::move(scenario)};
}

ReadJob read_deepspeed_job(const Looked& looked, const JobHints& hints, Complaints& complaints) {
  const auto document = looked.map ? *looked.map : parse_yaml(plain_json(looked.text), looked.file);
  auto job = keyed_job(document);
  job.over = hints.over;
  auto scenario = deepspeed_scenario(job, looked.file, world_size_of(hints), complaints);
  return {std::move(job), std::move(scenario)};
}

ReadJob read_neox_job(const Looked& looked, const JobHints& hints, Complaints& complaints) {
  return {
      {},
      neox_scenario(looked.document(), looked.file, world_size_of(hints), hints.over, complaints)};
}

ReadJob read_nanotron_job(const Looked& looked, const JobHints& hints, Complaints& complaints) {
  auto job = keyed_job(looked.map ? *looked.map : parse_yaml(looked.text, looked.file));
  job.over = hints.over;
  auto scenario = nanotron_scenario(job, looked.file, gpus_of(job.launcher, hints), complaints);
  return {std::move(job), std::move(scenario)};
}

namespace {

// Returns the keys of a file under those of the command that names it.
std::vector<JobArgument> laid_under(std::vector<JobArgument> keys, const RecipeCommand& command) {
  for (auto& one : keys) {
    if (!one.file.empty()) continue;
    one.file = command.path;
    one.named = command.at;
  }
  keys.insert(keys.end(), command.job.arguments.begin(), command.job.arguments.end());
  return keys;
}

// Reads a command of Primus: its arguments stand over the overrides of the file that it names (from
// memory).
ReadJob read_primus_command(RecipeCommand command, const Looked& looked, const JobHints& hints,
                            Complaints& complaints) {
  const auto folder = command.path.substr(0, command.path.rfind('/') + 1);
  const JobFiles beside = [&](const std::string& name) { return looked.files(folder + name); };
  Complaints of_file(command.path);
  auto primus = read_primus(parse_yaml(command.text, command.path), hints.env, beside, of_file);
  of_file.throw_if_any();
  primus.job.arguments = laid_under(std::move(primus.job.arguments), command);
  primus.job.launcher = command.job.launcher;
  primus.job.over = hints.over;
  auto scenario = primus_scenario(std::move(primus), looked.file,
                                  gpus_of(command.job.launcher, hints), complaints);
  return {std::move(command.job), std::move(scenario)};
}

}  // namespace

ReadJob read_primus_job(const Looked& looked, const JobHints& hints, Complaints& complaints) {
  if (looked.is_script())
    if (auto command = recipe_command(looked, hints.env, "primus", complaints))
      return read_primus_command(std::move(*command), looked, hints, complaints);
  auto primus = read_primus(looked.document(), hints.env, looked.files, complaints);
  complaints.throw_if_any();
  primus.job.over = hints.over;
  auto scenario = primus_scenario(std::move(primus), looked.file, world_size_of(hints), complaints);
  return {{}, std::move(scenario)};
}

ReadJob read_nemo1_job(const Looked& looked, const JobHints& hints, Complaints& complaints) {
  if (!looked.map && !looked.toml) {
    auto job =
        nemo_command(read_shell_script(looked.text, arguments_of("nemo"), hints.env, looked.files),
                     looked, hints.env, complaints);
    complaints.throw_if_any();  // what a missing file would say is not asked for
    job.over = hints.over;
    auto scenario = nemo_scenario(job, looked.file, complaints);
    return {std::move(job), std::move(scenario)};
  }
  auto job = nemo_job(looked.document(), hints.env);
  job.over = hints.over;
  return {{}, nemo_scenario(job, looked.file, complaints)};
}

ReadJob read_nemo2_job(const Looked& looked, const JobHints& hints, Complaints& complaints) {
  return read_recipe(looked, hints, complaints, "nemo2");
}

ReadJob read_bridge_job(const Looked& looked, const JobHints& hints, Complaints& complaints) {
  return read_recipe(looked, hints, complaints, "megatron_bridge");
}

ReadJob read_automodel_job(const Looked& looked, const JobHints& hints, Complaints& complaints) {
  FrameworkJob job;
  auto command = looked.is_script() ? recipe_command(looked, hints.env, "automodel", complaints)
                                    : std::nullopt;
  if (command) {
    auto keys = keyed_job(parse_yaml(command->text, command->path)).arguments;
    job.launcher = command->job.launcher;
    job.arguments = laid_under(std::move(keys), *command);
  } else {
    job = keyed_job(looked.document());
  }
  job.over = hints.over;
  auto scenario = automodel_scenario(job, looked.file, gpus_of(job.launcher, hints), complaints);
  return {std::move(job), std::move(scenario)};
}

}  // namespace scenarios

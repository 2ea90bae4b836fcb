// SPDX-License-Identifier: Apache-2.0
#include "scenarios/frameworks/read_job.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "scenarios/documents/nearest.hpp"
#include "scenarios/frameworks/automodel.hpp"
#include "scenarios/frameworks/bridge_performance.hpp"
#include "scenarios/frameworks/launch_script.hpp"
#include "scenarios/frameworks/nanotron.hpp"
#include "scenarios/frameworks/nemo.hpp"
#include "scenarios/frameworks/neox.hpp"
#include "scenarios/frameworks/primus.hpp"
#include "scenarios/jobs/deepspeed.hpp"
#include "scenarios/jobs/keyed_job.hpp"
#include "scenarios/jobs/launcher.hpp"
#include "scenarios/jobs/megatron.hpp"
#include "scenarios/jobs/megatron_bridge.hpp"
#include "scenarios/jobs/model_args.hpp"
#include "scenarios/jobs/shell_script.hpp"
#include "scenarios/jobs/toml.hpp"
#include "scenarios/jobs/torchtitan.hpp"
#include "scenarios/jobs/trainer.hpp"
#include "scenarios/jobs/trainer_launch.hpp"
#include "scenarios/jobs/variables.hpp"
#include "scenarios/jobs/yaml_config.hpp"

namespace scenarios {
namespace {

// A text, and what it is as a map of YAML or as TOML.
struct Looked {
  std::string_view text;
  std::string file;
  const JobFiles& files;
  std::optional<Value> map, toml;

  Value document() const { return map ? *map : parse_yaml(plain_json(text), file); }
  // Neither YAML nor TOML: a script or a list of arguments.
  bool is_script() const { return !map && !toml; }
};

struct Made {
  Job job;
  JobScenario scenario;
};

struct Framework {
  std::string_view name;
  std::string_view versions;  // that can be asked for, between blanks; the first is the usual one
  bool (*recognises)(const Looked&);
  Made (*read)(const Looked&, const JobHints&, Complaints&);
};

bool has_word(const Looked& looked, std::string_view word) {
  return looked.text.find(word) != looked.text.npos;
}

// WORLD_SIZE, or what the launcher says.
std::optional<std::int64_t> gpus_of(std::span<const JobArgument> launcher, const JobHints& hints) {
  if (const auto world = world_size_of(hints.env)) return world;
  const auto launched = launched_gpus(launcher);
  return launched ? std::optional(launched->gpus) : std::nullopt;
}

// --- Megatron-LM

constexpr std::size_t enough_arguments = 3;  // that a text which is no YAML passes

// Arguments that the Trainer alone has, in a script.
bool is_trainer_script(const Looked& looked) {
  return looked.is_script() && (has_word(looked, "--per_device_train_batch_size") ||
                                has_word(looked, "--model_name_or_path"));
}

bool is_megatron(const Looked& looked) {
  if (looked.map) return is_model_args(*looked.map) || is_yaml_config(*looked.map);
  if (looked.toml || is_trainer_script(looked)) return false;
  // Names without hyphens, such as --lr and --deepspeed, are other programs' too.
  return arguments_in(looked.text, arguments_of("megatron"), "-") >= enough_arguments;
}

Made read_megatron(const Looked& looked, const JobHints& hints, Complaints& complaints) {
  if (looked.map && is_yaml_config(*looked.map)) {
    auto job = read_yaml_config(*looked.map);
    auto scenario = megatron_scenario(job, looked.file, complaints, {.table = job.table});
    return {std::move(job), std::move(scenario)};
  }
  const auto& table = arguments_of("megatron");
  auto job = looked.map ? read_model_args(*looked.map, table, hints.env)
                        : read_shell_script(looked.text, table, hints.env);
  auto scenario = megatron_scenario(job, looked.file, complaints);
  return {std::move(job), std::move(scenario)};
}

// --- torchtitan

// TOML, or a command of its module with dotted arguments.
bool is_titan(const Looked& looked) {
  if (looked.toml) return is_torchtitan(*looked.toml);
  const bool dotted = has_word(looked, "--training.") || has_word(looked, "--parallelism.") ||
                      has_word(looked, "--job.config_file") || has_word(looked, "--model.flavor");
  return !looked.map && dotted && arguments_in(looked.text, arguments_of("torchtitan")) > 1;
}

// MODULE, CONFIG and CONFIG_FILE, which run_train.sh gives to the program.
void take_variables(Job& job) {
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

// The keys of a file that the argument names, each with that file; complains where it is not there.
std::vector<JobArgument> keys_of_file(const JobArgument& argument, const JobFiles& files,
                                      Complaints& complaints) {
  std::vector<JobArgument> keys;
  if (argument.values.empty() || !files) return keys;
  const auto& path = argument.values.front();
  const auto text = path.trouble.empty() ? files(path.text) : std::nullopt;
  if (!text) {
    complaints.add(
        argument.at,
        written(argument) + ": " +
            (path.trouble.empty() ? "this file is not beside the job; what it trains stands there"
                                  : path.trouble));
    return keys;
  }
  keys = keyed_job(path.text.ends_with(".toml") ? parse_toml(*text, path.text)
                                                : parse_yaml(*text, path.text))
             .arguments;
  for (auto& one : keys) one.file = path.text;
  return keys;
}

// The arguments of a command line over those of the file that it names; "--compile.enable" alone
// is true.
Job titan_command(const Looked& looked, const JobHints& hints, Complaints& complaints) {
  auto job = read_shell_script(looked.text, arguments_of("torchtitan"), hints.env);
  take_variables(job);
  std::vector<JobArgument> all;
  for (auto& argument : job.arguments) {
    const auto* known = arguments_of("torchtitan").find(argument.name);
    if (known == nullptr) continue;
    argument.text = written(argument);
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

Made read_titan(const Looked& looked, const JobHints& hints, Complaints& complaints) {
  auto job = looked.toml        ? keyed_job(*looked.toml)
             : is_titan(looked) ? titan_command(looked, hints, complaints)
                                : keyed_job(parse_toml(looked.text, looked.file));
  auto scenario = torchtitan_scenario(job, looked.file, gpus_of(job.launcher, hints), complaints);
  return {std::move(job), std::move(scenario)};
}

// --- DeepSpeed

bool is_speed(const Looked& looked) {
  return looked.map && is_deepspeed(*looked.map) && !is_neox(*looked.map);
}

Made read_speed(const Looked& looked, const JobHints& hints, Complaints& complaints) {
  const auto document = looked.map ? *looked.map : parse_yaml(plain_json(looked.text), looked.file);
  auto job = keyed_job(document);
  auto scenario = deepspeed_scenario(job, looked.file, world_size_of(hints.env), complaints);
  return {std::move(job), std::move(scenario)};
}

// --- GPT-NeoX

bool is_neox_file(const Looked& looked) { return looked.map && is_neox(*looked.map); }

Made read_neox(const Looked& looked, const JobHints& hints, Complaints& complaints) {
  return {{}, neox_scenario(looked.document(), looked.file, world_size_of(hints.env), complaints)};
}

// --- nanotron

bool is_nano(const Looked& looked) { return looked.map && is_nanotron(*looked.map); }

Made read_nano(const Looked& looked, const JobHints&, Complaints& complaints) {
  auto job = keyed_job(looked.map ? *looked.map : parse_yaml(looked.text, looked.file));
  auto scenario = nanotron_scenario(job, looked.file, complaints);
  return {std::move(job), std::move(scenario)};
}

// --- Primus

bool is_primus_file(const Looked& looked) { return looked.map && is_primus(*looked.map); }

Made read_primus_file(const Looked& looked, const JobHints& hints, Complaints& complaints) {
  auto primus = read_primus(looked.document(), hints.env, looked.files, complaints);
  complaints.throw_if_any();
  auto scenario =
      primus_scenario(std::move(primus), looked.file, world_size_of(hints.env), complaints);
  return {{}, std::move(scenario)};
}

// --- NeMo and Megatron-Bridge: YAML, or overrides on a command line

bool is_overrides(const Looked& looked, std::string_view table, std::string_view sign) {
  return looked.is_script() && has_word(looked, sign) &&
         overrides_in(looked.text, arguments_of(table)) >= enough_arguments;
}

bool is_nemo_1(const Looked& looked) {
  return (looked.map && is_nemo(*looked.map)) ||
         (is_overrides(looked, "nemo", "trainer.") && !has_word(looked, "trainer.strategy.") &&
          (has_word(looked, "model.optim.") || has_word(looked, "model.micro_batch_size") ||
           has_word(looked, "model.encoder_seq_length")));
}

Made read_nemo_1(const Looked& looked, const JobHints& hints, Complaints& complaints) {
  if (!looked.map && !looked.toml) {
    auto job = read_shell_script(looked.text, arguments_of("nemo"), hints.env);
    auto scenario = nemo_scenario(job, looked.file, complaints);
    return {std::move(job), std::move(scenario)};
  }
  return {{}, nemo_scenario(nemo_job(looked.document(), hints.env), looked.file, complaints)};
}

bool is_nemo_2(const Looked& looked) {
  return is_overrides(looked, "nemo2", "trainer.") && !is_nemo_1(looked);
}

Made read_recipe(const Looked& looked, const JobHints& hints, Complaints& complaints,
                 std::string_view table) {
  Job job;
  if (looked.map) {
    auto document = *looked.map;
    replace_references(document, hints.env);
    job = keyed_job(document, true);
    mark_unresolved(job);
  } else if (is_performance_script(looked.text)) {
    if (auto launch = read_launch(looked.text, hints.env))
      job = performance_job(std::move(*launch));
  } else {
    job = read_shell_script(looked.text, arguments_of(table), hints.env);
    std::vector<JobArgument> below;
    for (const auto& argument : job.arguments)
      if (const std::string_view name = argument.name;
          name == "--config-file" || name == "--config_file")
        below = keys_of_file(argument, looked.files, complaints);
    job.arguments.insert(job.arguments.begin(), below.begin(), below.end());
  }
  auto scenario = bridge_scenario(job, looked.file, complaints, table);
  return {std::move(job), std::move(scenario)};
}

Made read_nemo_2(const Looked& looked, const JobHints& hints, Complaints& complaints) {
  return read_recipe(looked, hints, complaints, "nemo2");
}

bool is_bridge_job(const Looked& looked) {
  return (looked.map && is_bridge(*looked.map)) ||
         (looked.is_script() && is_performance_script(looked.text)) ||
         (is_overrides(looked, "megatron_bridge", "train.") && !has_word(looked, "trainer."));
}

Made read_bridge(const Looked& looked, const JobHints& hints, Complaints& complaints) {
  return read_recipe(looked, hints, complaints, "megatron_bridge");
}

// --- Hugging Face's Trainer and what drives it

// The program that accelerate starts is not read, and neither are its arguments.
void name_others(JobAccount& account) {
  for (auto& argument : account.arguments)
    if (argument.effect == Effect::unknown) {
      argument.effect = Effect::not_modelled;
      argument.why =
          "of the training script, which is not read; a key that rests on it is asked for";
    }
}

Job trained_job(const Looked& looked, const JobHints& hints, std::string_view framework) {
  if (!looked.is_script()) return keyed_job(looked.document(), true);
  if (framework == "accelerate")
    if (auto launch = read_launch(looked.text, hints.env)) return std::move(launch->job);
  return read_shell_script(looked.text, arguments_of(framework), hints.env);
}

Made read_trained(const Looked& looked, const JobHints& hints, Complaints& complaints,
                  std::string_view framework) {
  auto job = trained_job(looked, hints, framework);
  auto gpus = gpus_of(job.launcher, hints);
  if (is_accelerated_launch(job)) {
    job = with_accelerate(std::move(job), looked.files);
    const bool says = std::ranges::any_of(
        job.arguments, [](const auto& one) { return gives(one, "num_processes"); });
    gpus = says ? world_size_of(hints.env) : gpus_of(job.launcher, hints);
  }
  auto scenario = trainer_scenario(job, framework, looked.file, gpus, looked.files, complaints);
  if (framework == "accelerate" && looked.is_script()) name_others(scenario.account);
  return {std::move(job), std::move(scenario)};
}

bool is_trainer_job(const Looked& looked) {
  return (looked.map && is_trainer(*looked.map)) || is_trainer_script(looked);
}
Made read_trainer(const Looked& looked, const JobHints& hints, Complaints& complaints) {
  return read_trained(looked, hints, complaints, "trainer");
}

bool is_factory(const Looked& looked) { return looked.map && is_llamafactory(*looked.map); }
Made read_factory(const Looked& looked, const JobHints& hints, Complaints& complaints) {
  return read_trained(looked, hints, complaints, "llamafactory");
}

bool is_axolotl_job(const Looked& looked) { return looked.map && is_axolotl(*looked.map); }
Made read_axolotl_job(const Looked& looked, const JobHints& hints, Complaints& complaints) {
  return read_trained(looked, hints, complaints, "axolotl");
}

bool is_accelerated(const Looked& looked) { return looked.map && is_accelerate(*looked.map); }
Made read_accelerated(const Looked& looked, const JobHints& hints, Complaints& complaints) {
  return read_trained(looked, hints, complaints, "accelerate");
}

// --- NeMo-AutoModel

bool is_auto(const Looked& looked) { return looked.map && is_automodel(*looked.map); }

Made read_auto(const Looked& looked, const JobHints&, Complaints& complaints) {
  auto job = keyed_job(looked.document());
  auto scenario = automodel_scenario(job, looked.file, complaints);
  return {std::move(job), std::move(scenario)};
}

constexpr std::array<Framework, 14> frameworks{
    {{"megatron", "d98e8a64dd core_v0.19 core_v0.17 core_v0.15 core_v0.12 core_v0.9", is_megatron,
      read_megatron},
     {"torchtitan", "0.2.2 0.2.1 0.2.0 0.1.0", is_titan, read_titan},
     {"deepspeed", "edaa72212", is_speed, read_speed},
     {"gpt-neox", "main", is_neox_file, read_neox},
     {"nanotron", "2411b022", is_nano, read_nano},
     {"megatron-bridge", "067f987d", is_bridge_job, read_bridge},
     {"nemo", "8cfedd72", is_nemo_1, read_nemo_1},
     {"nemo2", "8cfedd72", is_nemo_2, read_nemo_2},
     {"automodel", "36044ad3", is_auto, read_auto},
     {"primus", "fd1eeabb", is_primus_file, read_primus_file},
     {"trainer", "4.57", is_trainer_job, read_trainer},
     {"accelerate", "16cb6eb8", is_accelerated, read_accelerated},
     {"llamafactory", "ff6d4d12", is_factory, read_factory},
     {"axolotl", "067b021c", is_axolotl_job, read_axolotl_job}}};

// --- which framework

Looked looked_at(std::string_view text, const std::string& file, const JobFiles& files) {
  Looked looked{text, file, files, {}, {}};
  if (looks_like_toml(text)) {
    try {
      looked.toml = parse_toml(text, file);
      return looked;
    } catch (const Error&) {  // a script, or a mistake that the reader of scenarios will name
    }
  }
  try {
    const bool json = text.substr(0, text.find_first_not_of(" \t\r\n") + 1).ends_with('{');
    auto value = json ? parse_yaml(plain_json(text), file) : parse_yaml(text, file);
    if (value.kind == Value::Kind::map) looked.map = std::move(value);
  } catch (const Error&) {  // a script, or a mistake that the reader of scenarios will name
  }
  return looked;
}

const Framework& named(const std::string& name) {
  const auto* found = std::ranges::find(frameworks, name, &Framework::name);
  if (found != frameworks.end()) return *found;
  const auto names = job_frameworks();
  throw Error({{"--as", "'" + name + "' is no framework whose jobs are read; expected " +
                            listed(names) + suggestion(name, names)}});
}

// What stands behind @, or the usual version.
std::string version_of(const Framework& framework, const std::string& as) {
  std::vector<std::string_view> known;
  for (auto rest = framework.versions; !rest.empty();) {
    const auto end = std::min(rest.find(' '), rest.size());
    known.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  const auto at = as.find('@');
  if (at == as.npos) return std::string(known.front());
  auto version = as.substr(at + 1);
  if (std::ranges::find(known, version) == known.end())
    throw Error({{"--as", "'" + version + "' is no version of " + std::string(framework.name) +
                              " whose jobs are read; expected " + listed(known)}});
  return version;
}

const Framework* recognised(const Looked& looked) {
  const Framework* found = nullptr;
  for (const auto& framework : frameworks) {
    if (!framework.recognises(looked)) continue;
    if (found != nullptr)
      throw Error({{Complaints(looked.file).text_of({}),
                    "this may be a job of " + std::string(found->name) + " or of " +
                        std::string(framework.name) + "; add --as " + std::string(found->name) +
                        " or --as " + std::string(framework.name)}});
    found = &framework;
  }
  return found;
}

// --- what no framework's file says

void place_gpus(JobScenario& scenario, const Job& job, const JobHints& hints) {
  Value cluster;
  cluster.kind = Value::Kind::map;
  const auto launched = launched_gpus(job.launcher);
  const auto world = world_size_of(hints.env);
  scenario.wanted.push_back(
      {"cluster.node",
       "a job does not say which machine it runs on; add --set cluster.node=NAME, such as "
       "dgx-h100 (`stepcast catalog list node`)",
       {}});
  if (const auto* said = scenario.document.find("cluster"); said != nullptr) return;
  if (!world && !launched) {
    scenario.wanted.push_back(
        {"cluster.nodes",
         "the number of GPUs stands in no file that was read; add --set cluster.nodes=N, or --env "
         "WORLD_SIZE=N",
         {}});
    return;
  }
  Value gpus;
  gpus.kind = Value::Kind::scalar;
  gpus.text = std::to_string(world ? *world : launched->gpus);
  gpus.line = cluster.line = world ? 1 : static_cast<int>(launched->at.line);
  gpus.column = cluster.column = world ? 1 : static_cast<int>(launched->at.column);
  Value key = gpus;
  key.text = "gpus";
  scenario.comments["cluster.gpus"] = world ? "--env WORLD_SIZE" : launched->text;
  cluster.members.push_back({key, gpus});
  key.text = "cluster";
  scenario.document.members.push_back({key, cluster});
}

// Why options of the launcher do not count.
std::string unused_launcher(const JobScenario& scenario, const JobHints& hints) {
  if (world_size_of(hints.env)) return "--env WORLD_SIZE says how many GPUs there are";
  return scenario.document.find("cluster") != nullptr
             ? "the job's own arguments say how many GPUs there are"
             : "";
}

// Sections in the order in which people write them.
void sort_sections(Value& document) {
  constexpr std::array<std::string_view, 6> order{"name",     "model", "cluster",
                                                  "training", "plan",  "software"};
  const auto place = [&](const Member& member) {
    return std::ranges::find(order, member.key.text) - order.begin();
  };
  std::ranges::stable_sort(document.members, {}, place);
}

}  // namespace

std::vector<std::string_view> job_frameworks() {
  std::vector<std::string_view> names;
  for (const auto& framework : frameworks) names.push_back(framework.name);
  return names;
}

std::optional<JobScenario> read_job(std::string_view text, const std::string& file,
                                    const JobHints& hints, const JobFiles& files) {
  const auto at = hints.as.find('@');
  const auto looked = looked_at(text, file, files);
  const auto* framework = hints.as.empty() ? recognised(looked) : &named(hints.as.substr(0, at));
  if (framework == nullptr)
    return looked.is_script() ? read_launch_script(text, file, hints, files, read_job)
                              : std::nullopt;
  auto version = version_of(*framework, hints.as);
  Complaints complaints(file);
  auto [job, scenario] = framework->read(looked, hints, complaints);
  complaints.throw_if_any();
  account_launcher(scenario.account, job.launcher, unused_launcher(scenario, hints));
  place_gpus(scenario, job, hints);
  sort_sections(scenario.document);
  scenario.account.framework = framework->name;
  scenario.account.version = std::move(version);
  return std::move(scenario);
}

}  // namespace scenarios

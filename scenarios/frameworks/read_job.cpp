// SPDX-License-Identifier: Apache-2.0
#include "scenarios/frameworks/read_job.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "scenarios/documents/nearest.hpp"
#include "scenarios/frameworks/cluster_file.hpp"
#include "scenarios/frameworks/launch_script.hpp"
#include "scenarios/frameworks/readers.hpp"
#include "scenarios/frameworks/recognised.hpp"
#include "scenarios/jobs/argument_list.hpp"
#include "scenarios/jobs/given.hpp"
#include "scenarios/jobs/launcher.hpp"
#include "scenarios/jobs/scripts/shell_script.hpp"
#include "scenarios/jobs/trainer_launch.hpp"
#include "scenarios/shell/statements.hpp"

namespace scenarios {
namespace {

struct Framework {
  std::string_view name;
  std::string_view versions;  // that can be asked for, between blanks; the first is the usual one
  bool (*recognises)(const Looked&);
  ReadJob (*read)(const Looked&, const JobHints&, Complaints&);
  bool documents = false;  // its jobs are documents, which a script only names
};

constexpr std::array<Framework, 15> frameworks{
    {{"megatron", "d98e8a64dd core_v0.19 core_v0.17 core_v0.15 core_v0.12 core_v0.9",
      is_megatron_job, read_megatron_job},
     {"torchtitan", "0.2.2 0.2.1 0.2.0 0.1.0", is_torchtitan_job, read_torchtitan_job},
     {"deepspeed", "edaa72212", is_deepspeed_job, read_deepspeed_job, true},
     {"gpt-neox", "main", is_neox_job, read_neox_job, true},
     {"nanotron", "2411b022", is_nanotron_job, read_nanotron_job, true},
     {"megatron-bridge", "067f987d", is_bridge_job, read_bridge_job},
     {"nemo", "8cfedd72", is_nemo1_job, read_nemo1_job},
     {"nemo2", "8cfedd72", is_nemo2_job, read_nemo2_job},
     {"automodel", "36044ad3", is_automodel_job, read_automodel_job},
     {"primus", "fd1eeabb", is_primus_job, read_primus_job},
     {"trainer", "4.57", is_trainer_job, read_trainer_job},
     {"accelerate", "16cb6eb8", is_accelerate_job, read_accelerate_job},
     {"llamafactory", "ff6d4d12", is_llamafactory_job, read_llamafactory_job},
     {"axolotl", "067b021c", is_axolotl_job, read_axolotl_job},
     {"megatron-swift", "4.0 3.9", is_megatron_swift_job, read_megatron_swift_job}}};

// --- which framework

const Framework& named(const std::string& name) {
  const auto* found = std::ranges::find(frameworks, name, &Framework::name);
  if (found != frameworks.end()) return *found;
  const auto names = job_frameworks();
  throw Error({{"--as", "'" + name + "' is no framework whose jobs are read; expected " +
                            listed(names) + suggestion(name, names)}});
}

// Returns the version behind "@", or the usual version.
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

// Returns the framework of the command that a script starts, whose words may stand in other scripts
// and in variables; null: unknown.
const Framework* of_command(const Looked& looked, const JobHints& hints, const JobFiles& files) {
  if (!looked.is_script()) return nullptr;
  const auto launch = read_launch(looked.text, hints.env, files);
  if (!launch) return nullptr;
  std::string command = "#!/bin/sh\n" + launch->job.program;
  for (const auto& word : launch->words) command += " " + word.text;
  return recognised(looked_at(command, looked.file, files));
}

// Refuses a program of Python, and a file of which the framework knows no argument: nothing but
// defaults would come of it.
[[noreturn]] void refuse(const Looked& looked, std::string_view framework) {
  const auto place = Complaints(looked.file).text_of({});
  if (looked.is_script() && is_python(looked.text))
    throw Error({{place,
                  "it is a program of Python, which is not run; give the command that starts it "
                  "(nemo llm pretrain --factory NAME …, torchrun …), or a file of its arguments"}});
  const auto foreign = foreign_framework(looked.text);
  throw Error(
      {{place, (foreign.empty() ? "it has no argument that " + std::string(framework) + " knows"
                                : "it is " + std::string(foreign)) +
                   "; " + expected_jobs()}});
}

// Throws Error for a script with a quote that has no end, which a shell does not run.
void refuse_unclosed(const Looked& looked) {
  const auto place = is_list(looked.text) ? std::nullopt : unclosed_quote(looked.text);
  if (place)
    throw Error({{Complaints(looked.file).text_of(*place),
                  "the quote or bracket that begins here has no end, with which a shell does not "
                  "run the script; close it"}});
}

// --- what no framework's file says

// Returns the argument that gives the number of nodes, of which all GPUs are used; null: none does.
const JobArgument* nodes_of(const FrameworkJob& job) {
  const auto hosts = std::ranges::find_if(job.arguments, [&](const JobArgument& one) {
    return gives(one, "trainer.num_nodes") && launched_number(one).value_or(0) > 0;
  });
  return hosts != job.arguments.end() ? &*hosts : launched_nodes(job.launcher);
}

void set_cluster(JobScenario& scenario, std::string_view name, std::int64_t count, Place at,
                 const std::string& comment) {
  Value number, cluster;
  number.kind = Value::Kind::scalar;
  number.text = std::to_string(count);
  number.line = cluster.line = static_cast<int>(at.line);
  number.column = cluster.column = static_cast<int>(at.column);
  cluster.kind = Value::Kind::map;
  auto key = number;
  key.text = name;
  cluster.members.push_back({key, number});
  scenario.comments["cluster." + key.text] = comment;
  key.text = "cluster";
  scenario.document.members.push_back({key, cluster});
}

// Says that a key of the scenario follows from the argument.
void credit(JobScenario& scenario, const JobArgument& argument, const std::string& key) {
  const auto place = place_text(argument, scenario.account.file);
  for (auto& one : scenario.account.arguments) {
    if (one.text != written(argument) || one.place != place) continue;
    one.effect = Effect::read;
    one.keys.push_back(key);
    one.why.clear();
  }
}

void place_gpus(JobScenario& scenario, const FrameworkJob& job, const JobHints& hints) {
  const auto launched = launched_gpus(job.launcher);
  const auto world = world_size_of(hints);
  scenario.wanted.push_back(
      {"cluster.node",
       "a job does not say which machine it runs on; add --set cluster.node=NAME, such as "
       "dgx-h100 (`stepcast catalog list node`)",
       {}});
  if (const auto* said = scenario.document.find("cluster"); said != nullptr) return;
  if (!world && !launched) {
    const auto trouble = launcher_trouble(job.launcher);
    const bool counted =
        std::ranges::any_of(std::array{"cluster.gpus", "cluster.trays", "cluster.racks"},
                            [&](const char* key) { return hints.over.values.contains(key); });
    if (const auto* nodes = nodes_of(job); nodes != nullptr && trouble.text.empty() && !counted) {
      credit(scenario, *nodes, "cluster.nodes");
      return set_cluster(scenario, "nodes", *launched_number(*nodes), nodes->at,
                         written(*nodes) + ": all of their GPUs");
    }
    scenario.wanted.push_back(
        {"cluster.nodes",
         (trouble.text.empty() ? "the number of GPUs stands in no file that was read"
                               : "the number of GPUs rests on " + trouble.text) +
             (trouble.text.empty() ? "; add" : ", or") +
             " --set cluster.nodes=N, or --env WORLD_SIZE=N",
         trouble.at});
    return;
  }
  set_cluster(scenario, "gpus", world ? *world : launched->gpus, world ? Place{1, 1} : launched->at,
              !world            ? launched->text
              : hints.over.gpus ? "the scenario's cluster"
                                : "--env WORLD_SIZE");
}

std::optional<std::int64_t> launched_with(std::string_view script, std::vector<std::string> env,
                                          std::int64_t world) {
  env.push_back("WORLD_SIZE=" + std::to_string(world));
  try {
    const auto launch = read_launch(script, env);
    const auto launched = launch ? launched_gpus(launch->job.launcher) : std::nullopt;
    return launched ? std::optional(launched->gpus) : std::nullopt;
  } catch (const Error&) {  // which the reader of the job tells
    return {};
  }
}

// Throws Error if --env gives a WORLD_SIZE that is no number of processes.
void check_world(const JobHints& hints) {
  constexpr std::string_view name = "WORLD_SIZE=";
  for (const auto& one : hints.env) {
    if (!one.starts_with(name)) continue;
    const auto value = one.substr(name.size());
    const bool whole =
        !value.empty() && value.size() < 10 && value.find_first_not_of("0123456789") == value.npos;
    if (!whole || std::stol(value) < 1)
      throw Error({{"--env", "WORLD_SIZE is '" + value + "'; expected a whole number above zero"}});
  }
}

// Settles what WORLD_SIZE is to a script. Platforms set it to the number of nodes; a launcher that
// starts twice the processes for twice the WORLD_SIZE takes it so, and then counts the GPUs itself,
// unless the scenario over the job says how many there are.
void settle_world(std::string_view script, JobHints& hints) {
  if (!world_size_of(hints)) return;
  const auto each = launched_with(script, hints.env, 1), both = launched_with(script, hints.env, 2);
  if (!each || !both || *each < 1 || *both != 2 * *each) return;
  if (!hints.over.gpus)
    hints.own_world = true;
  else if (*hints.over.gpus % *each == 0)
    hints.env.push_back("WORLD_SIZE=" + std::to_string(*hints.over.gpus / *each));
}

// Returns the reason why options of the launcher do not count; empty if they do.
std::string unused_launcher(const JobScenario& scenario, const JobHints& hints) {
  if (world_size_of(hints)) return std::string(world_words(hints));
  return scenario.document.find("cluster") != nullptr
             ? "the job's own arguments say how many GPUs there are"
             : "";
}

// Sorts sections into the order in which people write them.
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
                                    const JobHints& given, const JobFiles& beside) {
  check_world(given);
  auto seen = looked_at(text, file, beside);
  const bool several = !seen.map && !seen.toml;  // documents, which none of the others is
  if (const auto script = seen.map  ? script_in_cluster_file(*seen.map)
                          : several ? script_in_cluster_files(text, file)
                                    : std::nullopt)
    return read_job(*script, file, given, beside);
  const auto files = seen.is_script() ? files_of_script(text, file, given.env, beside) : beside;
  const Looked looked{text, file, files, std::move(seen.map), std::move(seen.toml)};
  auto hints = given;
  hints.own_world = false;
  const auto at = hints.as.find('@');
  if (looked.is_script() && is_makefile(text))
    throw Error(
        {{Complaints(file).text_of({}),
          "it is a makefile; give the commands that make runs: make -n TARGET > train.sh"}});
  if (looked.is_script() && hints.as.empty() && is_python(text)) refuse(looked, {});
  if (looked.is_script()) settle_world(text, hints);
  const auto* framework = hints.as.empty() ? recognised(looked) : &named(hints.as.substr(0, at));
  if (framework == nullptr) framework = of_command(looked, hints, files);
  if (looked.is_script() && (framework != nullptr || read_launch(text, hints.env)))
    refuse_unclosed(looked);
  if (framework == nullptr)
    return looked.is_script() ? read_launch_script(text, file, hints, files, read_job)
                              : std::nullopt;
  auto version = version_of(*framework, hints.as);
  if (framework->documents && looked.is_script() && !framework->recognises(looked) &&
      names_job(text, hints))
    return read_launch_script(text, file, hints, files, read_job);
  Complaints complaints(file);
  auto [job, scenario] = framework->read(looked, hints, complaints);
  complaints.throw_if_any();
  if (!scenario.account.known && !framework->recognises(looked) && !is_accelerated_launch(job))
    refuse(looked, framework->name);
  account_launcher(scenario.account, job.launcher, unused_launcher(scenario, hints));
  place_gpus(scenario, job, hints);
  sort_sections(scenario.document);
  scenario.account.framework = framework->name;
  scenario.account.version = std::move(version);
  return std::move(scenario);
}

}  // namespace scenarios

// SPDX-License-Identifier: Apache-2.0
#include "report/launch/job_change.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>

#include "report/launch/argument_places.hpp"
#include "report/launch/job_companions.hpp"
#include "report/launch/job_edit.hpp"
#include "report/launch/launch_fork.hpp"
#include "report/launch/script_edit.hpp"
#include "report/launch/text_diff.hpp"
#include "scenarios/documents/error.hpp"
#include "scenarios/documents/toml.hpp"
#include "scenarios/frameworks/read_job.hpp"
#include "scenarios/jobs/deepspeed.hpp"

namespace report {
namespace {

using scenarios::JobScenario;
using scenarios::Value;

// The keys that a search decides, and the batch, which may follow from the arguments of degrees.
constexpr std::array<std::string_view, 16> decided{"plan.data",
                                                   "plan.tensor",
                                                   "plan.sequence_parallel",
                                                   "plan.context",
                                                   "plan.context_method",
                                                   "plan.expert",
                                                   "plan.expert_tensor",
                                                   "plan.pipeline",
                                                   "plan.schedule",
                                                   "plan.virtual_stages",
                                                   "plan.layers_per_stage",
                                                   "plan.zero",
                                                   "plan.micro_batch",
                                                   "plan.recompute",
                                                   "plan.layers",
                                                   "training.global_batch"};

// A value as one text. The order of words, such as modules, means nothing; that of numbers does.
std::string flat(const Value& value) {
  auto text = value.text;
  std::vector<std::string> items;
  for (const auto& item : value.items) items.push_back("[" + flat(item) + "]");
  const bool words = std::ranges::any_of(value.items, [](const Value& item) {
    return item.text.find_first_not_of("0123456789") != item.text.npos;
  });
  if (words) std::ranges::sort(items);
  for (const auto& item : items) text += item;
  for (const auto& member : value.members) text += member.key.text + ":" + flat(member.value) + ";";
  return text;
}

// Returns the value of a document at "section.key" as one text; empty: there is none.
std::string said(const Value& document, std::string_view path) {
  const auto dot = path.find('.');
  const auto* section = document.find(path.substr(0, dot));
  const auto* value = section == nullptr ? nullptr : section->find(path.substr(dot + 1));
  return value == nullptr ? std::string() : flat(*value);
}

// Returns the value of a key. Degrees that are not given are 1, and recomputation that is not given
// is none.
std::string meant(const Value& document, std::string_view path) {
  const auto text = said(document, path);
  if (!text.empty()) return text;
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> usual{
      {{"plan.tensor", "1"},
       {"plan.context", "1"},
       {"plan.expert", "1"},
       {"plan.pipeline", "1"},
       {"plan.virtual_stages", "1"},
       {"plan.recompute", "none"}}};
  const auto* found = std::ranges::find(usual, path, [](const auto& pair) { return pair.first; });
  return found == usual.end() ? std::string() : std::string(found->second);
}

std::set<std::string> differing(const JobScenario& one, const JobScenario& other) {
  std::set<std::string> keys;
  for (const auto path : decided)
    if (meant(one.document, path) != meant(other.document, path)) keys.emplace(path);
  if (keys.contains("plan.layers")) keys.emplace("plan.recompute");  // which says it of all layers
  return keys;
}

std::string name_of(const scenarios::JudgedArgument& argument) {
  return argument.text.substr(0, argument.text.find(' '));
}

// Names of the arguments from which one of these keys follows, in the order of the file; those that
// say the precision, too, are no part of a plan.
std::vector<std::string> names_behind(const JobScenario& job, const std::set<std::string>& keys) {
  std::vector<std::string> names;
  for (const auto& argument : job.account.arguments) {
    const bool matters = std::ranges::any_of(argument.keys, [&](const std::string& key) {
      return std::ranges::any_of(
          keys, [&](const auto& path) { return key == path || key.starts_with(path + "."); });
    });
    const auto name = name_of(argument);
    const bool other =
        std::ranges::find(argument.keys, "training.precision") != argument.keys.end();
    if (matters && !other && std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

struct Format {
  bool (*holds_arguments)(std::string_view);
  std::function<std::string(std::string_view, const std::vector<JobEdit>&)> edited;
  // The value of an argument as the file spells it.
  std::optional<std::string> (*value)(std::string_view, std::string_view);
};

template <Value (*Parse)(std::string_view)>
std::optional<std::string> spelled(std::string_view text, std::string_view name) {
  const auto document = Parse(text);
  const auto* at = &document;
  while (at != nullptr && !name.empty()) {
    const auto dot = std::min(name.find('.'), name.size());
    at = at->find(name.substr(0, dot));
    name.remove_prefix(std::min(dot + 1, name.size()));
  }
  if (at == nullptr) return {};
  return spelled_at(text, *at);
}

Value json(std::string_view text) {
  return scenarios::parse_yaml(scenarios::plain_json(text), "ds_config.json");
}
Value toml(std::string_view text) { return scenarios::parse_toml(text, "job.toml"); }
Value yaml(std::string_view text) { return scenarios::parse_yaml(text, "config.yaml"); }

bool any_text(std::string_view) { return true; }

// Whether the text is a file of keys, and not a script that names one.
template <Value (*Parse)(std::string_view)>
bool has_keys(std::string_view text) {
  try {
    return Parse(text).kind == Value::Kind::map;
  } catch (const scenarios::Error&) {
    return false;
  }
}

Format format_of(Framework framework, const PlaceChoice& chosen = last_place) {
  switch (framework) {
    case Framework::megatron:
      break;
    case Framework::deepspeed:
      return {has_keys<json>, edited_json, spelled<json>};
    case Framework::torchtitan:
      return {has_keys<toml>, edited_toml, spelled<toml>};
    case Framework::nanotron:
      return {has_keys<yaml>, edited_yaml, spelled<yaml>};
  }
  const auto edited = [chosen](std::string_view text, const std::vector<JobEdit>& edits) {
    return edited_script(text, edits, chosen);
  };
  return {any_text, edited, script_value};
}

// Returns the edits after which the job has the target's values of those keys.
std::vector<JobEdit> edits_between(const JobScenario& job, const JobScenario& target,
                                   const std::set<std::string>& keys, const Format& format,
                                   std::string_view target_text) {
  std::vector<JobEdit> edits;
  const auto wanted = names_behind(target, keys);
  for (const auto& name : wanted)
    if (auto value = format.value(target_text, name)) edits.push_back({name, std::move(*value)});
  for (const auto& name : names_behind(job, keys))
    if (std::ranges::find(wanted, name) == wanted.end())
      edits.push_back({name, format.value(target_text, name)});  // what else it says there holds
  return edits;
}

const Framework* framework_of(const scenarios::JobAccount& job) {
  const auto* found = std::ranges::find_if(
      framework_names, [&](const auto& each) { return job.framework == each.first; });
  return found == framework_names.end() ? nullptr : &found->second;
}

// Reads a launch file of ours; complaints of it, which is nobody's file, are told of the job's.
std::optional<JobScenario> read_written(const std::string& text, const std::string& name,
                                        const scenarios::JobHints& hints, const std::string& file) {
  try {
    return scenarios::read_job(text, name, hints);
  } catch (const scenarios::Error& wrong) {
    throw scenarios::Error(
        {{scenarios::Complaints(file).text_of({}),
          "the plan cannot be written as a change of this job: " + wrong.complaints.front().text}});
  }
}

bool starts(const std::string& text, const std::string& file, const scenarios::JobHints& hints) {
  try {
    return scenarios::read_job(text, file, hints).has_value();
  } catch (const scenarios::Error&) {
    return false;
  }
}

// Makes the changes that no key of the plan asks for.
void add_companions(ChangedJob& changed, const JobStep& step, Framework framework,
                    const Format& format, std::string_view words) {
  const auto spelled_in = [&](std::string_view text) {
    return [text, value = format.value](const std::string& name) { return value(text, name); };
  };
  const auto text = changed.text;
  changed.text =
      format.edited(text, companion_edits(step, framework, spelled_in(text), spelled_in(words)));
  using Kind = strategies::Recompute::Kind;
  if (framework == Framework::deepspeed && step.scenario.plan.recompute.kind != Kind::none)
    changed.beside.push_back(
        "plan.recompute: the training script switches recomputation, and no key of this file; "
        "add --gradient_checkpointing there");
  if (framework != Framework::megatron) return;
  if (auto left = change_queues(changed.text, step); !left.empty())
    changed.beside.push_back(std::move(left));
}

}  // namespace

std::string why_unchangeable(const scenarios::JobAccount& job, std::string_view text) {
  const auto* framework = framework_of(job);
  if (framework == nullptr) return "its framework has no launch configurations";
  if (!format_of(*framework).holds_arguments(text))
    return "the arguments stand in a file that it names; give that file as the job, with --env "
           "WORLD_SIZE=N";
  return {};
}

std::optional<ChangedJob> changed_job(std::string_view text, const std::string& file,
                                      const scenarios::JobHints& hints,
                                      const forecast::Scenario& scenario) {
  const auto job = scenarios::read_job(text, file, hints);
  if (!job || !why_unchangeable(job->account, text).empty()) return {};
  const auto* framework = framework_of(job->account);
  ChangedJob changed;
  changed.launch = launch(scenario, *framework);
  const bool fork = job->account.fork;
  const auto words =
      fork ? in_words_of_fork(changed.launch.text, scenario, *job) : changed.launch.text;
  const scenarios::JobHints by_name{job->account.framework,
                                    {"WORLD_SIZE=" + std::to_string(scenario.cluster.gpus)}};
  auto same_size = hints;
  same_size.env.push_back(by_name.env.front());
  auto any_degrees = same_size;  // which need not make the GPUs yet
  any_degrees.over.gpus = scenario.cluster.gpus;
  const auto plan = read_written(changed.launch.text, changed.launch.name, by_name, file);
  const auto target = read_written(words, changed.launch.name, by_name, file);
  const auto format = format_of(*framework, places_that_count(file, any_degrees));
  changed.text = text;
  auto now = scenarios::read_job(text, file, any_degrees);
  // Two rounds, because a new degree may change the batch that follows from the degrees.
  for (int round = 0; round < 2; ++round) {
    const auto keys = differing(*now, *target);
    if (keys.empty()) break;
    auto edits = edits_between(*now, *target, keys, format, words);
    if (fork) complete_fork_edits(edits, scenario, *now);
    changed.text = format.edited(changed.text, edits);
    now = scenarios::read_job(changed.text, file, any_degrees);
  }
  const JobStep step{*job, *now, scenario};
  if (!fork) add_companions(changed, step, *framework, format, words);
  if (!starts(changed.text, file, same_size)) {  // degrees that no key of a plan names
    changed.text =
        format.edited(changed.text, edits_between(*now, *target, {"plan.zero"}, format, words));
    now = scenarios::read_job(changed.text, file, any_degrees);
  }
  for (const auto& key : differing(*now, *plan)) changed.left.push_back(key);
  const auto slash = file.rfind('/');
  changed.diff =
      unified_diff(text, changed.text, slash == file.npos ? file : file.substr(slash + 1));
  return changed;
}

}  // namespace report

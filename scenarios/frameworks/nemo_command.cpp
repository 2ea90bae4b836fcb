// SPDX-License-Identifier: Apache-2.0
#include "scenarios/frameworks/nemo_command.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "scenarios/frameworks/nemo.hpp"
#include "scenarios/jobs/argument_words.hpp"
#include "scenarios/jobs/draft.hpp"
#include "scenarios/jobs/keyed_job.hpp"
#include "scenarios/jobs/scripts/shell_script.hpp"

namespace scenarios {
namespace {

struct NamedConfig {
  const JobArgument* name = nullptr;  // --config-name; null: none
  std::vector<std::string> paths;     // where its file may be
};

NamedConfig config_of(const FrameworkJob& job) {
  const auto last = [&](std::string_view name) {
    const JobArgument* found = nullptr;
    for (const auto& argument : job.arguments)
      if (gives(argument, name) && argument.values.size() == 1) found = &argument;
    return found;
  };
  const auto* folder = last("--config-path");
  NamedConfig config{last("--config-name"), {}};
  if (config.name == nullptr) return config;
  auto file = config.name->values.front().text;
  if (!file.ends_with(".yaml")) file += ".yaml";
  if (folder != nullptr) config.paths.push_back(folder->values.front().text + "/" + file);
  config.paths.push_back(file);
  return config;
}

// Whether the argument of a command is "section.key=value" whose value is known.
bool is_override(const JobArgument& argument) {
  return !begins_argument(argument.name) && !argument.name.empty() && argument.values.size() == 1 &&
         argument.values.front().trouble.empty();
}

bool is_deletion(const JobArgument& argument) {
  return argument.off && std::string_view(argument.text).starts_with('~');
}

// Takes the value at "section.key" out of the document; returns its keys.
std::vector<JobArgument> taken_out(Value& document, std::string_view path) {
  Value* section = &document;
  auto key = path;
  for (auto dot = key.find('.'); dot != key.npos && section != nullptr; dot = key.find('.')) {
    section = section->find(key.substr(0, dot));
    key.remove_prefix(dot + 1);
  }
  const auto* found = section == nullptr ? nullptr : section->find(key);
  if (found == nullptr) return {};
  Value taken;
  value_at(taken, path, {}) = *found;
  std::erase_if(section->members, [&](const Member& member) { return member.key.text == key; });
  return keyed_job(taken, true).arguments;
}

// Lays the arguments of a command over its configuration, in their order. Returns them, with an
// argument that is off for each key that one of them takes away.
std::vector<JobArgument> laid_over(Value& document, const std::vector<JobArgument>& arguments) {
  std::vector<JobArgument> all;
  for (const auto& argument : arguments) {
    if (is_override(argument))
      value_at(document, argument.name, argument.at) = job_text(argument.values.front().text);
    const auto taken =
        is_deletion(argument) ? taken_out(document, argument.name) : std::vector<JobArgument>();
    if (taken.empty()) all.push_back(argument);
    for (const auto& key : taken) {
      all.push_back(argument);
      all.back().name = key.name;
    }
  }
  return all;
}

}  // namespace

bool names_nemo_config(const Looked& looked) {
  if (!looked.is_script() || !looked.has("--config-name")) return false;
  const auto job = read_shell_script(looked.text, arguments_of("nemo"), {});
  const auto config = config_of(job);
  if (config.name == nullptr) return false;
  for (const auto& path : config.paths) {
    const auto text = looked.files ? looked.files(path) : std::nullopt;
    if (!text) continue;
    const auto found = looked_at(*text, path, looked.files);
    return found.map && is_nemo(*found.map);
  }
  return job.program.starts_with("megatron_") && job.program.ends_with(".py");
}

FrameworkJob nemo_command(FrameworkJob job, const Looked& looked, std::span<const std::string> env,
                          Complaints& complaints) {
  const auto config = config_of(job);
  if (config.name == nullptr) return job;
  const auto at = config.name->at;
  const auto found = text_named_by(*config.name, config.paths, looked.files, complaints);
  if (!found) return job;
  auto document = parse_yaml(found->text, found->path);
  job.arguments = laid_over(document, job.arguments);
  std::vector<JobArgument> below;
  for (auto& key : nemo_job(document, env).arguments) {
    const auto over = std::find_if(
        job.arguments.rbegin(), job.arguments.rend(),
        [&](const JobArgument& one) { return one.name == key.name && is_override(one); });
    if (over != job.arguments.rend()) {
      over->values = std::move(key.values);
      over->off = key.off;
      continue;
    }
    key.file = found->path;
    key.named = at;
    below.push_back(std::move(key));
  }
  job.arguments.insert(job.arguments.begin(), below.begin(), below.end());
  return job;
}

}  // namespace scenarios

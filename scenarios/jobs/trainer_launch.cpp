// SPDX-License-Identifier: Apache-2.0
#include "scenarios/jobs/trainer_launch.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "scenarios/documents/nearest.hpp"
#include "scenarios/jobs/given.hpp"
#include "scenarios/jobs/keyed_job.hpp"
#include "scenarios/jobs/keys_as_flags.hpp"

namespace scenarios {
namespace {

constexpr std::string_view launcher = "accelerate.";

bool is_option(const JobArgument& argument) {
  return std::string_view(argument.name).starts_with(launcher);
}

// Sections of the configuration whose keys are options.
constexpr std::array<std::string_view, 7> option_sections{
    "fsdp_config.",   "deepspeed_config.",   "parallelism_config.", "fp8_config.",
    "dynamo_config.", "megatron_lm_config.", "mpirun_config."};

// Options of accelerate that the table lists among arguments of the Trainer; other arguments there
// are no options.
constexpr std::array<std::string_view, 3> shared_options{"mixed_precision", "num_processes",
                                                         "distributed_type"};

// Switches that choose the kind of run: name, key, value.
constexpr std::array<std::array<std::string_view, 3>, 6> kinds{
    {{"multi_gpu", "distributed_type", "MULTI_GPU"},
     {"use_fsdp", "distributed_type", "FSDP"},
     {"use_deepspeed", "distributed_type", "DEEPSPEED"},
     {"use_megatron_lm", "distributed_type", "MEGATRON_LM"},
     {"tpu", "distributed_type", "TPU"},
     {"cpu", "use_cpu", "true"}}};

const auto* kind_of(std::string_view name) {
  const auto* kind = std::ranges::find(kinds, name, [](const auto& row) { return row[0]; });
  return kind == kinds.end() ? nullptr : kind;
}

// Returns the option as a key of the configuration, with a value.
JobArgument key_of(JobArgument option) {
  const auto name = option.name.substr(launcher.size());
  if (const auto* kind = kind_of(name))
    option.values = {{std::string((*kind)[2]), {}, option.at}};
  else if (option.values.empty())
    option.values.push_back({"true", {}, option.at});
  option.name = accelerate_key(option.name);
  return option;
}

}  // namespace

bool is_accelerated_launch(const FrameworkJob& job) {
  return std::ranges::any_of(job.launcher, is_option);
}

std::string accelerate_key(std::string_view option) {
  option.remove_prefix(launcher.size());
  if (const auto* kind = kind_of(option)) return std::string((*kind)[1]);
  const auto& table = arguments_of("accelerate");
  for (const auto section : option_sections) {
    auto key = std::string(section).append(option);
    const auto* known = table.find(key);
    // The table may judge a section as a whole; its options then begin with its name: fp8_format is
    // in fp8_config.
    const auto word = section.substr(0, section.find("config."));
    if (known != nullptr && (!known->repeats || option.starts_with(word))) return key;
  }
  const bool alone = table.find_here(option) != nullptr ||
                     std::ranges::find(shared_options, option) != shared_options.end();
  return alone ? std::string(option) : std::string();
}

std::string nearest_accelerate_option(std::string_view option) {
  option.remove_prefix(launcher.size());
  std::vector<std::string_view> options(shared_options.begin(), shared_options.end());
  for (const auto& kind : kinds) options.push_back(kind[0]);
  for (const auto* table = &arguments_of("accelerate"); table != nullptr; table = table->below())
    for (const auto& known : table->all()) {
      auto names = known.aliases;
      names.push_back(known.name);
      for (const auto name : names) {
        const auto dot = name.find('.');
        const bool alone = dot == name.npos && table->below() != nullptr;
        const auto section = name.substr(0, dot + 1);
        if (alone || std::ranges::find(option_sections, section) != option_sections.end())
          options.push_back(name.substr(dot + 1));
      }
    }
  return nearest(option, options);
}

FrameworkJob with_accelerate(FrameworkJob job, std::string_view framework, const JobFiles& files) {
  std::vector<JobArgument> keys;
  const auto is_key = [](const JobArgument& option) {
    return is_option(option) && !accelerate_key(option.name).empty();
  };
  for (auto& option : job.launcher) {
    if (!is_key(option)) continue;
    auto key = key_of(option);
    const bool named =
        std::string_view(key.name) == "config_file" && key.values.front().trouble.empty();
    const auto path = key.values.front().text;
    const auto text = named && files ? files(path) : std::nullopt;
    if (text) {
      auto file = keyed_job(parse_yaml(*text, path), true).arguments;
      for (auto& one : file) {
        one.file = path;
        one.named = key.at;
      }
      keys.insert(keys.begin(), file.begin(), file.end());
      key.off = true;
    }
    keys.push_back(std::move(key));
  }
  std::erase_if(job.launcher, is_key);
  const bool own_table = framework != "trainer" && framework != "accelerate";
  job.table = own_table ? std::string(framework) + "+accelerate" : "accelerate";
  keys = keys_as_flags(keys, arguments_of("accelerate"));
  job.arguments.insert(job.arguments.begin(), keys.begin(), keys.end());
  return job;
}

}  // namespace scenarios

// SPDX-License-Identifier: Apache-2.0
#include "scenarios/jobs/trainer_launch.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "scenarios/jobs/given.hpp"
#include "scenarios/jobs/keyed_job.hpp"

namespace scenarios {
namespace {

constexpr std::string_view launcher = "accelerate.";

bool is_option(const JobArgument& argument) {
  return std::string_view(argument.name).starts_with(launcher);
}

// What a switch says of the kind of run.
void take_kind(JobArgument& key) {
  constexpr std::array<std::array<std::string_view, 3>, 6> kinds{
      {{"multi_gpu", "distributed_type", "MULTI_GPU"},
       {"use_fsdp", "distributed_type", "FSDP"},
       {"use_deepspeed", "distributed_type", "DEEPSPEED"},
       {"use_megatron_lm", "distributed_type", "MEGATRON_LM"},
       {"tpu", "distributed_type", "TPU"},
       {"cpu", "use_cpu", "true"}}};
  const auto* kind = std::ranges::find(kinds, key.name, [](const auto& row) { return row[0]; });
  if (kind == kinds.end()) return;
  key.name = (*kind)[1];
  key.values = {{std::string((*kind)[2]), {}, key.at}};
}

// "fsdp_config.fsdp_version" of "accelerate.fsdp_version".
JobArgument key_of(JobArgument option) {
  constexpr std::array<std::string_view, 8> sections{"",
                                                     "fsdp_config.",
                                                     "deepspeed_config.",
                                                     "parallelism_config.",
                                                     "fp8_config.",
                                                     "dynamo_config.",
                                                     "megatron_lm_config.",
                                                     "mpirun_config."};
  const auto name = option.name.substr(launcher.size());
  option.name = name;
  take_kind(option);
  const auto& table = arguments_of("accelerate");
  for (const auto section : sections)
    if (const auto key = std::string(section) + option.name; table.find(key) != nullptr) {
      option.name = key;
      break;
    }
  if (option.values.empty()) option.values.push_back({"true", {}, option.at});
  return option;
}

}  // namespace

bool is_accelerated_launch(const Job& job) { return std::ranges::any_of(job.launcher, is_option); }

Job with_accelerate(Job job, const JobFiles& files) {
  std::vector<JobArgument> keys;
  for (auto& option : job.launcher) {
    if (!is_option(option)) continue;
    auto key = key_of(option);
    const bool named =
        std::string_view(key.name) == "config_file" && key.values.front().trouble.empty();
    const auto path = key.values.front().text;
    const auto text = named && files ? files(path) : std::nullopt;
    if (text) {
      auto file = keyed_job(parse_yaml(*text, path), true).arguments;
      for (auto& one : file) one.file = path;
      keys.insert(keys.begin(), file.begin(), file.end());
      key.off = true;
    }
    keys.push_back(std::move(key));
  }
  std::erase_if(job.launcher, is_option);
  job.table = "accelerate";
  job.arguments.insert(job.arguments.begin(), keys.begin(), keys.end());
  return job;
}

}  // namespace scenarios

// SPDX-License-Identifier: Apache-2.0
#include "scenarios/frameworks/trl_command.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "scenarios/jobs/argument_words.hpp"
#include "scenarios/jobs/given.hpp"
#include "scenarios/jobs/trainer_launch.hpp"

namespace scenarios {
namespace {

struct BroughtKey {
  std::string_view config, key, value;
};

// Keys of trl/accelerate_configs/*.yaml, from memory; all are in bf16 on 8 GPUs but the single one.
constexpr std::array<BroughtKey, 15> brought_keys{
    {{"single_gpu", "distributed_type", "NO"},
     {"multi_gpu", "distributed_type", "MULTI_GPU"},
     {"zero1", "distributed_type", "DEEPSPEED"},
     {"zero1", "deepspeed_config.zero_stage", "1"},
     {"zero2", "distributed_type", "DEEPSPEED"},
     {"zero2", "deepspeed_config.zero_stage", "2"},
     {"zero3", "distributed_type", "DEEPSPEED"},
     {"zero3", "deepspeed_config.zero_stage", "3"},
     {"fsdp1", "distributed_type", "FSDP"},
     {"fsdp1", "fsdp_config.sharding_strategy", "FULL_SHARD"},
     {"fsdp1", "fsdp_config.auto_wrap_policy", "TRANSFORMER_BASED_WRAP"},
     {"fsdp2", "distributed_type", "FSDP"},
     {"fsdp2", "fsdp_config.auto_wrap_policy", "TRANSFORMER_BASED_WRAP"},
     {"fsdp2", "fsdp_config.fsdp_version", "2"},
     {"fsdp2", "fsdp_config.reshard_after_forward", "true"}}};

// Returns the keys of the configuration of that name that TRL brings along; none: it has no such.
std::vector<JobArgument> brought_along(const JobArgument& option) {
  const auto& name = option.values.front().text;
  std::vector<JobArgument> keys;
  const auto add = [&](std::string_view key, std::string_view value) {
    keys.push_back({std::string(key), {{std::string(value), {}, option.at}}, option.at});
    keys.back().text = written(option);
  };
  for (const auto& one : brought_keys)
    if (one.config == name) add(one.key, one.value);
  if (keys.empty()) return keys;
  add("mixed_precision", "bf16");
  add("num_processes", name == "single_gpu" ? "1" : "8");
  return keys;
}

// Returns the option of accelerate that the argument of the script's command is: "accelerate.NAME";
// empty: it is the script's.
std::string option_of_accelerate(const JobArgument& argument) {
  constexpr std::size_t hyphens = 2;
  if (!begins_argument(argument.name)) return {};
  if (arguments_of("trainer").find(argument.name) != nullptr) return {};
  auto option = "accelerate." + argument.name.substr(hyphens);
  return accelerate_key(option).empty() ? std::string() : option;
}

}  // namespace

bool is_trl_command(const FrameworkJob& job) { return job.program.compare("trl") == 0; }

FrameworkJob with_trl_launcher(FrameworkJob job, const JobFiles& files) {
  std::vector<JobArgument> below, own;
  for (auto& argument : job.arguments) {
    const std::string_view name = argument.name;
    const bool config = name == "--accelerate_config" || name == "accelerate_config";
    if (config && argument.values.size() == 1) {
      const bool is_file = files && files(argument.values.front().text);
      auto keys = is_file ? std::vector<JobArgument>() : brought_along(argument);
      below.insert(below.end(), keys.begin(), keys.end());
      if (!keys.empty()) continue;
    }
    auto option = config ? "accelerate.config_file" : option_of_accelerate(argument);
    if (option.empty()) {
      own.push_back(std::move(argument));
      continue;
    }
    argument.text = written(argument);
    argument.name = std::move(option);
    job.launcher.push_back(std::move(argument));
  }
  job.arguments = std::move(below);
  std::ranges::move(own, std::back_inserter(job.arguments));
  return job;
}

}  // namespace scenarios

// SPDX-License-Identifier: Apache-2.0
#include "scenarios/frameworks/bridge_performance.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace scenarios {
namespace {

struct Option {
  std::string_view brief, name, key;
};

constexpr auto options = std::to_array<Option>(
    {{"-mr", "--model_recipe_name", "recipe"},
     {"-m", "--model_family_name", "performance.family"},
     {"", "--model_name", "performance.family"},
     {"-s", "--model_size", "performance.size"},
     {"-c", "--compute_dtype", "mixed_precision"},
     {"-fr", "--fp8_recipe", "performance.fp8_recipe"},
     {"-tp", "--tensor_model_parallel_size", "model.tensor_model_parallel_size"},
     {"", "--tensor_parallel_size", "model.tensor_model_parallel_size"},
     {"-pp", "--pipeline_model_parallel_size", "model.pipeline_model_parallel_size"},
     {"", "--pipeline_parallel_size", "model.pipeline_model_parallel_size"},
     {"-cp", "--context_parallel_size", "model.context_parallel_size"},
     {"-vp", "--virtual_pipeline_model_parallel_size",
      "model.virtual_pipeline_model_parallel_size"},
     {"", "--virtual_pipeline_parallel_size", "model.virtual_pipeline_model_parallel_size"},
     {"-ep", "--expert_model_parallel_size", "model.expert_model_parallel_size"},
     {"", "--expert_parallel_size", "model.expert_model_parallel_size"},
     {"-et", "--expert_tensor_parallel_size", "model.expert_tensor_parallel_size"},
     {"-mb", "--micro_batch_size", "train.micro_batch_size"},
     {"-gb", "--global_batch_size", "train.global_batch_size"},
     {"-sl", "--seq_length", "model.seq_length"},
     {"-rl", "--recompute_num_layers", "model.recompute_num_layers"},
     {"-rm", "--recompute_modules", "model.recompute_modules"},
     {"-ol", "--activation_offload_layers", "model.cpu_offloading_num_layers"},
     {"-fsdp", "--use_megatron_fsdp", "ddp.use_megatron_fsdp"},
     {"", "--cuda_graph_impl", "model.cuda_graph_impl"},
     {"", "--cuda_graph_scope", "model.cuda_graph_scope"},
     {"-ng", "--num_gpus", "gpus"},
     {"-gn", "--gpus_per_node", "performance.gpus_per_node"},
     {"-g", "--gpu", "performance.gpu"},
     {"-d", "--domain", "performance.domain"},
     {"-t", "--task", "performance.task"}});

// "bf16_with_mxfp8_mixed" of "fp8_mx".
std::string mixed_precision(const std::string& type) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> types{
      {{"bf16", "bf16_mixed"},
       {"fp8_cs", "bf16_with_fp8_current_scaling_mixed"},
       {"fp8_ds", "bf16_with_fp8_delayed_scaling_mixed"},
       {"fp8_sc", "bf16_with_fp8_subchannel_scaling_mixed"},
       {"fp8_mx", "bf16_with_mxfp8_mixed"},
       {"fp8", "bf16_with_fp8_delayed_scaling_mixed"},
       {"nvfp4", "bf16_with_nvfp4_mixed"}}};
  const auto* known = std::ranges::find(types, type, [](const auto& one) { return one.first; });
  return known == types.end() ? type : std::string(known->second);
}

const Option* option_of(std::string_view word) {
  const auto name = word.substr(0, word.find('='));
  const auto* found = std::ranges::find_if(options, [&](const Option& one) {
    return one.name == name || (!one.brief.empty() && one.brief == name);
  });
  return found == options.end() ? nullptr : found;
}

// The option at `i` with its values; `i` goes behind them.
JobArgument argument_at(const std::vector<JobWord>& words, std::size_t& i) {
  const auto& word = words[i++];
  const auto* option = option_of(word.text);
  const auto name = word.text.substr(0, word.text.find('='));
  const auto plain = name.substr(std::min(name.find_first_not_of('-'), name.size()));
  JobArgument argument{option == nullptr ? "performance." + plain : std::string(option->key),
                       {},
                       word.at,
                       word.text};
  if (name.size() < word.text.size())
    argument.values.push_back({word.text.substr(name.size() + 1), word.trouble, word.at});
  while (argument.values.empty() && i < words.size() && !words[i].text.starts_with('-')) {
    argument.text += ' ' + words[i].text;
    argument.values.push_back(words[i++]);
  }
  if (argument.name == "mixed_precision" && !argument.values.empty())
    argument.values.front().text = mixed_precision(argument.values.front().text);
  return argument;
}

const JobArgument* find(const Job& job, std::string_view name) {
  const auto found = std::ranges::find(job.arguments, name, &JobArgument::name);
  return found == job.arguments.end() || found->values.empty() ? nullptr : &*found;
}

// The recipe is a family and a size where it is not named; "-mr 70b" is a size.
void name_recipe(Job& job) {
  for (auto& one : job.arguments)
    if (const auto* family = find(job, "performance.family");
        one.name == "recipe" && family != nullptr && !one.values.empty() &&
        one.values.front().text.find('_') == std::string::npos)
      one.values.front().text =
          family->values.front().text + "_" + std::exchange(one.values.front().text, {});
  const auto *family = find(job, "performance.family"), *size = find(job, "performance.size");
  if (family == nullptr || find(job, "recipe") != nullptr) return;
  auto recipe = *family;
  recipe.name = "recipe";
  if (size != nullptr) {
    recipe.values.front().text += "_" + size->values.front().text;
    recipe.text += " " + size->text;
  }
  job.arguments.push_back(std::move(recipe));
}

}  // namespace

bool is_performance_script(std::string_view text) {
  return text.find("setup_experiment.py") != text.npos ||
         text.find("run_performance_workload") != text.npos;
}

Job performance_job(LaunchScript launch) {
  Job job;
  job.program = launch.job.program;
  for (std::size_t i = 0; i < launch.words.size();) {
    if (!launch.words[i].text.starts_with('-')) {
      ++i;
      continue;
    }
    auto argument = argument_at(launch.words, i);
    if (argument.name == "gpus") {
      argument.name = "accelerate.num_processes";
      job.launcher.push_back(std::move(argument));
    } else {
      job.arguments.push_back(std::move(argument));
    }
  }
  if (const auto* degree = find(job, "model.tensor_model_parallel_size");
      degree != nullptr && degree->values.front().text != "1") {  // the scripts' rule
    auto parallel = *degree;
    parallel.name = "model.sequence_parallel";
    parallel.values.front().text = "true";
    job.arguments.push_back(std::move(parallel));
  }
  name_recipe(job);
  return job;
}

}  // namespace scenarios

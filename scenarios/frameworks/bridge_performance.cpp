// SPDX-License-Identifier: Apache-2.0
#include "scenarios/frameworks/bridge_performance.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>

namespace scenarios {
namespace {

struct Option {
  std::string_view brief, name, key;
};

// Keys of options that become keys of a recipe only after they are combined.
constexpr std::string_view recipe_key = "recipe", type_key = "mixed_precision",
                           family_key = "performance.family", size_key = "performance.size",
                           scaling_key = "performance.fp8_recipe", gpus_key = "performance.gpus",
                           task_key = "performance.task", adapters_key = "peft";

constexpr const char* of_scripts = "the scripts";  // the file of what they set themselves

constexpr auto options = std::to_array<Option>(
    {{"-mr", "--model_recipe_name", recipe_key},
     {"-m", "--model_family_name", family_key},
     {"", "--model_name", family_key},
     {"-s", "--model_size", size_key},
     {"-c", "--compute_dtype", type_key},
     {"-fr", "--fp8_recipe", scaling_key},
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
     {"-ng", "--num_gpus", gpus_key},
     {"-gn", "--gpus_per_node", "performance.gpus_per_node"},
     {"-g", "--gpu", "performance.gpu"},
     {"-d", "--domain", "performance.domain"},
     {"-t", "--task", task_key},
     {"", "--moe_a2a_overlap", "comm_overlap.overlap_moe_expert_parallel_comm"},
     {"", "--nccl_ub", "ddp.nccl_ub"},
     {"-a", "--account", "performance.account"},
     {"-p", "--partition", "performance.partition"},
     {"", "--time_limit", "performance.time_limit"},
     {"-i", "--container_image", "performance.container_image"},
     {"-cm", "--custom_mounts", "performance.custom_mounts"},
     {"-l", "--log_dir", "performance.log_dir"},
     {"", "--nemo_home", "performance.nemo_home"},
     {"-hf", "--hf_token", "performance.hf_token"},
     {"-wdk", "--wandb_key", "performance.wandb_key"},
     {"-wdp", "--wandb_project_name", "performance.wandb_project_name"},
     {"-wdj", "--wandb_experiment_name", "performance.wandb_experiment_name"},
     {"", "--dryrun", "performance.dryrun"},
     {"", "--detach", "performance.detach"},
     {"-vb", "--enable_vboost", "performance.enable_vboost"},
     {"-en", "--enable_nsys", "performance.enable_nsys"},
     {"-ms", "--max_steps", "performance.max_steps"},
     {"-er", "--experiment_name", "performance.experiment_name"}});

// Returns "bf16_with_mxfp8_mixed" for "fp8_mx".
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

// Returns the option at `i` with its values, and moves `i` behind them.
JobArgument argument_at(const std::vector<ShellWord>& words, std::size_t& i) {
  const auto& word = words[i++];
  const auto* option = option_of(word.text);
  const auto name = word.text.substr(0, word.text.find('='));
  const auto plain = name.substr(std::min(name.find_first_not_of("-+~"), name.size()));
  JobArgument argument{
      option == nullptr ? plain : std::string(option->key), {}, word.at, word.text};
  if (name.size() < word.text.size())
    argument.values.push_back({word.text.substr(name.size() + 1), word.trouble, word.at});
  while (word.text.starts_with('-') && argument.values.empty() && i < words.size() &&
         !words[i].text.starts_with('-')) {
    argument.text += ' ' + words[i].text;
    argument.values.push_back(words[i++]);
  }
  return argument;
}

const JobArgument* find(const FrameworkJob& job, std::string_view name) {
  const auto found = std::ranges::find(job.arguments, name, &JobArgument::name);
  return found == job.arguments.end() || found->values.empty() ? nullptr : &*found;
}

bool is(const JobArgument& argument, std::string_view key) { return argument.name == key; }

// Joins precision and recipe: "-c fp8 -fr mx" becomes "-c fp8_mx".
void name_precision(FrameworkJob& job) {
  const auto* scaling = find(job, scaling_key);
  std::vector<JobArgument> whole;
  for (auto& one : job.arguments) {
    if (!is(one, type_key) || one.values.empty()) continue;
    auto& type = one.values.front().text;
    if (type == "fp8" && scaling != nullptr) type += "_" + scaling->values.front().text;
    type = mixed_precision(type);
    if (type.find("current_scaling") == type.npos) continue;
    whole = {{"mixed_precision.first_last_layers_bf16", {{"false", {}, {}}}, {}, {}}};
    whole.front().file = of_scripts;  // which keep no layers in bf16
  }
  job.arguments.insert(job.arguments.begin(), whole.begin(), whole.end());
}

// Adds what the scripts set themselves, below all options.
void add_settings(FrameworkJob& job) {
  constexpr std::array<std::pair<const char*, const char*>, 2> settings{
      {{"mixed_precision.grad_reduce_in_fp32", "false"}, {"comm_overlap.tp_comm_overlap", "true"}}};
  for (const auto& [name, value] : settings) {
    JobArgument argument{name, {{value, {}, {}}}, {}};
    argument.file = of_scripts;
    job.arguments.insert(job.arguments.begin(), std::move(argument));
  }
}

// Turns a task that trains adapters, such as "lora", into the recipe's key for them.
void name_task(FrameworkJob& job) {
  for (auto& one : job.arguments)
    if (is(one, task_key) && !one.values.empty() &&
        one.values.front().text.find("ora") != std::string::npos)
      one.name = adapters_key;
}

// Names the recipe by family and size if the options do not name it; "-mr 70b" is a size.
void name_recipe(FrameworkJob& job) {
  for (auto& one : job.arguments)
    if (const auto* family = find(job, family_key);
        is(one, recipe_key) && family != nullptr && !one.values.empty() &&
        (one.values.front().text.find('_') == std::string::npos ||
         std::isdigit(static_cast<unsigned char>(one.values.front().text.front())) != 0))
      one.values.front().text =
          family->values.front().text + "_" + std::exchange(one.values.front().text, {});
  const auto *family = find(job, family_key), *size = find(job, size_key);
  if (family == nullptr || find(job, recipe_key) != nullptr) return;
  auto recipe = *family;
  recipe.name = recipe_key;
  if (size != nullptr) {
    recipe.values.front().text += "_" + size->values.front().text;
    recipe.text += " " + size->text;
  }
  job.arguments.push_back(std::move(recipe));
}

}  // namespace

bool is_performance_script(std::string_view text) {
  const auto starts = [&](std::string_view program) {
    for (auto at = text.find(program); at != text.npos; at = text.find(program, at + 1)) {
      const auto line = text.substr(0, at).rfind('\n') + 1;  // npos + 1 is 0
      if (text.substr(line, at - line).find('#') == text.npos) return true;
    }
    return false;
  };
  // Others may have a run_script.py, too, without the names of Bridge's models.
  const bool names_model = text.find(" -mr ") != text.npos ||
                           text.find("--model_recipe_name") != text.npos ||
                           text.find("--model_family_name") != text.npos;
  return starts("setup_experiment.py") || starts("run_performance_workload") ||
         (names_model && starts("run_script.py"));
}

FrameworkJob performance_job(LaunchScript launch) {
  FrameworkJob job;
  job.program = launch.job.program;
  for (std::size_t i = 0; i < launch.words.size();) {
    const auto& word = launch.words[i].text;
    if (!word.starts_with('-') && word.find('=') == word.npos) {
      ++i;
      continue;
    }
    auto argument = argument_at(launch.words, i);
    if (is(argument, gpus_key)) {
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
  add_settings(job);
  name_precision(job);
  name_task(job);
  name_recipe(job);
  return job;
}

}  // namespace scenarios

// SPDX-License-Identifier: Apache-2.0
// Readers of jobs that Hugging Face's Trainer runs: of its own scripts, of LLaMA-Factory, axolotl
// and accelerate.
#include <algorithm>
#include <array>
#include <utility>

#include "scenarios/frameworks/launch_script.hpp"
#include "scenarios/frameworks/readers.hpp"
#include "scenarios/frameworks/recipe_command.hpp"
#include "scenarios/frameworks/recipe_word.hpp"
#include "scenarios/frameworks/trl_command.hpp"
#include "scenarios/jobs/given.hpp"
#include "scenarios/jobs/keyed_job.hpp"
#include "scenarios/jobs/launcher.hpp"
#include "scenarios/jobs/scripts/shell_script.hpp"
#include "scenarios/jobs/trainer.hpp"
#include "scenarios/jobs/trainer_launch.hpp"

namespace scenarios {
namespace {

// Marks unknown arguments as those of the program that accelerate starts, which is not read.
void name_others(JobAccount& account) {
  for (auto& argument : account.arguments)
    if (argument.effect == Effect::unknown) {
      argument.effect = Effect::not_modelled;
      argument.why =
          "of the training script, which is not read; a key that rests on it is asked for";
    }
}

// Puts the keys of the recipe that the command names before the command's own arguments; returns
// the recipe's path, or nothing.
std::string lay_over_recipe(FrameworkJob& job, const LaunchScript& launch,
                            std::string_view framework, const JobFiles& files,
                            Complaints& complaints) {
  const auto* word = recipe_word(launch.words);
  if (word == nullptr) return {};
  if (framework != "trainer") job.arguments = arguments_beside(launch.words, *word, framework);
  const auto recipe = take_recipe(job.arguments, *word);
  const auto keys = keys_of_file(recipe, files, complaints);
  job.arguments.insert(job.arguments.begin(), keys.begin(), keys.end());
  return recipe.values.front().text;
}

// Takes USE_MCA, by which LLaMA-Factory has Megatron-LM run the layers (from memory), as the key
// that asks for it.
void take_megatron_switch(FrameworkJob& job) {
  for (auto& option : job.launcher) {
    if (std::string_view(option.name) != "variables.USE_MCA") continue;
    const auto word = written(option);
    option.standard = true;  // it is listed with the arguments
    job.arguments.push_back({"use_mca", option.values, option.at, word});
  }
}

// Puts the keys that ms-swift's `--fsdp fsdp2` stands for in its place (swift's fsdp2.json, from
// memory).
void spell_fsdp_of_swift(FrameworkJob& job) {
  constexpr std::array<std::pair<const char*, const char*>, 3> keys{
      {{"fsdp", "full_shard auto_wrap"},
       {"fsdp_config.fsdp_version", "2"},
       {"fsdp_config.reshard_after_forward", "true"}}};
  std::vector<JobArgument> all;
  for (auto& argument : job.arguments) {
    const bool preset = gives(argument, "--fsdp") && argument.values.size() == 1 &&
                        argument.values.front().text == std::string_view("fsdp2");
    if (!preset) {
      all.push_back(std::move(argument));
      continue;
    }
    for (const auto& [name, value] : keys) {
      all.push_back({name, {{value, {}, argument.at}}, argument.at, written(argument)});
    }
  }
  job.arguments = std::move(all);
}

struct TrainedJob {
  FrameworkJob job;
  std::string recipe{};  // the file that a command names; empty: none
};

TrainedJob trained_job(const Looked& looked, const JobHints& hints, Complaints& complaints,
                       std::string_view framework) {
  if (!looked.is_script()) return {keyed_job(looked.document(), true)};
  auto launch = read_launch(looked.text, hints.env, looked.files);
  if (launch) refuse_preferences(*launch, looked.file);
  if (launch && framework == "accelerate") return {std::move(launch->job)};
  TrainedJob made{read_shell_script(looked.text, arguments_of(framework), hints.env, looked.files)};
  if (!launch) return made;
  const bool by_recipe = framework != "trainer" && recipe_word(launch->words) != nullptr;
  if (by_recipe || made.job.arguments.empty()) made.job = launch->job;
  made.recipe = lay_over_recipe(made.job, *launch, framework, looked.files, complaints);
  return made;
}

// Returns a reader of files beside the job and beside its recipe.
JobFiles beside_both(const JobFiles& files, const std::string& recipe) {
  if (!files || recipe.empty()) return files;
  const auto folder = recipe.substr(0, recipe.rfind('/') + 1);
  return [&files, folder](const std::string& name) {
    auto text = files(name);
    return text || folder.empty() ? text : files(folder + name);
  };
}

ReadJob read_trained(const Looked& looked, const JobHints& hints, Complaints& complaints,
                     std::string_view framework) {
  auto [job, recipe] = trained_job(looked, hints, complaints, framework);
  complaints.throw_if_any();  // what a missing file would say is not asked for
  if (job.program.compare("swift") == 0) spell_fsdp_of_swift(job);
  if (is_trl_command(job)) job = with_trl_launcher(std::move(job), looked.files);
  auto gpus = gpus_of(job.launcher, hints);
  if (is_accelerated_launch(job)) {
    job = with_accelerate(std::move(job), framework, looked.files);
    const bool says = std::ranges::any_of(
        job.arguments, [](const auto& one) { return gives(one, "num_processes"); });
    gpus = says ? world_size_of(hints) : gpus_of(job.launcher, hints);
  }
  if (framework == "llamafactory") take_megatron_switch(job);
  const auto files = beside_both(looked.files, recipe);
  job.over = hints.over;
  auto scenario = trainer_scenario(job, framework, looked.file, gpus, files, complaints);
  if (framework == "accelerate" && looked.is_script()) name_others(scenario.account);
  return {std::move(job), std::move(scenario)};
}

}  // namespace

ReadJob read_trainer_job(const Looked& looked, const JobHints& hints, Complaints& complaints) {
  return read_trained(looked, hints, complaints, "trainer");
}

ReadJob read_llamafactory_job(const Looked& looked, const JobHints& hints, Complaints& complaints) {
  return read_trained(looked, hints, complaints, "llamafactory");
}

ReadJob read_axolotl_job(const Looked& looked, const JobHints& hints, Complaints& complaints) {
  return read_trained(looked, hints, complaints, "axolotl");
}

ReadJob read_accelerate_job(const Looked& looked, const JobHints& hints, Complaints& complaints) {
  return read_trained(looked, hints, complaints, "accelerate");
}

}  // namespace scenarios

// SPDX-License-Identifier: Apache-2.0
#include "scenarios/jobs/trainer.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "scenarios/jobs/keys_as_flags.hpp"
#include "scenarios/jobs/trainer_rules.hpp"

namespace scenarios {
namespace {

bool has(const Value& document, std::initializer_list<std::string_view> keys) {
  return std::ranges::any_of(keys, [&](auto key) { return document.find(key) != nullptr; });
}

// --- accelerate's DeepSpeed plugin, as far as it is no file

void read_plugin(TrainerJob& job) {
  const auto& given = job.given;
  auto& draft = job.draft;
  const auto* stage = "deepspeed_config.zero_stage";
  if (is_switch(job) && !given.has(stage)) return;
  const bool by_plugin = job.word("distributed_type") == "DEEPSPEED" && !given.has(speed_name);
  if (!by_plugin && !is_switch(job)) return;
  draft.text("software.base", "deepspeed", {"distributed_type", speed_name});
  draft.whole("plan.zero", std::min<std::int64_t>(3, given.whole_or(stage, 2)), {stage});
  const auto* states = "deepspeed_config.offload_optimizer_device";
  const auto* weights = "deepspeed_config.offload_param_device";
  const auto of_states = given.word_or(states, "none"), of_weights = given.word_or(weights, "none");
  if (of_states == "cpu" || of_states == "nvme") {
    draft.text("plan.offload.optimizer", of_states, {states});
    draft.text("plan.offload.gradients", "cpu", {states}, "where the optimizer runs");
  }
  if (of_weights == "cpu" || of_weights == "nvme")
    draft.text("plan.offload.parameters", of_weights, {weights});
  // DeepSpeed-Chat's switch has states and weights on the host, the latter with stage 3 alone (its
  // get_train_ds_config, from memory).
  const auto* chat = "offload";
  if (!is_switch(job) || !job.yes(chat)) return;
  draft.text("plan.offload.optimizer", "cpu", {chat});
  draft.text("plan.offload.gradients", "cpu", {chat}, "where the optimizer runs");
  if (given.whole_or(stage, 2) == 3) draft.text("plan.offload.parameters", "cpu", {chat});
}

// Returns the name of a DeepSpeed file that ms-swift brings along, such as "zero3_offload"; empty:
// it is none. The releases of 2024 call it "default-zero3" or "zero3-offload" (from memory).
std::string word_of_swift(std::string name) {
  constexpr std::array<std::string_view, 6> words{"zero0", "zero1",         "zero2",
                                                  "zero3", "zero2_offload", "zero3_offload"};
  constexpr std::string_view usual = "default-";
  if (name.starts_with(usual)) name.erase(0, usual.size());
  std::ranges::replace(name, '-', '_');
  return std::ranges::find(words, name) != words.end() ? name : std::string();
}

// Whether the job names a file of DeepSpeed's, and it counts.
bool names_speed_file(const TrainerJob& job) {
  const bool unused = job.framework == "accelerate" && job.word("distributed_type") != "DEEPSPEED";
  const auto* argument = job.given.find(speed_name);
  return !unused && argument != nullptr && !argument->values.empty() &&
         word_of_swift(job.word(speed_name)).empty();
}

// Takes the argument of DeepSpeed's own parser that names a file as the Trainer's, behind the
// switch --deepspeed, so that the file counts; returns whether there is one.
bool take_own_file(std::vector<JobArgument>& arguments, const ArgumentTable& table) {
  const auto* own = table.find(own_speed_name);
  const auto named = std::ranges::find_if(arguments, [&](const JobArgument& one) {
    return !one.off && one.values.size() == 1 && table.find(one.name) == own;
  });
  if (named == arguments.end()) return false;
  named->text = written(*named);
  named->name = speed_name;
  std::rotate(named, named + 1, arguments.end());
  return true;
}

void read_word_of_swift(TrainerJob& job) {
  const auto word = word_of_swift(job.word(speed_name));
  if (word.empty()) return;
  auto& draft = job.draft;
  draft.text("software.base", "deepspeed", {speed_name});
  draft.whole("plan.zero", word[4] - '0', {speed_name});
  if (!word.ends_with("_offload")) return;
  draft.text("plan.offload.optimizer", "cpu", {speed_name});
  draft.text("plan.offload.gradients", "cpu", {speed_name}, "where the optimizer runs");
  if (word[4] == '3') draft.text("plan.offload.parameters", "cpu", {speed_name});
}

void read_launch(TrainerJob& job) {
  const auto& given = job.given;
  if (const auto ranks = given.whole("num_processes"); ranks && *ranks > 0 && !job.gpus) {
    job.draft.whole("cluster.gpus", *ranks, {"num_processes"}, "all ranks");
    job.gpus = ranks;
  }
  constexpr std::array<std::string_view, 4> others{"MEGATRON_LM", "XLA", "TPU", "MULTI_CPU"};
  const auto kind = job.word("distributed_type");
  if (std::ranges::find(others, kind) != others.end())
    given.refuse("distributed_type",
                 kind == "MEGATRON_LM"
                     ? "Megatron-LM runs the layers, whose options are not read here; write a "
                       "scenario with software.base: megatron-core and the degrees of "
                       "megatron_lm_config as plan.tensor, plan.pipeline and plan.sequence_parallel"
                     : "this device is not modelled; expected NO, MULTI_GPU, FSDP or DEEPSPEED");
  if (given.word_or("compute_environment", "LOCAL_MACHINE") == "AMAZON_SAGEMAKER")
    given.refuse("compute_environment", "machines that a service starts are not described here");
}

// Returns the configuration of accelerate that the launcher names and that was not found; empty:
// none.
std::string missing_config(const FrameworkJob& job) {
  for (const auto& argument : job.arguments)
    if (gives(argument, "config_file") && !argument.values.empty())
      return argument.values.front().text.empty() ? written(argument)
                                                  : argument.values.front().text;
  // The launcher keeps it where its keys are not laid over the job's.
  for (const auto& option : job.launcher)
    if (std::string_view(option.name) == "accelerate.config_file" && !option.values.empty())
      return option.values.front().text;
  return {};
}

void want_sharding(Draft& draft, const std::string& file) {
  draft.text("software.base", "fsdp", {}, "PyTorch");
  draft.want("plan.zero", "sharding and precision stand in " + file +
                              ", which is not read here; add --set plan.zero=N");
}

}  // namespace

bool is_llamafactory(const Value& document) {
  return document.find("model_name_or_path") != nullptr &&
         has(document, {"finetuning_type", "template", "cutoff_len", "stage"});
}

bool is_axolotl(const Value& document) {
  return document.find("base_model") != nullptr &&
         has(document, {"micro_batch_size", "sequence_len", "datasets", "adapter"});
}

bool is_accelerate(const Value& document) {
  return document.find("distributed_type") != nullptr &&
         has(document, {"mixed_precision", "num_processes", "fsdp_config", "deepspeed_config",
                        "compute_environment"});
}

bool is_trainer(const Value& document) {
  return !is_llamafactory(document) && document.find("per_device_train_batch_size") != nullptr;
}

JobScenario trainer_scenario(const FrameworkJob& job, std::string_view framework,
                             const std::string& file, std::optional<std::int64_t> gpus,
                             const JobFiles& files, Complaints& complaints) {
  const auto& table = arguments_of(job.table.empty() ? framework : job.table);
  auto arguments = keys_as_flags(job.arguments, table);
  const auto missing_fsdp = add_fsdp(arguments, table, file, files);
  const bool own_speed = take_own_file(arguments, table);
  const Given given(table, arguments, complaints);
  if (const auto* own = given.find(own_speed_name); own != nullptr && own->values.empty())
    given.complain(own_speed_name, "expected a file");
  Draft draft(given, job.over);
  TrainerJob reading{given, draft, framework, gpus, job.program};
  reading.own_speed = own_speed;
  reading.of_swift = job.program == "swift";
  reading.of_trl = job.program == "trl" || job.program == "sft.py";
  const bool hidden = std::ranges::any_of(arguments, [](const JobArgument& argument) {
    return argument.name.empty();  // a word that may hold the arguments that are asked for
  });
  if (hidden) complaints.throw_if_any();
  refuse_what_is_not_trained(reading, complaints);
  complaints.throw_if_any();  // what is missing beside matters to nobody then
  read_launch(reading);
  read_trainer_degrees(reading);
  const bool by_file = names_speed_file(reading);
  if (by_file) read_speed_degrees(reading, files);
  read_trainer_model(reading, files);
  read_trainer_batch(reading);
  read_trainer_precision(reading);
  read_trainer_optimizer(reading);
  read_trainer_kernels(reading);
  if (const auto missing = missing_config(job); !missing.empty())
    want_sharding(draft, missing);
  else if (is_switch(reading) && !given.has("deepspeed_config.zero_stage"))
    want_sharding(draft, "the training script");
  else
    read_trainer_sharding(reading);
  if (!missing_fsdp.empty() && has_fsdp(reading)) want_fsdp(draft, missing_fsdp);
  read_plugin(reading);
  read_word_of_swift(reading);
  if (framework == "axolotl") read_axolotl(reading);
  if (framework == "llamafactory") read_llamafactory(reading);
  complaints.throw_if_any();
  auto scenario = std::move(draft).finished(arguments, file);
  if (by_file) add_speed(scenario, reading, files);
  return scenario;
}

}  // namespace scenarios

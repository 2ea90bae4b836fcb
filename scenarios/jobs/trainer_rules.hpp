// SPDX-License-Identifier: Apache-2.0
// Private to the room: rules of Hugging Face's Trainer, each for a part of a scenario.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/jobs/draft.hpp"

namespace scenarios {

// Facts about a job that several rules need.
struct TrainerJob {
  const Given& given;
  Draft& draft;
  std::string_view framework;
  std::optional<std::int64_t> gpus;
  const std::string& program;  // the script that is started, without folder; or empty
  bool of_swift = false;       // ms-swift's command, which trains adapters unless it is told
  bool of_trl = false;         // TRL's script, whose SFTConfig has defaults of its own
  bool own_speed = false;      // the script gives DeepSpeed its file, not the Trainer
  std::int64_t tensor = 1, context = 1, pipeline = 1;
  bool all_in_bf16 = false;  // weights, gradients and moments
  std::string_view half{};   // of mixed precision: "bf16", "fp16" or neither

  // Whether a switch is given and on; `--bf16` without a value is on.
  bool yes(std::string_view name, bool fallback = false) const;
  // Returns the word of the last argument of that name: "true" for a switch without a value, empty
  // if none is given.
  std::string word(std::string_view name) const;
  // Returns the number of replicas; the number of GPUs must be known.
  std::int64_t replicas() const;
};

// The argument that names DeepSpeed's file, or switches it on.
inline constexpr const char* speed_name = "deepspeed";
// The argument by which DeepSpeed's own parser names the file (deepspeed.add_config_arguments).
inline constexpr const char* own_speed_name = "deepspeed_config";

// Whether it is given without a file, which the training script then writes.
bool is_switch(const TrainerJob& job);
bool has_fsdp(const TrainerJob& job);  // whether FSDP shards it
// Refuses adapters, frozen weights, preferences and pictures.
void refuse_what_is_not_trained(TrainerJob& job, Complaints& complaints);
void read_trainer_model(TrainerJob& job, const JobFiles& files);
// Reads a new model of that kind, under keys that the command gives; returns whether the job has
// one.
bool read_new_model(TrainerJob& job);
void read_trainer_batch(TrainerJob& job);
void read_trainer_precision(TrainerJob& job);
void read_trainer_optimizer(TrainerJob& job);
// Sets eager attention, by the argument of that name, whose softmax takes a kernel for each step
// and computes in fp32 (eager_attention_forward of transformers' models, from memory).
void set_eager_attention(Draft& draft, std::string_view name);
void read_trainer_kernels(TrainerJob& job);
void read_trainer_degrees(TrainerJob& job);
void read_trainer_sharding(TrainerJob& job);
void read_axolotl(TrainerJob& job);
void read_llamafactory(TrainerJob& job);
// Whether LLaMA-Factory has Megatron-LM run the layers, which alone has stages of a pipeline.
bool runs_megatron(const TrainerJob& job);
void read_llamafactory_stages(TrainerJob& job);

// A file that a job names: beside the job, or in a folder above it, where the framework's copy may
// be.
struct NearFile {
  std::string path, text;
};
std::optional<NearFile> near_file(const JobFiles& files, const std::string& name);

// Adds the keys of the file that "fsdp_config" names, or has as JSON, to the arguments of the job
// in `file`; returns the named file if it is missing, or nothing. Throws Error for wrong JSON.
std::string add_fsdp(std::vector<JobArgument>& arguments, const ArgumentTable& table,
                     const std::string& file, const JobFiles& files);

// Asks for what FSDP's keys would say, which stand in a file that is missing.
void want_fsdp(Draft& draft, const std::string& missing);

// Takes the degrees of DeepSpeed's file, by which the batch follows from the ranks.
void read_speed_degrees(TrainerJob& job, const JobFiles& files);

// Lays the plan of DeepSpeed's file, which is looked for beside the job and above it, over the
// scenario, or asks for the ZeRO stage and offloaded states if the file is missing. Throws Error
// with the mistakes of the file, and where it contradicts the job.
void add_speed(JobScenario& scenario, const TrainerJob& job, const JobFiles& files);

}  // namespace scenarios

// SPDX-License-Identifier: Apache-2.0
// Jobs of Megatron-LM as scenarios. Rules of defaults: megatron/training/arguments.py and
// megatron/core/transformer/transformer_config.py @d98e8a64dd.
#pragma once
#include <optional>
#include <string>

#include "scenarios/jobs/draft.hpp"
#include "scenarios/jobs/job.hpp"

namespace scenarios {

// A model whose sizes are known, by the argument that names it. What the job says of its sizes lies
// over them.
struct KnownModel {
  const Value* sizes = nullptr;  // a model of a scenario; null: none is known
  std::string_view from{};
  std::string note{};
};

// Facts about a job that several rules need.
struct MegatronJob {
  const Given& given;
  Draft& draft;
  std::optional<std::int64_t> gpus{};  // started by the launcher; nothing: not known
  bool bert = false;                   // pretrain_bert.py: a bidirectional model
  bool fork = false;                   // Megatron-DeepSpeed
  // The stage of ZeRO that DeepSpeed's engine is asked for; nothing: it stands in a file that is
  // not there.
  std::optional<std::int64_t> engine_stage{};
  std::int64_t layers = 0, heads = 0, hidden = 0;  // 0: not given
  std::int64_t experts = 0;                        // 0: dense
  std::int64_t tensor = 1, pipeline = 1, context = 1, expert = 1;
  std::int64_t chunks = 1;  // virtual stages of a pipeline rank
  bool of_recipe = false;  // the model is a recipe's: sizes that are not given are not the defaults
  // Device memory traffic of Adam's step in the software's profile, bytes per parameter.
  int optimizer_traffic = 46;
  std::string_view no_batch{};  // why the global batch is not known
  KnownModel known{};

  // Returns the known model's value at "key" or "section.key"; null: it has none.
  const Value* known_value(std::string_view path) const;
  // Returns its number there; `fallback`: it has none, or another model lies over the job.
  std::int64_t known_whole(std::string_view path, std::int64_t fallback) const;
  // Whether the job says something of the argument that counts: that it is on, or, over a known
  // model, that it is off.
  bool tells(std::string_view name) const {
    return given.has(name) || (known.sizes != nullptr && given.mentioned(name) != nullptr);
  }
};

// Whether a job of Megatron-LM has switches that releases up to 3.0 alone have. These have neither
// Transformer Engine nor FlashAttention unless it is asked for (from memory).
bool is_megatron_2021(const Given& given);
void read_megatron_model(MegatronJob& job);
// Sets the vocabulary to that of the known model whose tokenizer the argument names; false: it
// names none.
bool set_vocabulary_of(MegatronJob& job, std::string_view name);
void read_megatron_experts(MegatronJob& job);
void read_megatron_training(MegatronJob& job);
void read_megatron_precision(MegatronJob& job);
// Sets which layers stay in bf16 where products are in 8 or 4 bit, and whether gradients of weights
// do, which the delayed recipe alone can: so many layers at either end if the job says nothing of
// them, for `from` names such a recipe.
void read_megatron_bf16(MegatronJob& job, bool delayed, std::int64_t usual, Draft::Names from = {});
void read_megatron_degrees(MegatronJob& job);
void read_megatron_stages(MegatronJob& job);
// Complains of layers that do not fall evenly on stages for which nothing says how many they have.
void check_megatron_stages(const MegatronJob& job);
// Complains of switches beside each other with which Megatron-LM does not start.
void check_megatron_switches(const MegatronJob& job);
void read_megatron_sharding(MegatronJob& job);
void read_megatron_memory(MegatronJob& job);
void read_megatron_kernels(MegatronJob& job);

// DeepSpeed's engine under Megatron-DeepSpeed. Its file decides, whatever flags such as
// --zero-stage say. Returns the stage of ZeRO that it is asked for.
std::optional<std::int64_t> megatron_engine_stage(const MegatronJob& job);
// Whether it trains through BF16_Optimizer, which sums gradients in fp32: bf16 with stage 0, or
// with stage 1 where gradients are not to be summed in another type and nothing is offloaded.
bool takes_bf16_optimizer(const MegatronJob& job);
// Sets the ZeRO stage by which states are divided, and returns it; 0 if nothing says it.
int read_megatron_engine_zero(MegatronJob& job);
// Sets what DeepSpeed's defaults are where its file is not there, and says so.
void read_megatron_engine_defaults(MegatronJob& job);
// Sets what else DeepSpeed's file says, whose keys are among the arguments.
void read_megatron_engine_file(MegatronJob& job);

// A framework that drives Megatron-LM and has arguments of its own.
struct MegatronHost {
  std::string_view table = "megatron";          // argument table, Megatron-LM's or on top of it
  std::string_view software{};                  // profile of the catalog; empty: by the arguments
  void (*add)(MegatronJob&) = nullptr;          // rules of its own arguments, after all others
  bool of_recipe = false;                       // its model is a recipe's
  KnownModel (*model)(const Given&) = nullptr;  // which its arguments name
  bool even_stages = true;                      // it divides layers evenly, or does not start
  // Why the global batch is not known where it is not given.
  std::string_view no_batch =
      "--global-batch-size is not given, so it is micro batch x data-parallel ranks";
  std::optional<std::int64_t> gpus{};  // that are given beside the job; empty: its launcher's
};

// Returns the scenario of the job; mistakes go to the complaints.
JobScenario megatron_scenario(const FrameworkJob& job, const std::string& file,
                              Complaints& complaints, const MegatronHost& host = {});

}  // namespace scenarios

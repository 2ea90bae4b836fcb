// SPDX-License-Identifier: Apache-2.0
#include "scenarios/jobs/megatron.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "scenarios/jobs/launcher.hpp"

namespace scenarios {
namespace {

// Whether the job is pretrain_bert.py, by its name or by a vocabulary of word pieces: one file
// without merges.
bool is_bert(const Given& given, const std::string& program) {
  if (!program.empty()) return program.find("bert") != program.npos;
  const auto tokenizer =
      given.has("--tokenizer-type") ? given.word_or("--tokenizer-type", "") : std::string();
  if (!tokenizer.empty()) return tokenizer.starts_with("BertWordPiece");
  return given.has("--bert-no-binary-head") ||
         (given.has("--vocab-file") && !given.has("--merge-file"));
}

constexpr std::array<const char*, 2> signs_of_2021{"--DDP-impl", "--activations-checkpoint-method"};

// Sets the software: Megatron-LM, or its fork for DeepSpeed.
void set_software(MegatronJob& job) {
  const auto& given = job.given;
  const Draft::Names signs{"--deepspeed",
                           "--zero-stage",
                           "--deepspeed_config",
                           "--no-pipeline-parallel",
                           "--ds-sequence-parallel-size",
                           "--moe-expert-parallel-size",
                           "--deepspeed-activation-checkpointing"};
  job.fork = std::ranges::any_of(signs, [&](std::string_view sign) { return given.has(sign); });
  if (job.fork) job.engine_stage = megatron_engine_stage(job);
  if (!job.fork && is_megatron_2021(given))
    job.draft.text("software.base", "megatron-2021", {signs_of_2021[0], signs_of_2021[1]},
                   "releases up to 3.0 alone have it");
  else if (!job.fork)
    job.draft.text("software.base", "megatron-core", {}, "the framework");
  else
    job.draft.text("software.base",
                   takes_bf16_optimizer(job) ? "megatron-deepspeed-bf16" : "megatron-deepspeed",
                   signs);
}

// Computes the batch that is not given: one microbatch of every replica (Megatron-LM,
// megatron/training/arguments.py).
void read_default_batch(MegatronJob& job) {
  const auto& given = job.given;
  const auto micro = given.whole("--micro-batch-size");
  if (given.has("--global-batch-size") || given.has("--step-batch-size-schedule") || !micro ||
      !job.gpus)
    return;
  const auto replicas =
      std::max<std::int64_t>(1, *job.gpus / (job.tensor * job.pipeline * job.context));
  job.draft.whole("training.global_batch", *micro * replicas, {"--micro-batch-size"},
                  "x data-parallel ranks, as --global-batch-size is not given");
}

// Refuses programs of Megatron-LM that train no model of one stack, or do not train. tasks/main.py,
// with whose name others train, is known by its task (names of programs: from memory).
void refuse_programs(const FrameworkJob& job, Complaints& complaints) {
  constexpr const char *no_training = "it is no training, which the forecast is of",
                       *stacks = "encoder and decoder are two stacks; scenarios have one",
                       *tower = "a vision tower is not modelled",
                       *states = "state-space layers are not modelled";
  constexpr std::pair<std::string_view, const char*> others[]{
      {"inference", no_training},
      {"text_generation", no_training},
      {"preprocess_data", no_training},
      {"convert", no_training},
      {"train_rl", "a step of reinforcement learning generates text before it trains"},
      {"t5", stacks},
      {"retro", "retrieval layers are not modelled"},
      {"vlm", tower},
      {"vision", tower},
      {"mamba", states},
      {"hybrid", states}};
  const std::string_view program = job.program;
  const bool trains = program.starts_with("pretrain_");
  const auto* found = std::ranges::find_if(others, [&](const auto& one) {
    return program.find(one.first) != program.npos && !(trains && one.second == no_training);
  });
  const bool task = program == "main.py" && std::ranges::any_of(job.arguments, [](const auto& one) {
                      return std::string_view(one.name) == "--task";
                    });
  if (found == std::end(others) && !task) return;
  const auto* why = task ? no_training : found->second;
  complaints.add(Place{}, Complaint{{}, job.program + ": " + why, true});
}

// Reads switches that the framework's profile has on and that the job turns off.
void read_refusals_of_profile(MegatronJob& job) {
  const auto is_off = [&](std::string_view name) {
    return job.given.mentioned(name) != nullptr && !job.given.has(name);
  };
  if (is_off("--tp-comm-overlap"))
    job.draft.text("software.tensor_overlap", "async", {"--tp-comm-overlap"});
  if (is_off("--cross-entropy-loss-fusion"))
    job.draft.yes_no("software.fused_cross_entropy", false, {"--cross-entropy-loss-fusion"});
  if (is_off("--grad-reduce-in-bf16"))
    job.draft.text("plan.gradient_precision", "fp32", {"--grad-reduce-in-bf16"});
}

// Complains of sequences that are longer than the positions of the model. Megatron-LM asserts it
// whatever the positions are; a table of learned ones ends there in all frameworks.
void check_length(const MegatronJob& job, const MegatronHost& host) {
  const auto& given = job.given;
  const auto* name = "--max-position-embeddings";
  const auto length =
      given.whole(given.has("--seq-length") ? "--seq-length" : "--encoder-seq-length");
  const auto longest = given.whole(name);
  const bool learned =
      given.word_or("--position-embedding-type", "learned_absolute") == "learned_absolute" &&
      !given.has("--use-rotary-position-embeddings") && !given.has("--no-position-embedding");
  if (!length || !longest || *length <= *longest) return;
  // Values over the job may mend it; another model has other positions.
  if (const auto most = job.draft.holding("model.max_sequence", *longest);
      most == 0 || job.draft.holding("training.sequence_length", *length) <= most)
    return;
  if (host.software.empty() || (learned && !job.of_recipe))
    given.complain(name, "sequences of " + std::to_string(*length) +
                             " tokens are longer than that, with which the framework does not "
                             "start; write at least " +
                             std::to_string(*length));
}

}  // namespace

bool is_megatron_2021(const Given& given) {
  return std::ranges::any_of(signs_of_2021, [&](const char* sign) { return given.has(sign); });
}

const Value* MegatronJob::known_value(std::string_view path) const {
  const auto* value = known.sizes;
  for (std::size_t begin = 0; value != nullptr && begin <= path.size();) {
    const auto end = std::min(path.find('.', begin), path.size());
    value =
        value->kind == Value::Kind::map ? value->find(path.substr(begin, end - begin)) : nullptr;
    begin = end + 1;
  }
  return value;
}

std::int64_t MegatronJob::known_whole(std::string_view path, std::int64_t fallback) const {
  const auto* value = known_value(path);
  if (value == nullptr || value->kind != Value::Kind::scalar) return fallback;
  return draft.holding("model." + std::string(path), std::atoll(value->text.c_str()));
}

JobScenario megatron_scenario(const FrameworkJob& job, const std::string& file,
                              Complaints& complaints, const MegatronHost& host) {
  const auto& table = arguments_of(host.table);
  const Given given(table, job.arguments, complaints);
  refuse_programs(job, complaints);
  complaints.throw_if_any();  // what is missing beside matters to nobody then
  Draft draft(given, job.over);
  MegatronJob reading{given, draft};
  reading.of_recipe = host.of_recipe;
  reading.no_batch = host.no_batch;
  if (host.model != nullptr) reading.known = host.model(given);
  if (const auto launched = launched_gpus(job.launcher)) reading.gpus = launched->gpus;
  if (host.gpus) reading.gpus = host.gpus;
  if (job.over.gpus) reading.gpus = job.over.gpus;
  if (host.software.empty()) {
    set_software(reading);
  } else {
    draft.text("software.base", std::string(host.software), {}, "the framework");
    if (host.software == "nemo" || host.software == "megatron-bridge")
      reading.optimizer_traffic = 36;  // gradients of bf16
  }
  reading.bert = is_bert(given, job.program);
  read_megatron_model(reading);
  read_megatron_experts(reading);
  read_megatron_training(reading);
  check_length(reading, host);
  if (host.software.empty() && !reading.fork) check_megatron_switches(reading);
  read_megatron_degrees(reading);
  if (host.software.empty()) read_default_batch(reading);
  read_megatron_stages(reading);
  read_megatron_sharding(reading);
  read_megatron_memory(reading);
  read_megatron_kernels(reading);
  if (!host.software.empty()) read_refusals_of_profile(reading);
  if (host.add != nullptr) host.add(reading);
  if (reading.known.sizes != nullptr)
    draft.lay_below("model", *reading.known.sizes, {reading.known.from}, reading.known.note);
  if (host.even_stages && !reading.fork) check_megatron_stages(reading);
  auto made = std::move(draft).finished(job.arguments, file);
  made.account.fork = reading.fork;
  return made;
}

}  // namespace scenarios

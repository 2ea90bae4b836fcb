// SPDX-License-Identifier: Apache-2.0
#include "scenarios/jobs/deepspeed.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "scenarios/jobs/launcher.hpp"
#include "units/text.hpp"

namespace scenarios {
namespace {

struct DeepSpeedJob {
  const Given& given;
  Draft& draft;
  std::optional<std::int64_t> gpus;
  std::int64_t tensor = 1, context = 1;

  bool is_auto(std::string_view name) const {
    const auto* argument = given.find(name);
    return argument != nullptr && argument->values.size() == 1 &&
           argument->values.front().text == "auto";
  }
  // Returns the number of a key that is given and not left to the Trainer ("auto").
  std::optional<std::int64_t> whole(std::string_view name) const {
    return given.has(name) && !is_auto(name) ? given.whole(name) : std::nullopt;
  }
  bool yes(std::string_view name) const { return !is_auto(name) && given.yes(name); }
};

constexpr const char *global_name = "train_batch_size",
                     *micro_name = "train_micro_batch_size_per_gpu",
                     *steps_name = "gradient_accumulation_steps";

// Sets the batch: two of its three keys decide the third, with the data-parallel ranks.
void set_batch(DeepSpeedJob& job) {
  auto& draft = job.draft;
  const auto global = job.whole(global_name), micro = job.whole(micro_name),
             steps = job.whole(steps_name);
  const auto ranks =
      job.gpus ? std::optional(std::max<std::int64_t>(1, *job.gpus / (job.tensor * job.context)))
               : std::nullopt;
  const bool by_trainer =
      job.is_auto(global_name) || job.is_auto(micro_name) || job.is_auto(steps_name);
  const std::string who = by_trainer ? "\"auto\" is what the Trainer is told" : "it is not given";
  if (micro)
    draft.whole("plan.micro_batch", *micro, {micro_name});
  else if (global && ranks && !job.is_auto(micro_name))
    draft.whole(
        "plan.micro_batch",
        std::max<std::int64_t>(
            1, *global / product_of({*ranks, std::max<std::int64_t>(1, steps.value_or(1))})),
        {global_name, steps_name}, "train batch / ranks / accumulation steps");
  else
    draft.want("plan.micro_batch",
               who + " (per_device_train_batch_size); add --set plan.micro_batch=N", {micro_name});
  if (global)
    draft.whole("training.global_batch", *global, {global_name});
  else if (micro && ranks && !job.is_auto(steps_name))
    draft.whole("training.global_batch",
                sequences_of(job.given, micro_name, {*micro, steps.value_or(1), *ranks}),
                {micro_name, steps_name}, "micro batch x accumulation steps x ranks");
  else
    draft.want("training.global_batch",
               who +
                   " (micro batch x accumulation steps x ranks); add --set "
                   "training.global_batch=N" +
                   (ranks || by_trainer ? "" : ", or --env WORLD_SIZE=N"),
               {global_name, micro_name});
  if (!global || !micro || !steps || !ranks) return;
  if (const auto product = product_of({*micro, *steps, *ranks}); *global != product)
    job.given.complain(global_name, "it is not micro batch x accumulation steps x ranks, " +
                                        std::to_string(product));
}

constexpr const char *bf16_name = "bf16.enabled", *fp16_name = "fp16.enabled",
                     *cast_name = "torch_autocast.enabled", *cast_type = "torch_autocast.dtype";

// Complains of precisions with which DeepSpeed does not start (both of 16 bit, from memory), or
// that are not read.
void check_precision(const DeepSpeedJob& job) {
  if (job.yes(bf16_name) && job.yes(fp16_name))
    job.given.complain(fp16_name,
                       "bf16 is enabled, too, and DeepSpeed starts with one of both; switch one "
                       "off");
  const auto* apex = "amp.enabled";
  if (job.yes(apex))
    job.given.refuse(apex,
                     "Apex's mixed precision is not read; write fp16.enabled or bf16.enabled");
}

// Reads the type in which autocast computes over weights of fp32; empty: there is none.
std::string autocast_type(const DeepSpeedJob& job) {
  if (!job.yes(cast_name)) return {};
  auto type = job.given.word_or(cast_type, "bfloat16");
  if (constexpr std::string_view module = "torch."; type.starts_with(module))
    type.erase(0, module.size());
  if (type == "bfloat16" || type == "bf16") return "bf16";
  if (type == "float16" || type == "fp16" || type == "half") return "fp16";
  job.given.complain(cast_type, "expected bfloat16 or float16");
  return "bf16";
}

void set_precision(DeepSpeedJob& job) {
  auto& draft = job.draft;
  check_precision(job);
  const bool bf16 = job.yes(bf16_name), fp16 = job.yes(fp16_name);
  const auto cast = autocast_type(job);
  if (!bf16 && !fp16 && cast.empty() && (job.is_auto(bf16_name) || job.is_auto(fp16_name))) {
    draft.want(
        "training.precision",
        "\"auto\" is what the Trainer is told; add --set training.precision=bf16, fp16 or fp32",
        {bf16_name, fp16_name});
    return;
  }
  draft.text("training.precision",
             bf16            ? "bf16"
             : fp16          ? "fp16"
             : !cast.empty() ? cast
                             : "fp32",
             {bf16_name, fp16_name, cast_name, cast_type});
  if (!cast.empty() && !bf16 && !fp16)
    draft.partly(cast_name,
                 "it computes in 16 bit over weights of 32 bit alone; the forecast has weights of "
                 "16 bit beside copies of 32 bit, 2 bytes of a weight more");
  const auto* brains = "bf16.bf16_master_weights_and_grads";
  const auto* halves = "fp16.fp16_master_weights_and_grads";
  if (job.yes(brains)) draft.text("plan.master_weights", "bf16", {brains});
  if (fp16 && job.yes(halves)) draft.text("plan.master_weights", "fp16", {halves});
  read_gradient_type(job.given, draft);
}

void set_optimizer(DeepSpeedJob& job) {
  const auto word = units::lower_case(job.given.word_or("optimizer.type", "AdamW"));
  const auto* mode = "optimizer.params.adam_w_mode";  // on unless it is turned off
  const bool coupled = word == "adam" && job.given.has(mode) &&
                       job.given.word_or(mode, "auto") != "auto" && !job.yes(mode);
  if (coupled) {
    job.draft.text("training.optimizer", "adam", {"optimizer.type", mode});
    return;
  }
  constexpr std::array<std::pair<std::string_view, std::string_view>, 9> words{
      {{"adam", "adamw"},
       {"adafactor", "adafactor"},
       {"adamw", "adamw"},
       {"lamb", "lamb"},
       {"onebitadam", "onebit-adam"},
       {"zerooneadam", "onebit-adam"},
       {"onebitlamb", "lamb"},
       {"muon", "muon"},
       {"sgd", "sgd"}}};
  const auto* known = std::ranges::find(words, word, [](const auto& pair) { return pair.first; });
  if (known == words.end()) {
    job.given.refuse(
        "optimizer.type",
        "it is not modelled; expected Adam, AdamW, Lamb, Adafactor, OneBitAdam, Muon or SGD");
    return;
  }
  job.draft.text("training.optimizer", std::string(known->second), {"optimizer.type"});
  if (word == "onebitlamb")
    job.draft.partly("optimizer.type", "gradients in one bit; the forecast has them whole");
}

constexpr const char *stage_name = "zero_optimization.stage",
                     *old_stage_name = "zero_optimization";  // true: stage 1
constexpr const char* gathered_late = "parameters are gathered behind the optimizer's step";

// Whether parameters have 32 bit: as what lies over the job says, else if its configuration asks
// for no 16-bit format and leaves none to a Trainer.
bool is_in_32_bit(const DeepSpeedJob& job) {
  const auto& over = job.draft.over().values;
  if (const auto told = over.find("training.precision"); told != over.end())
    return told->second == "fp32" || told->second == "tf32";
  const auto asks = [&](const char* key) { return job.yes(key) || job.is_auto(key); };
  return !asks(bf16_name) && !asks(fp16_name) && !job.yes(cast_name);
}

// `in_32_bit`: whether parameters and gradients have 32 bit, not 16.
void set_sharding(DeepSpeedJob& job, std::int64_t stage, bool in_32_bit) {
  const auto& given = job.given;
  auto& draft = job.draft;
  const auto* overlap = "zero_optimization.overlap_comm";
  if (stage > 0)
    draft.yes_no("plan.overlap.data", given.has(overlap) ? job.yes(overlap) : stage == 3, {overlap},
                 given.has(overlap) ? "" : "with stage 3 alone");
  if (stage == 3)
    draft.yes_no("plan.overlap.parameters", !given.has(overlap) || job.yes(overlap), {overlap});
  else if (stage > 0 && given.has(stage_name))
    draft.yes_no("plan.overlap.parameters", false, {stage_name}, gathered_late);
  else if (stage > 0)  // another argument says the stage
    draft.yes_no("plan.overlap.parameters", false, {}, gathered_late);
  const auto bytes = [&](const char* name, std::int64_t each) -> std::optional<std::int64_t> {
    if (!given.has(name) || job.is_auto(name)) return {};
    const auto elements = given.number(name);  // 5e8
    if (stage == 0 || !elements || *elements < 1) return {};
    constexpr double most = 1e15;  // bytes
    if (*elements * static_cast<double>(each) <= most)
      return static_cast<std::int64_t>(*elements) * each;
    given.complain(name,
                   "no buffer in device memory has so many elements; write a number such as 5e8");
    return {};
  };
  // Gradients are reduced as they are accumulated.
  const auto accumulated = given.word_or("data_types.grad_accum_dtype", "");
  const bool told = accumulated == "fp32" || accumulated == "bf16" || accumulated == "fp16";
  const bool wide = told ? accumulated == "fp32" : in_32_bit;
  const auto reduced = bytes("zero_optimization.reduce_bucket_size", wide ? 4 : 2),
             gathered = bytes(stage == 3 ? "zero_optimization.stage3_prefetch_bucket_size"
                                         : "zero_optimization.allgather_bucket_size",
                              in_32_bit ? 4 : 2);
  if (reduced && stage > 0)
    draft.whole("plan.bucket.reduce", *reduced,
                {"zero_optimization.reduce_bucket_size", "data_types.grad_accum_dtype"},
                wide ? "bytes of 32 bit" : "bytes of 16 bit");
  if (gathered && stage > 0)
    draft.whole("plan.bucket.gather", *gathered,
                {stage == 3 ? "zero_optimization.stage3_prefetch_bucket_size"
                            : "zero_optimization.allgather_bucket_size"},
                in_32_bit ? "bytes of 32 bit" : "bytes of 16 bit");
  const auto* group = "zero_optimization.mics_shard_size";
  if (const auto ranks = stage == 3 ? given.number(group).value_or(0) : 0.0; ranks >= 1)
    draft.whole("plan.shard_group", given.whole_or(group, 1), {group});
}

void set_offload(DeepSpeedJob& job, std::int64_t stage) {
  const auto& given = job.given;
  auto& draft = job.draft;
  const auto tier = [&](const char* name) {
    const auto word = given.word_or(name, "none");
    if (word != "none" && word != "cpu" && word != "nvme")
      given.complain(name, "expected none, cpu or nvme");
    return word;
  };
  const auto* states_name = "zero_optimization.offload_optimizer.device";
  const auto* weights_name = "zero_optimization.offload_param.device";
  const auto states = job.yes("zero_optimization.cpu_offload") ? "cpu" : tier(states_name);
  const auto* part = "zero_optimization.offload_optimizer.ratio";
  if (states == "none" || given.number(part).value_or(1) == 1)
    draft.unused(part, states == "none" ? "nothing is offloaded" : "the whole optimizer");
  if (states != "none") {
    draft.text("plan.offload.optimizer", states, {states_name, "zero_optimization.cpu_offload"});
    if (stage >= 2)
      draft.text("plan.offload.gradients", "cpu", {states_name, "zero_optimization.cpu_offload"},
                 "where the optimizer runs");
  }
  if (const auto weights = tier(weights_name); weights != "none")
    draft.text("plan.offload.parameters", weights, {weights_name});
}

void set_degrees(DeepSpeedJob& job) {
  auto& draft = job.draft;
  const auto degrees = deepspeed_degrees(job.given);
  job.tensor = degrees.tensor;
  job.context = degrees.context;
  job.tensor = draft.whole("plan.tensor", job.tensor, {"tensor_parallel.autotp_size"});
  job.context = draft.whole("plan.context", job.context, {"sequence_parallel_size"});
  if (job.context > 1) draft.text("plan.context_method", "ulysses", {"sequence_parallel_size"});
  if (job.tensor > 1)
    draft.yes_no("plan.overlap.tensor", job.yes("tensor_parallel.tp_overlap_comm"),
                 {"tensor_parallel.tp_overlap_comm"});
  if (!job.yes("expert_parallel.enabled")) return;
  draft.whole("plan.expert", job.given.whole_or("expert_parallel.autoep_size", 1),
              {"expert_parallel.autoep_size", "expert_parallel.enabled"});
  draft.whole("plan.expert_tensor",
              job.given.whole_or("expert_parallel.expert_tensor_parallel_size", 1),
              {"expert_parallel.expert_tensor_parallel_size"});
}

// Complains of divided parameters on tensor ranks, with which DeepSpeed does not start (from
// memory: _configure_tensor_parallel_states of runtime/engine.py).
void check_stage(const DeepSpeedJob& job, std::int64_t stage) {
  if (job.tensor > 1 && stage > 2)
    job.given.complain(stage_name,
                       "DeepSpeed does not start with stage 3 beside tensor_parallel.autotp_size; "
                       "write 0, 1 or 2, or leave autotp_size out");
}

}  // namespace

std::string plain_json(std::string_view text) {
  std::string plain(text);
  const auto blank = [&](std::size_t from, std::size_t to) {
    for (; from < to; ++from)
      if (plain[from] != '\n') plain[from] = ' ';
  };
  std::size_t comma = std::string::npos;  // the last one, with nothing but blanks behind it
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const char c = plain[i];
    if (c == '"') {
      for (++i; i < plain.size() && plain[i] != '"'; ++i)
        if (plain[i] == '\\') ++i;
      comma = std::string::npos;
    } else if (c == '#' || (c == '/' && i + 1 < plain.size() && plain[i + 1] == '/')) {
      const auto end = std::min(plain.find('\n', i), plain.size());
      blank(i, end);
      i = end;
    } else if (c == '/' && i + 1 < plain.size() && plain[i + 1] == '*') {
      const auto end = plain.find("*/", i + 2);
      const auto behind = end == plain.npos ? plain.size() : end + 2;
      blank(i, behind);
      i = behind - 1;
    } else if (c == ',') {
      comma = i;
    } else if ((c == '}' || c == ']') && comma != std::string::npos) {
      plain[comma] = ' ';
      comma = std::string::npos;
    } else if (std::isspace(static_cast<unsigned char>(c)) == 0) {
      comma = std::string::npos;
    }
  }
  return plain;
}

DeepSpeedDegrees deepspeed_degrees(const Given& given) {
  const auto degree = [&](const char* name) -> std::int64_t {
    return given.word_or(name, "auto") == "auto" ? 1 : given.degree(name);
  };
  return {degree("tensor_parallel.autotp_size"), degree("sequence_parallel_size")};
}

bool is_deepspeed(const Value& document) {
  constexpr std::array<std::string_view, 4> own{"train_micro_batch_size_per_gpu",
                                                "train_batch_size", "zero_optimization",
                                                "zero_allow_untested_optimizer"};
  return std::ranges::any_of(own, [&](auto key) { return document.find(key) != nullptr; });
}

std::int64_t deepspeed_stage(const Given& given) {
  if (given.has(old_stage_name)) return given.yes(old_stage_name) ? 1 : 0;
  constexpr std::int64_t last = 3;
  const auto stage = given.whole_or(stage_name, 0);
  if (stage > last) given.complain(stage_name, "expected 0, 1, 2 or 3");
  return std::min(stage, last);
}

void read_zero_optimization(const Given& given, Draft& draft, std::int64_t stage) {
  DeepSpeedJob job{given, draft, {}};
  set_sharding(job, stage, false);
  set_offload(job, stage);
}

void read_gradient_type(const Given& given, Draft& draft) {
  const auto* name = "data_types.grad_accum_dtype";
  const auto type = given.word_or(name, "");
  if (type == "fp32" || type == "bf16")
    draft.text("plan.gradient_precision", type, {name});
  else if (type == "fp16")
    draft.text("software.gradient_precision", type, {name});
}

JobScenario deepspeed_scenario(const FrameworkJob& job, const std::string& file,
                               std::optional<std::int64_t> gpus, Complaints& complaints) {
  const Given given(arguments_of("deepspeed"), job.arguments, complaints);
  complaints.throw_if_any();  // what is missing beside matters to nobody then
  Draft draft(given, job.over);
  DeepSpeedJob reading{given, draft, gpus};
  draft.want("model",
             "the model stands in the training script, not in this file; add --set "
             "model.huggingface=config.json or --set model=NAME");
  draft.want("training.sequence_length",
             "the length of sequences stands in the training script; add --set "
             "training.sequence_length=N");
  set_degrees(reading);
  set_batch(reading);
  set_precision(reading);
  set_optimizer(reading);
  const auto stage = deepspeed_stage(given);
  check_stage(reading, draft.whole("plan.zero", stage, {stage_name, old_stage_name}));
  set_sharding(reading, stage, is_in_32_bit(reading));
  set_offload(reading, stage);
  draft.text("software.base", "deepspeed", {}, "the framework");
  return std::move(draft).finished(job.arguments, file);
}

}  // namespace scenarios

// SPDX-License-Identifier: Apache-2.0
#include "scenarios/jobs/trainer_rules.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "scenarios/jobs/keys_as_flags.hpp"
#include "scenarios/jobs/named_model.hpp"
#include "scenarios/jobs/packing_words.hpp"
#include "units/text.hpp"

namespace scenarios {
bool TrainerJob::yes(std::string_view name, bool fallback) const {
  const auto* argument = given.find(name);
  if (argument == nullptr) return fallback;
  if (argument->values.empty()) return true;
  const auto word = given.word(name);
  return word ? yes_or_no(*word).value_or(false) : fallback;
}

std::string TrainerJob::word(std::string_view name) const {
  const auto* argument = given.find(name);
  const bool alone = argument != nullptr && argument->values.empty();
  return alone ? "true" : given.word_or(name, "");
}

std::int64_t TrainerJob::replicas() const {
  return std::max<std::int64_t>(1, *gpus / (tensor * context * pipeline));
}

void read_trainer_model(TrainerJob& job, const JobFiles& files) {
  if (read_new_model(job)) return;
  constexpr const char* config = "config_name";  // of transformers' examples, over the model's name
  const auto name = job.word(config);
  if (const auto found = near_file(files, name)) {
    job.draft.text("model.huggingface", found->path, {config});
    return;
  }
  if (!name.empty()) {
    set_named_model(job.draft, job.given, config);
    return;
  }
  // ms-swift 2 names its models so: "qwen2-7b-instruct" (from memory).
  if (job.of_swift && !job.given.has("model_name_or_path") && job.given.has("model_type"))
    set_named_model(job.draft, job.given, "model_type");
  else if (job.given.mentioned("model_name_or_path") == nullptr)
    job.draft.want("model",
                   "the model stands in the training script, not in this file; add --set "
                   "model.huggingface=config.json or --set model=NAME");
  else
    set_named_model(job.draft, job.given, "model_name_or_path");
}

namespace {

// ms-swift accumulates until a batch has sixteen sequences at least, unless it is told how often
// (swift/llm/argument/train_args.py, from memory).
std::int64_t steps_of_swift(const TrainerJob& job, std::int64_t each) {
  constexpr std::int64_t least = 16;
  if (!job.of_swift || !job.gpus) return 1;
  const auto round = each * job.replicas();
  return std::max<std::int64_t>(1, (least + round - 1) / std::max<std::int64_t>(1, round));
}

}  // namespace

namespace {

// LLaMA-Factory's way to pack, which packs without `packing`, too.
constexpr const char* neat_name = "neat_packing";

bool packs_neatly(const TrainerJob& job) {
  return job.framework == "llamafactory" && job.yes(neat_name);
}

// Whether a kernel of FlashAttention is asked for, which is told where the texts of a sequence
// begin.
bool knows_texts(const TrainerJob& job) {
  const auto word = units::lower_case(job.word("attn_implementation"));
  if (word.find("flash") != word.npos || word.starts_with("fa") || word.starts_with("flex"))
    return true;
  constexpr std::array<const char*, 3> kernels{"flash_attention", "flex_attention",
                                               "xformers_attention"};
  return job.framework == "axolotl" &&
         std::ranges::any_of(kernels, [&](const char* name) { return job.yes(name); });
}

// Says where texts that are packed into one sequence do not attend to each other: with axolotl's
// and TRL's packs in these kernels, with ms-swift's, which takes no others (from memory).
void note_packing(TrainerJob& job) {
  if (packs_neatly(job)) return job.draft.partly(neat_name, packed_texts);
  const bool whole = job.word("packing_strategy") == "wrapped";
  const bool knows =
      job.of_swift || ((job.framework == "axolotl" || (job.of_trl && !whole)) && knows_texts(job));
  if (job.yes("packing") && knows) job.draft.partly("packing", packed_texts);
}

}  // namespace

void read_trainer_batch(TrainerJob& job) {
  const auto& given = job.given;
  auto& draft = job.draft;
  constexpr const char *length = "max_length", *steps = "gradient_accumulation_steps",
                       *all = "batch_size";
  // ms-swift 2 calls the device's batch so (from memory); axolotl's is that of all its steps.
  const bool short_name = job.of_swift && !given.has("per_device_train_batch_size");
  const auto* micro = short_name ? all : "per_device_train_batch_size";
  const std::int64_t usual = job.framework == "llamafactory" ? 2048
                             : job.framework == "axolotl"    ? 512
                             : job.of_trl                    ? 1024
                                                             : 0;
  if (given.has(length) || usual > 0)
    draft.whole("training.sequence_length", given.whole_or(length, usual), {length});
  else
    draft.want("training.sequence_length",
               "the length of sequences stands in the training script; add --set "
               "training.sequence_length=N");
  const bool padded = job.framework == "axolotl" && job.yes("pad_to_sequence_len");
  // run_clm.py joins all texts and cuts them into blocks.
  const auto spelled = given.has(length) ? std::string_view(given.find(length)->name) : "";
  const bool joined = spelled.ends_with("block_size");
  if (!job.yes("packing") && !packs_neatly(job) && !padded && !joined && given.has(length))
    draft.partly(length, unpacked_texts);
  const bool of_script = job.framework == "accelerate" && !given.has(micro);
  const auto each = given.whole_or(micro, job.framework == "axolotl" || job.of_swift ? 1 : 8);
  if (of_script) {
    for (const auto* key : {"plan.micro_batch", "training.global_batch"})
      draft.want(key,
                 std::string("the batch stands in the training script; add --set ") + key + "=N");
    return;
  }
  draft.whole("plan.micro_batch", each, {micro});
  const auto global = job.of_swift ? 0 : given.whole_or(all, 0);
  const auto accumulated = given.whole_or(steps, steps_of_swift(job, each));
  if (job.gpus)
    draft.whole("training.global_batch",
                each *
                    (given.has(steps) || global == 0
                         ? accumulated
                         : std::max<std::int64_t>(1, global / std::max<std::int64_t>(1, each))) *
                    job.replicas(),
                {micro, steps, all}, "x data-parallel ranks");
  else
    draft.want("training.global_batch",
               "it is " + std::to_string(each * accumulated) +
                   " x data-parallel ranks, and the number of GPUs is not known; add --env "
                   "WORLD_SIZE=N, or --set training.global_batch=N",
               {steps, micro});
}

bool has_fsdp(const TrainerJob& job) {
  const auto kind = units::lower_case(job.word("distributed_type"));
  const auto* words = job.given.find("fsdp");
  const bool listed = words != nullptr && !words->values.empty() &&
                      yes_or_no(words->values.front().text) != false &&
                      !words->values.front().text.empty();
  if (!kind.empty()) return kind == "fsdp";
  // The Trainer's own arguments have it read fsdp_config beside fsdp alone (training_args.py).
  const bool asked_by_list = job.framework == "trainer" || job.framework == "llamafactory";
  return listed ||
         (!asked_by_list && (job.given.has("fsdp_version") || job.given.has("fsdp_config.any")));
}

bool is_switch(const TrainerJob& job) {
  const auto* argument = job.given.find(speed_name);
  return argument != nullptr && argument->values.empty();
}

namespace {

bool has_deepspeed(const TrainerJob& job) {
  return units::lower_case(job.word("distributed_type")) == "deepspeed" ||
         job.given.has("deepspeed") || job.given.has("deepspeed_config.zero_stage");
}

constexpr const char* states_in_bf16 = "weights, gradients and moments are in bf16";

}  // namespace

namespace {

// Reads how 8-bit products are scaled. torchao scales tensors by what they hold unless it is told:
// axolotl leaves it at that, LLaMA-Factory asks it for rows (from memory).
void read_fp8_recipe(TrainerJob& job) {
  if (job.framework == "axolotl") {
    job.draft.text("training.fp8_recipe", "tensorwise", {"fp8"}, "torchao's, by what tensors hold");
    return;
  }
  const auto* name = job.framework == "llamafactory" ? "fp8_backend" : "fp8_config.backend";
  if (job.given.table().find(name) == nullptr) return;
  const auto by = units::lower_case(job.word(name));
  if (job.framework == "llamafactory" && (by.empty() || by == "auto" || by == "torchao"))
    job.draft.text("training.fp8_recipe", "rowwise", {name}, "torchao, by rows");
  else if (by == "ao")
    job.draft.text("training.fp8_recipe", "tensorwise", {name}, "torchao's, by what tensors hold");
}

}  // namespace

void read_trainer_precision(TrainerJob& job) {
  auto& draft = job.draft;
  const auto mixed = units::lower_case(job.word("mixed_precision"));
  const auto words = units::lower_case(job.word("bf16"));
  if (job.yes("bf16") && job.yes("fp16"))
    job.given.refuse("fp16", "bf16 is asked for, too; a job takes one of them");
  const bool fp8 = job.yes("fp8") || mixed == "fp8";
  // Scripts of DeepSpeed-Chat say their own type; the Trainer's arguments are none of theirs.
  const bool chat = is_switch(job) && job.given.has("deepspeed_config.zero_stage");
  const auto type = chat ? units::lower_case(job.given.word_or("dtype", "fp16")) : "";
  // ms-swift trains in the type that weights are loaded in.
  const auto loaded =
      job.of_swift ? units::lower_case(job.given.word_or("torch_dtype", "bfloat16")) : "";
  const bool bf16 = job.yes("bf16") || loaded == "bfloat16" || words == "auto" || words == "full" ||
                    mixed == "bf16" || job.yes("pure_bf16") || type == "bf16" ||
                    type == "bfloat16" ||
                    ((job.framework == "axolotl" || job.of_trl) &&
                     job.given.mentioned("bf16") == nullptr && !job.yes("fp16"));
  const bool fp16 = job.yes("fp16") || mixed == "fp16" || loaded == "float16" || type == "fp16" ||
                    type == "float16";
  if (fp8) read_fp8_recipe(job);
  draft.text(
      "training.precision",
      fp8    ? "fp8"
      : bf16 ? "bf16"
      : fp16 ? "fp16"
             : "fp32",
      {"bf16", "fp16", "fp8", "mixed_precision", "pure_bf16", chat ? "dtype" : "torch_dtype"},
      chat ? "DeepSpeed-Chat's default is fp16" : "");
  if (!fp8 && !bf16 && !fp16 && job.yes("tf32")) draft.text("training.precision", "tf32", {"tf32"});
  job.half = fp8 || bf16 ? "bf16" : fp16 ? "fp16" : "";
  // axolotl and ms-swift load weights in that type; only DeepSpeed and FSDP keep others.
  const bool loads = (job.framework == "axolotl" || loaded == "bfloat16") && !has_fsdp(job);
  const bool asks = job.yes("pure_bf16") || words == "full";
  job.all_in_bf16 = !fp8 && bf16 && (asks || loads) && !has_deepspeed(job);
  if (job.all_in_bf16)
    draft.text("plan.gradient_precision", "bf16", {"pure_bf16", "bf16", "torch_dtype"},
               states_in_bf16);
}

namespace {

// Reads Adam's moments of one byte each; their scales, one for hundreds of values, are left out.
// FSDP keeps the rest of fp32 weights beside those that it computes with, DeepSpeed a copy of all;
// training of 32 bit has no such copy, and counts what is beyond one. Traffic is that of the
// framework's profile without 3 bytes of each moment, which is read and written.
void read_small_moments(TrainerJob& job) {
  const bool copied = has_deepspeed(job) || job.half.empty();
  const int moments = 2, rest = job.all_in_bf16 ? 0 : copied ? 4 : 2;
  const int traffic = job.all_in_bf16 ? 10 : has_deepspeed(job) ? 46 - 12 : 40 - 12;
  const Draft::Names from{"optim"};
  job.draft.whole("software.optimizer_bytes", rest + moments, from, "two moments of 8 bit");
  job.draft.whole("software.optimizer_traffic", traffic, from, "two moments of 8 bit");
}

// Returns what the forecast leaves out of the optimizer of that name; empty: nothing.
std::string left_out_of(const std::string& word, bool small_moments, const TrainerJob& job) {
  const auto is = [&](std::string_view part) { return word.find(part) != word.npos; };
  std::string left;
  if (small_moments && !is("torch"))  // the Trainer has bitsandbytes except embeddings
    left = "moments of the embedding stay in fp32; the forecast has them in 8 bit, too";
  else if (!small_moments && (is("8bit") || is("4bit")))
    left = std::string("moments in few bits; the forecast has them in ") +
           (job.all_in_bf16 ? "bf16" : "fp32");
  if (is("paged"))
    left += std::string(left.empty() ? "" : "; ") +
            "moments move to the host where memory runs out; not in the forecast";
  return left;
}

}  // namespace

void read_trainer_optimizer(TrainerJob& job) {
  const auto& given = job.given;
  const auto word = units::lower_case(job.word("optim"));
  const auto is = [&](std::string_view part) { return word.find(part) != word.npos; };
  const char* optimizer = nullptr;
  if (is("adafactor") || (word.empty() && job.yes("adafactor")))
    optimizer = "adafactor";
  else if (word.empty() || is("adamw") || word == "adam")
    optimizer = "adamw";
  else if (is("muon"))
    optimizer = "muon";
  else if (is("sgd"))
    optimizer = "sgd";
  if (is("galore") || is("apollo") || is("lomo") || optimizer == nullptr) {
    given.refuse("optim",
                 "this optimizer is not modelled; expected adamw_torch, adafactor, muon or sgd");
    return;
  }
  if (job.yes("use_muon")) optimizer = "muon";
  constexpr const char* plugin = "optimizer";  // of ms-swift's
  if (given.has(plugin) && !job.of_swift)
    job.draft.partly(plugin, "of the training script, which is not read");
  const auto by_plugin = job.of_swift ? units::lower_case(job.word(plugin)) : std::string();
  if (!by_plugin.empty() && by_plugin != "muon" && by_plugin != "default")
    return given.refuse(plugin, "this optimizer is not modelled; expected muon");
  if (by_plugin == "muon") optimizer = "muon";
  job.draft.text("training.optimizer", optimizer, {"optim", "adafactor", "use_muon", plugin});
  const std::string_view chosen = optimizer;
  const bool small_moments = is("8bit") && chosen == "adamw";
  if (small_moments) {
    read_small_moments(job);
  } else if (job.all_in_bf16) {
    const int moments = chosen == "adafactor" ? 0 : chosen == "adamw" ? 2 : 1;
    const Draft::Names from{"optim", "pure_bf16", "bf16"};
    job.draft.whole("software.optimizer_bytes", 2 * moments, from, states_in_bf16);
    // Weights and moments are read and written, gradients read.
    job.draft.whole("software.optimizer_traffic", 2 * (2 + 2 * moments) + 2, from,
                    "bytes of 16 bit");
  }
  // torch.optim.AdamW updates all tensors at once where nobody asks for its fused kernel: the roots
  // of all second moments stand beside them (torch/optim/adamw.py, _multi_tensor_adamw; from
  // memory). DeepSpeed updates one flat tensor.
  if (word == "adamw_torch" && chosen == "adamw" && !has_deepspeed(job))
    job.draft.whole("software.stepping_bytes", job.all_in_bf16 ? 2 : 4, {"optim"},
                    "the roots of the second moments");
  if (auto left = left_out_of(word, small_moments, job); !left.empty())
    job.draft.partly("optim", std::move(left));
}

namespace {

// The Trainer does not start where both it and FSDP recompute (trainer.py,
// create_accelerator_and_postprocess); FSDP's switch may stand in accelerate's file.
void check_recomputation(const TrainerJob& job) {
  const auto* of_fsdp = "fsdp_config.activation_checkpointing";
  const bool both = job.framework == "trainer" && !job.of_swift && has_fsdp(job) &&
                    job.yes("gradient_checkpointing") && job.yes(of_fsdp);
  if (both && !job.draft.over().values.contains("plan.recompute"))
    job.given.complain("gradient_checkpointing",
                       "FSDP recomputes, too (" + job.given.text_of(of_fsdp) +
                           "), and the Trainer does not start with both; leave this one out, which "
                           "would gather parameters once more");
}

}  // namespace

void set_eager_attention(Draft& draft, std::string_view name) {
  draft.text("software.attention", "unfused", {name});
  draft.yes_no("software.fused_softmax", false, {name});
  draft.yes_no("software.softmax_in_fp32", true, {name});
}

void read_trainer_kernels(TrainerJob& job) {
  auto& draft = job.draft;
  note_packing(job);
  auto word = units::lower_case(job.word("attn_implementation"));
  constexpr std::array<std::pair<std::string_view, std::string_view>, 12> words{
      {{"flash_attention_2", "flash"},
       {"flash_attn", "flash"},
       {"flash_attn_2", "flash"},
       {"fa2", "flash"},
       {"kernels-community/flash-attn2", "flash"},
       {"flash_attention_3", "flash3"},
       {"fa3", "flash3"},
       {"sdpa", "fused-from-hopper"},
       {"auto", "fused-from-hopper"},
       {"eager", "unfused"},
       {"disabled", "unfused"},
       {"flex_attention", "flash"}}};
  const auto* known = std::ranges::find(words, word, [](const auto& pair) { return pair.first; });
  if (known != words.end() && known->second == "unfused")
    set_eager_attention(draft, "attn_implementation");
  else if (known != words.end())
    draft.text("software.attention", std::string(known->second), {"attn_implementation"});
  else if (!word.empty())
    draft.partly("attn_implementation", "another kernel; the forecast has FlashAttention");
  if (job.yes("torch_compile")) draft.yes_no("software.compile", true, {"torch_compile"});
  if (job.yes("use_liger_kernel")) {
    draft.yes_no("software.fused_cross_entropy", true, {"use_liger_kernel"});
    draft.text("software.loss_chunks", "liger", {"use_liger_kernel"},
               "head and loss in one, part by part");
    draft.yes_no("software.fused_norm", true, {"use_liger_kernel"});
    draft.yes_no("software.fused_rotary", true, {"use_liger_kernel"});
    draft.yes_no("software.fused_bias_activation", true, {"use_liger_kernel"});
  }
  check_recomputation(job);
  const bool of_fsdp = has_fsdp(job) && job.yes("fsdp_config.activation_checkpointing");
  const bool always = (job.framework == "llamafactory" && !runs_megatron(job) &&
                       !job.yes("disable_gradient_checkpointing")) ||
                      ((job.of_swift || job.of_trl) && !job.given.has("gradient_checkpointing"));
  const auto kept = units::lower_case(job.word("gradient_checkpointing"));
  // axolotl keeps the inputs of layers on the host, by either key.
  const auto* own = "activation_offloading";
  const auto moved = job.framework == "axolotl" ? units::lower_case(job.word(own)) : std::string();
  const bool offloads = kept == "offload";
  const bool moves = offloads || moved == "legacy" || yes_or_no(moved).value_or(false);
  if (job.yes("gradient_checkpointing") || kept == "unsloth" || offloads || of_fsdp || always)
    draft.text("plan.recompute", "full",
               {"gradient_checkpointing", "fsdp_config.activation_checkpointing",
                "disable_gradient_checkpointing"},
               always ? "unless it is disabled" : "every layer");
  if (moves) draft.text("plan.offload.activations", "cpu", {"gradient_checkpointing", own});
  if (moved == "disk")
    job.given.refuse(own, "activations on a disk are not modelled; expected true or false");
  if (kept == "offload_disk")
    job.given.refuse(
        "gradient_checkpointing",
        "inputs of layers on a disk are not modelled; expected true, false or offload");
}

void read_trainer_degrees(TrainerJob& job) {
  const auto& given = job.given;
  auto& draft = job.draft;
  const auto* degree = given.has("deepspeed_autotp_size") ? "deepspeed_autotp_size"  // ms-swift's
                                                          : "tensor_parallel_size";
  job.tensor = given.degree(degree);
  const auto ring = given.degree("context_parallel_size");
  const auto parts = given.degree("sequence_parallel_size");
  job.context = ring * parts;
  job.tensor = draft.whole("plan.tensor", job.tensor, {degree});
  job.context =
      draft.whole("plan.context", job.context, {"context_parallel_size", "sequence_parallel_size"});
  if (job.context > 1) {
    draft.text("plan.context_method", parts > 1 ? "ulysses" : "ring",
               {"context_parallel_size", "sequence_parallel_size"});
  }
  if (job.context > 1 && ring > 1 &&
      units::lower_case(job.word("context_parallel_method")) == "allgather")
    draft.text("plan.context_method", "all-gather", {"context_parallel_method"});
  if (const auto expert = given.degree("expert_parallel_size"); expert > 1)
    draft.whole("plan.expert", expert, {"expert_parallel_size"});
  if (job.framework == "llamafactory") read_llamafactory_stages(job);
}

}  // namespace scenarios

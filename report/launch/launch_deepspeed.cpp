// SPDX-License-Identifier: Apache-2.0
// A plan as DeepSpeed's ds_config (deepspeed/runtime/config.py and zero/config.py). The training
// script decides the model, its recomputation, and its partition into a pipeline.
#include <fmt/format.h>

#include <algorithm>

#include "report/document.hpp"
#include "report/launch/launch_constants.hpp"
#include "report/launch/launch_model_config.hpp"
#include "report/launch/launch_parts.hpp"
#include "report/words.hpp"
#include "strategies/checkpoints.hpp"
#include "strategies/lowering/lower.hpp"
#include "units/text.hpp"

namespace report {
namespace {

using forecast::Scenario;
using strategies::Optimizer;
using strategies::Plan;
using strategies::ScheduleKind;
using Tier = strategies::Offload::Tier;
using units::Precision;

Document enabled() { return Object().put("enabled", true).take(); }

// Whether the Trainer of Hugging Face's transformers can run it, whose models have no pipeline.
bool trainer_runs(const Scenario& s) { return s.plan.pipeline == 1; }

// Whether every layer keeps its input alone, as the Trainer can do it.
bool checkpoints_layers(const Scenario& s, const Stages& stages) {
  return trainer_runs(s) && stages.all({strategies::Drop::everything}) &&
         !strategies::has_rows(s.plan);
}

// Returns the options of DeepSpeed's launcher, which refuses several nodes without a file that
// names them (from memory: launcher/runner.py).
std::string launcher_words(const Machines& machines) {
  return fmt::format("{} --num_nodes {} --num_gpus {}",
                     machines.nodes > 1 ? " --hostfile hostfile" : "", machines.nodes,
                     machines.per_node);
}

// Returns a script that passes model, length of sequences and batch as arguments to transformers'
// example of pretraining. The example wants a tokenizer and text. The placeholder is a tokenizer of
// 384 tokens, fewer than models have, since the example widens the embedding to the tokenizer's
// vocabulary, and one that takes sequences of any length (from memory).
std::string train_script(const Scenario& s, const Stages& stages) {
  const auto machines = machines_of(s.cluster);
  const auto precision = s.training.precision;
  const char* type = is_wide(precision)             ? ""
                     : precision == Precision::fp16 ? "  --fp16 \\\n"
                                                    : "  --bf16 \\\n";
  return fmt::format(
      "# DeepSpeed @edaa72212, run_clm.py of transformers: {}\n"
      "# Data, tokenizer, learning rate and length of the run are no part of a plan: replace "
      "them.\n"
      "# run_clm.py cuts sequences to the length that the tokenizer's model_max_length allows.\n"
      "{}deepspeed{} run_clm.py \\\n"
      "  --deepspeed ds_config.json \\\n"
      "  --config_name config.json \\\n"
      "  --tokenizer_name google/byt5-small \\\n"
      "  --dataset_name Salesforce/wikitext \\\n"
      "  --dataset_config_name wikitext-103-raw-v1 \\\n"
      "  --block_size {} \\\n"
      "  --per_device_train_batch_size {} \\\n"
      "  --gradient_accumulation_steps {} \\\n"
      "{}{}  --learning_rate 1e-4 \\\n"
      "  --max_steps 50 \\\n"
      "  --do_train \\\n"
      "  --output_dir out\n",
      headline(s),
      machines.nodes > 1
          ? fmt::format("# The file hostfile must name the {} nodes, one a line: NODE slots={}\n",
                        machines.nodes, machines.per_node)
          : "",
      launcher_words(machines), s.training.sequence_length, s.plan.micro_batch,
      strategies::microbatches_of(s.plan, s.training), type,
      checkpoints_layers(s, stages) ? "  --gradient_checkpointing \\\n" : "");
}

// Adds the files that give the model, the length of sequences and the launcher.
void add_training(const Scenario& s, const Stages& stages, Launch& out) {
  const auto machines = machines_of(s.cluster);
  const auto model = json_string(s.model.name.empty() ? "unnamed" : s.model.name);
  auto config = model_config(s.model);
  const bool runs = trainer_runs(s) && config;
  const auto tell = [&](const char* key, std::string sentence) {
    if (runs)
      out.elsewhere.push_back(std::move(sentence));
    else
      out.not_expressed.push_back({key, std::move(sentence)});
  };
  tell("cluster.gpus",
       fmt::format(
           "{} GPUs: the launcher's: deepspeed{} {}", s.cluster.gpus, launcher_words(machines),
           runs ? "run_clm.py --deepspeed THIS_FILE" : "TRAIN.py --deepspeed_config THIS_FILE"));
  tell("model", fmt::format("model {} and sequence_length {} tokens: the training script's; the "
                            "learning rate is no part of a plan",
                            model, s.training.sequence_length));
  if (config && constants_of(s.model) == nullptr)
    out.undecided.push_back(
        "base and scaling of rotary positions, epsilon of norms: those of the model's class in "
        "transformers hold");
  if (!config)
    out.not_expressed.push_back(
        {"model", fmt::format("model {}: no class of Hugging Face's transformers is known to have "
                              "its parts; no config.json is written",
                              model)});
  else
    out.beside.push_back({"config.json", std::move(*config)});
  if (!runs) return;
  out.beside.push_back({"train.sh", train_script(s, stages)});
}

// --- optimizer

const char* type_of(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::adamw:
    case Optimizer::sophia:
      return "AdamW";
    case Optimizer::adam:
      return "Adam";  // AdamW, but with adam_w_mode off (from memory: runtime/engine.py)
    case Optimizer::lamb:
      return "Lamb";
    case Optimizer::adafactor:
      return "Adafactor";
    case Optimizer::muon:
      return "Muon";
    case Optimizer::sgd:
      return "SGD";
    case Optimizer::onebit_adam:
      return "OneBitAdam";
  }
  return "AdamW";
}

// Whether DeepSpeed shards the states of this optimizer only where it is told that it may: it has
// tried those of Adam and Muon (from memory: ZERO_SUPPORTED_OPTIMIZERS of runtime/zero/utils.py).
bool is_untested(Optimizer optimizer) {
  using enum Optimizer;
  return optimizer == sgd || optimizer == lamb || optimizer == adafactor;
}

// The compressed variant of an optimizer, where it has one.
const char* onebit_of(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::adamw:
    case Optimizer::adam:
    case Optimizer::onebit_adam:
      return "OneBitAdam";
    case Optimizer::lamb:
      return "OneBitLamb";
    default:
      return nullptr;
  }
}

bool compresses(const Scenario& s) {
  using enum strategies::GradientCompression;
  const auto optimizer = s.training.optimizer;
  return optimizer == Optimizer::onebit_adam ||
         (s.plan.gradient_compression == onebit && onebit_of(optimizer));
}

void put_optimizer(const Scenario& s, Object& config, LostKeys& lost) {
  using enum strategies::GradientCompression;
  const auto optimizer = s.training.optimizer;
  const auto compression = s.plan.gradient_compression;
  Object parameters;
  parameters.number("lr", 1e-4);
  if (compresses(s)) parameters.put("freeze_step", 1000).put("comm_backend_name", "nccl");
  if (!compresses(s) && optimizer == Optimizer::adam) parameters.put("adam_w_mode", false);
  config.put("optimizer",
             Object()
                 .put("type", compresses(s) ? onebit_of(optimizer) : type_of(optimizer))
                 .put("params", parameters.take())
                 .take());
  if (optimizer == Optimizer::sophia)
    lost.push_back({"training.optimizer",
                    "training.optimizer sophia: neither DeepSpeed nor PyTorch has it; AdamW is "
                    "written instead"});
  if (compression == onebit && compresses(s) && optimizer != Optimizer::onebit_adam)
    lost.push_back({"training.optimizer",
                    fmt::format("training.optimizer {}: DeepSpeed compresses to one bit in an "
                                "optimizer of its own, {}, which is written instead",
                                word(optimizer), onebit_of(optimizer))});
  if (compression == fp8 || (compression == onebit && !compresses(s)))
    lost.push_back(
        {"gradient_compression",
         fmt::format("gradient_compression {}: DeepSpeed compresses to one bit in OneBitAdam and "
                     "OneBitLamb only; gradients are reduced uncompressed",
                     word(compression))});
}

// Stages 2 and 3 do not run in a pipeline, 3 does not run on tensor ranks (from memory:
// _configure_tensor_parallel_states of runtime/engine.py), none runs with a compressed optimizer,
// and offloading needs one.
int stage_of(const Scenario& s) {
  if (compresses(s)) return 0;
  const int most = s.plan.pipeline > 1 ? 1 : s.plan.tensor > 1 ? 2 : 3;
  return std::max(std::min(s.plan.zero, most), s.plan.offload.optimizer != Tier::none ? 1 : 0);
}

void lose_stage(const Scenario& s, LostKeys& lost) {
  const auto stage = stage_of(s), wanted = s.plan.zero;
  if (stage == wanted) return;
  const char* why = compresses(s)         ? "does not shard with 1-bit optimizers"
                    : stage > wanted      ? "offloads the states of a sharded optimizer"
                    : s.plan.pipeline > 1 ? "shards no more than optimizer states in a pipeline"
                                          : "does not shard parameters of tensor ranks";
  lost.push_back(
      {"zero", fmt::format("zero {}: DeepSpeed {}; {} is written instead", wanted, why, stage)});
}

// --- precision

// Returns the precision in which gradients are summed. Under bf16 gradients of 16 bit are bf16:
// DeepSpeed has no fp16 beside it. Without ZeRO parameters of fp16 and fp32 have gradients of their
// own precision (from memory: _do_optimizer_sanity_check of runtime/engine.py).
Precision accumulated_in(const Scenario& s, LostKeys& lost) {
  using enum Precision;
  const auto compute = is_wide(s.training.precision)  ? fp32
                       : s.training.precision == fp16 ? fp16
                                                      : bf16;
  const auto asked = gradient_precision_of(s);
  const auto known = asked == fp16 && compute == bf16 ? bf16 : asked;
  if (compute == bf16 || stage_of(s) > 0 || known == compute) return known;
  lost.push_back(
      {"gradient_precision",
       fmt::format("gradient_precision {}: without ZeRO DeepSpeed sums gradients of {} parameters "
                   "in {}, which is written instead",
                   units::to_text(known), units::to_text(compute), units::to_text(compute))});
  return compute;
}

void put_precision(const Scenario& s, Object& config, LostKeys& lost) {
  using enum Precision;
  const auto precision = s.training.precision;
  if (precision == fp16)
    config.put("fp16", enabled());
  else if (precision != fp32 && precision != tf32)
    config.put("bf16", enabled());
  if (precision == tf32)
    lost.push_back({"training.precision",
                    "training.precision tf32: PyTorch's setting, not a key; fp32 is written"});
  if (precision == fp8 || precision == mxfp8 || precision == nvfp4)
    lost.push_back({"training.precision",
                    fmt::format("training.precision {}{}: DeepSpeed leaves products below 16 bit "
                                "to the model's code (Transformer Engine); bf16 is written",
                                units::to_text(precision),
                                precision == fp8 ? fmt::format(" with fp8_recipe {}",
                                                               word(s.training.fp8_recipe))
                                                 : "")});
  const auto gradients = units::to_text(accumulated_in(s, lost));
  config.put("communication_data_type", gradients)
      .put("data_types", Object().put("grad_accum_dtype", gradients).take());
}

// --- ZeRO

Document device_word(Tier tier) {
  Object object;
  object.put("device", word(tier));
  if (tier == Tier::nvme) object.put("nvme_path", "/local_nvme");
  return object.put("pin_memory", true).take();
}

void put_state_offload(const Scenario& s, Object& zero, LostKeys& lost) {
  const auto& offload = s.plan.offload;
  const auto stage = stage_of(s);
  if (offload.optimizer != Tier::none && stage > 0) {
    const bool drives = offload.optimizer == Tier::nvme && stage == 3;
    zero.put("offload_optimizer", device_word(drives ? Tier::nvme : Tier::cpu));
    if (offload.optimizer == Tier::nvme && !drives)
      lost.push_back({"offload.optimizer",
                      "offload.optimizer nvme: DeepSpeed needs zero 3 for it; host memory is "
                      "written instead"});
    if (stage >= 2 && !offload.gradients)
      lost.push_back({"offload.gradients",
                      "offload.gradients none: DeepSpeed moves gradients to the host with the "
                      "optimizer's states"});
  } else if (offload.optimizer != Tier::none) {
    lost.push_back(
        {"offload.optimizer",
         fmt::format(
             "offload.optimizer {}: DeepSpeed's 1-bit optimizers keep their states on the device",
             word(offload.optimizer))});
  }
  if (offload.gradients && (offload.optimizer == Tier::none || stage < 2))
    lost.push_back({"offload.gradients",
                    "offload.gradients cpu: DeepSpeed moves gradients to the host with the "
                    "optimizer's states under zero 2 and 3 only; here they stay on the device"});
  if (offload.parameters == Tier::none) return;
  if (stage == 3)
    zero.put("offload_param", device_word(offload.parameters));
  else
    lost.push_back(
        {"offload.parameters",
         fmt::format(
             "offload.parameters {}: DeepSpeed needs zero 3 for it; here they stay on the device",
             word(offload.parameters))});
}

std::int64_t gathered_elements(const Scenario& s) {
  return static_cast<std::int64_t>(strategies::parameter_bucket(s.plan, s.training, s.software));
}

// Parameters that no one frees are not gathered again: bounds beyond all of them.
void put_stage_3(const Scenario& s, Object& zero, LostKeys& lost) {
  const auto& plan = s.plan;
  if (plan.gather_bucket) zero.put("stage3_prefetch_bucket_size", gathered_elements(s));
  if (!plan.reshard_after_forward) {
    const auto all = model::parameters(s.model);
    zero.put("stage3_max_live_parameters", all).put("stage3_max_reuse_distance", all);
  }
  if (shards_of(s) < emitted_sharers(plan)) zero.put("mics_shard_size", shards_of(s));
  if (plan.wrap.layers != 1)
    lost.push_back({"wrap", wrap_words(plan.wrap) + ": DeepSpeed gathers module by module"});
  if (overlaps_of(s).parameters != overlaps_of(s).data)
    lost.push_back(
        {"overlap.parameters", fmt::format("overlap.parameters {}: DeepSpeed has overlap_comm for "
                                           "gradients and parameters, which is {}",
                                           overlaps_of(s).parameters, overlaps_of(s).data)});
}

void put_zero(const Scenario& s, Object& config, LostKeys& lost) {
  const auto& plan = s.plan;
  const auto stage = stage_of(s);
  lose_stage(s, lost);
  if (stage > 0 && is_untested(s.training.optimizer))
    config.put("zero_allow_untested_optimizer", true);
  Object zero;
  zero.put("stage", stage).put("overlap_comm", overlaps_of(s).data);
  if (const auto elements = bucket_elements(s); elements > 0 && stage > 0)
    zero.put("reduce_bucket_size", elements);
  if (stage == 0 && emitted_sharers(plan) > 1 && plan.bucket && *plan.bucket != s.software.bucket)
    lost.push_back(
        {"bucket",
         fmt::format(
             "bucket {:.0f} bytes: without ZeRO DeepSpeed reduces in buckets of its own size",
             plan.bucket->value)});
  if (stage == 3) {
    put_stage_3(s, zero, lost);
  } else {
    lose_gathering(plan, "DeepSpeed", lost);
    if (plan.gather_bucket) zero.put("allgather_bucket_size", gathered_elements(s));
    if (plan.zero > 0 && shards_of(s) < emitted_sharers(plan))
      lost.push_back(
          {"shard_group",
           fmt::format("shard_group {}: under zero {} DeepSpeed divides states over all replicas",
                       strategies::to_text(plan.shard_group), stage)});
    if (plan.zero > 0 && emitted_sharers(plan) > 1 && overlaps_of(s).parameters)
      lost.push_back(
          {"overlap.parameters", fmt::format("overlap.parameters true: under zero {} DeepSpeed "
                                             "gathers parameters after the optimizer's step",
                                             stage)});
  }
  put_state_offload(s, zero, lost);
  config.put("zero_optimization", zero.take());
}

// --- the degrees besides data

void lose_deepspeed_pipeline(const Scenario& s, const Stages& stages, LostKeys& lost) {
  const auto& plan = s.plan;
  if (plan.schedule != ScheduleKind::one_f_one_b)
    lost.push_back({"schedule", fmt::format("schedule {}: DeepSpeed's pipelines run 1f1b",
                                            word(plan.schedule))});
  if (plan.virtual_stages > 1)
    lost.push_back({"virtual_stages",
                    fmt::format("virtual_stages {}: DeepSpeed has one stage per pipeline rank",
                                plan.virtual_stages)});
  if (plan.pipeline == 1) return;
  lost.push_back(
      {"pipeline",
       fmt::format(
           "pipeline {} with layers_per_stage [{}]: the training script's: PipelineModule(layers, "
           "topology=PipeModelDataParallelTopology(num_pp={}, num_mp={}, num_dp={})), whose "
           "partition_method decides which stage has which layers",
           plan.pipeline, fmt::join(one_per_rank(stages, plan.pipeline).layers(), ", "),
           plan.pipeline, plan.tensor, emitted_sharers(plan))});
  if (overlaps_of(s).pipeline)
    lost.push_back({"overlap.pipeline",
                    "overlap.pipeline true: DeepSpeed's pipelines wait for their transfers"});
}

void put_deepspeed_tensor(const Scenario& s, Object& config, LostKeys& lost) {
  const auto& plan = s.plan;
  if (plan.tensor == 1) return;
  config.put("tensor_parallel", Object()
                                    .put("autotp_size", plan.tensor)
                                    .put("tp_overlap_comm", overlaps_of(s).tensor)
                                    .take());
  if (plan.sequence_parallel)
    lost.push_back({"sequence_parallel",
                    "sequence_parallel true: DeepSpeed's tensor parallelism keeps what it does not "
                    "divide whole on each rank"});
}

void put_deepspeed_context(const Scenario& s, Object& config, LostKeys& lost) {
  const auto& plan = s.plan;
  if (plan.context == 1) return;
  config.put("sequence_parallel_size", plan.context);
  if (plan.context_method != strategies::ContextMethod::ulysses)
    lost.push_back(
        {"context_method",
         fmt::format(
             "context_method {}: DeepSpeed divides sequences by ulysses, which is written instead",
             word(plan.context_method))});
}

void put_deepspeed_experts(const Scenario& s, Object& config, LostKeys& lost) {
  const auto& plan = s.plan;
  if (plan.expert > 1) {
    config.put("expert_parallel",
               Object().put("enabled", true).put("autoep_size", plan.expert).take());
    if (overlaps_of(s).expert)
      lost.push_back(
          {"overlap.expert", "overlap.expert true: DeepSpeed's layers wait for their tokens"});
  }
  if (s.model.moe && strategies::expert_tensor(plan) > 1)
    lost.push_back(
        {"expert_tensor",
         fmt::format(
             "expert_tensor {}: the training script's; ds_config divides experts by expert only",
             strategies::expert_tensor(plan))});
}

// --- activations

// If layers keep their inputs alone, these can be on the host. The training script decides which
// layers do.
void put_activations(const Scenario& s, const Stages& stages, Object& config, Launch& out) {
  auto& lost = out.not_expressed;
  const auto& offload = s.plan.offload;
  const bool whole = stages.all({strategies::Drop::everything});
  const bool inputs = offload.activations && whole && offload.activation_modules.empty() &&
                      !offload.activation_layers;
  if (stages.recompute())
    config.put("activation_checkpointing", Object()
                                               .put("partition_activations", false)
                                               .put("cpu_checkpointing", inputs)
                                               .put("contiguous_memory_optimization", false)
                                               .take());
  if (stages.recompute()) {
    auto sentence = fmt::format(
        "recompute: the training script's, which wraps what it recomputes in "
        "deepspeed.checkpointing.checkpoint: {}{}",
        recompute_words(stages),
        strategies::has_rows(s.plan) ? ", rows of them (checkpoint_every) as one" : "");
    if (checkpoints_layers(s, stages) && !out.beside.empty())
      out.elsewhere.push_back(std::move(sentence));
    else
      lost.push_back({"recompute", std::move(sentence)});
  }
  if (offload.activations && !inputs)
    lost.push_back({"offload.activations",
                    fmt::format("{}: DeepSpeed offloads the inputs of layers that are recomputed "
                                "whole, all of them or none; here activations stay on the device",
                                offloads(offload).back().words)});
}

}  // namespace

Launch launch_deepspeed(const Scenario& s) {
  Launch out;
  auto& lost = out.not_expressed;
  const auto stages = stages_of(s);
  Object config;
  // The Trainer of transformers refuses a batch of fewer replicas than GPUs, and DeepSpeed works it
  // out of the others (from memory: integrations/deepspeed.py of transformers).
  if (s.plan.data == s.cluster.gpus || !trainer_runs(s))
    config.put("train_batch_size", s.training.global_batch);
  config.put("train_micro_batch_size_per_gpu", s.plan.micro_batch)
      .put("gradient_accumulation_steps", strategies::microbatches_of(s.plan, s.training));
  out.name = "ds_config.json";
  add_training(s, stages, out);
  put_precision(s, config, lost);
  put_optimizer(s, config, lost);
  put_zero(s, config, lost);
  put_deepspeed_tensor(s, config, lost);
  put_deepspeed_context(s, config, lost);
  put_deepspeed_experts(s, config, lost);
  lose_deepspeed_pipeline(s, stages, lost);
  put_activations(s, stages, config, out);
  lose_rank_order(s.plan, "DeepSpeed", lost);
  lose_gradient_sync(s, false, "DeepSpeed", lost);
  lose_groups(s.training.routing, "DeepSpeed", lost);
  if (s.plan.pipeline == 1) lose_key_heads(s, "DeepSpeed", lost);  // others: the script's
  lose_common(s, "DeepSpeed", lost);
  lose_narrow_weights(s, "DeepSpeed", lost);
  out.text = config.take().dump(2) + "\n";
  return out;
}

}  // namespace report

// SPDX-License-Identifier: Apache-2.0
// A plan as nanotron's configuration file (nanotron @2411b022, src/nanotron/config).
#include <fmt/format.h>

#include <algorithm>

#include "report/launch/launch_constants.hpp"
#include "report/launch/launch_parts.hpp"
#include "report/words.hpp"
#include "strategies/lowering/lower.hpp"
#include "units/text.hpp"

namespace report {
namespace {

using forecast::Scenario;
using strategies::Degree;
using strategies::ScheduleKind;
using units::Precision;

// --- model

// Adds sentences for the traits of the model that nanotron's Llama and Qwen2 lack.
void lose_model(const model::Transformer& m, LostKeys& lost) {
  const auto lose = [&](bool differs, std::string_view what) {
    if (differs)
      lost.push_back(
          {"model", fmt::format("model.{}: nanotron's Llama and Qwen2 have none such", what)});
  };
  using enum model::Activation;
  lose(m.activation != swiglu, fmt::format("activation {}", word(m.activation)));
  lose(m.norm != model::Norm::rmsnorm, fmt::format("norm {}", word(m.norm)));
  lose(m.position != model::Position::rope, fmt::format("position {}", word(m.position)));
  lose(m.biases || m.output_bias, "biases");
  lose(m.parallel_block, "parallel_block");
  lose(m.norms_per_layer != 2, fmt::format("norms_per_layer {}", m.norms_per_layer));
  lose(m.query_key_norm, "query_key_norm");
  lose(m.attention_sinks, "attention_sinks");
  lose(m.dropout > 0, fmt::format("dropout {}", m.dropout));
  lose(!m.causal, "causal false");
  lose(m.window && m.window->every > 1, "attention_window.every above 1");
  lose(m.window && m.window->full_every > 0, "attention_window.full_every");
  lose(m.latent.has_value(), "attention mla");
  lose(m.multi_token_prediction > 0,
       fmt::format("multi_token_prediction {}", m.multi_token_prediction));
  lose(!m.latent && m.head_dim * m.heads != m.hidden,
       fmt::format("head_dim {} other than hidden / heads", m.head_dim));
}

// Whether the model needs Qwen2's class, which is Llama's with biases of queries, keys and values,
// windows and experts.
bool is_qwen(const model::Transformer& m) {
  return m.moe || m.window || (m.qkv_biases && !m.biases);
}

std::string experts_text(const model::Transformer& m, LostKeys& lost) {
  if (!m.moe) return {};
  const auto& moe = *m.moe;
  const auto lose = [&](bool differs, const std::string& what) {
    if (differs)
      lost.push_back(
          {"model.moe", fmt::format("model.moe.{}: nanotron's Qwen2 has none such", what)});
  };
  lose(moe.first_dense_layers > 0, fmt::format("first_dense_layers {}", moe.first_dense_layers));
  lose(moe.every > 1, fmt::format("every {}", moe.every));
  lose(moe.capacity_factor.has_value(), "capacity_factor");
  lose(moe.pad_to_capacity, "pad_to_capacity true");
  lose(moe.router_bias, "router_bias true");
  lose(moe.expert_biases, "expert_biases true");
  lose(moe.shared_gate, "shared_gate true");
  auto text = fmt::format(
      "    moe_config:\n"
      "      num_experts: {}\n"
      "      top_k: {}\n"
      "      moe_intermediate_size: {}\n",
      moe.experts, moe.top_k, moe.expert_ffn);
  if (moe.shared_experts > 0)
    text += fmt::format(
        "      enable_shared_expert: true\n"
        "      shared_expert_intermediate_size: {}\n",
        moe.shared_experts * moe.shared_ffn);
  return text;
}

// Returns the constants of positions and norms, for models whose constants are known.
std::string constants_text(const model::Transformer& m, Launch& out) {
  const auto* known = constants_of(m);
  if (known == nullptr) {
    out.undecided.push_back(
        "rope_theta and rms_norm_eps of the model: nanotron's 10000 and 1e-6 hold");
    return {};
  }
  if (known->scaling != ModelConstants::Scaling::none)
    out.undecided.push_back(
        "scaling of rotary positions: nanotron's classes have none; they are as the model was "
        "trained with first");
  return fmt::format("    rms_norm_eps: {:.1e}\n    rope_theta: {:.1f}\n", known->norm_epsilon,
                     static_cast<double>(known->rotary_base));
}

// Returns the type of parameters, in which DistributedDataParallel counts its buckets.
const char* dtype_of(const Scenario& s, LostKeys& lost) {
  using enum Precision;
  const auto precision = s.training.precision;
  const bool wide = is_wide(precision);
  if (precision != fp32 && precision != fp16 && precision != bf16)
    lost.push_back({"training.precision",
                    fmt::format("training.precision {}{}: nanotron has float32, float16 and "
                                "bfloat16; {} is written instead",
                                units::to_text(precision),
                                precision == fp8 ? fmt::format(" with fp8_recipe {}",
                                                               word(s.training.fp8_recipe))
                                                 : "",
                                wide ? "float32" : "bfloat16")});
  return wide ? "float32" : precision == fp16 ? "float16" : "bfloat16";
}

// Buckets of DistributedDataParallel hold gradients as wide as parameters; nanotron may sum them up
// in fp32. Their size is a whole number of 2^20 bytes.
std::string bucket_text(const Scenario& s, bool wide, LostKeys& lost) {
  const bool reduces = emitted_sharers(s.plan) > 1;
  const auto elements = bucket_elements(s);
  if (elements == 0) {
    if (reduces)
      lost.push_back({"bucket", "bucket 0: nanotron reduces gradients in buckets of 25 MB"});
    return {};
  }
  const std::int64_t per_megabyte = (1 << 20) / (wide ? 4 : 2);
  const auto megabytes = std::max<std::int64_t>(1, (elements + per_megabyte / 2) / per_megabyte);
  if (reduces && megabytes * per_megabyte != elements)
    lost.push_back({"bucket", fmt::format("bucket of {} gradients: nanotron counts buckets in "
                                          "whole MB; {} MB, of {} gradients, is written instead",
                                          elements, megabytes, megabytes * per_megabyte)});
  return fmt::format("  ddp_bucket_cap_mb: {}\n", megabytes);
}

std::string nanotron_model(const Scenario& s, Launch& out) {
  auto& lost = out.not_expressed;
  const auto& m = s.model;
  lose_model(m, lost);
  const std::string dtype = dtype_of(s, lost);
  auto text = "model:\n" + bucket_text(s, dtype == "float32", lost);
  text += fmt::format(
      "  dtype: {}\n"
      "  init_method: {{std: 0.02}}\n"
      "  make_vocab_size_divisible_by: {}\n"
      "  model_config:\n"
      "    {}: true\n"
      "    attention_bias: {}\n"
      "    hidden_act: silu\n"
      "    hidden_size: {}\n"
      "    intermediate_size: {}\n"
      "    max_position_embeddings: {}\n",
      dtype, s.software.vocab_multiple, is_qwen(m) ? "is_qwen2_config" : "is_llama_config",
      m.qkv_biases && !m.biases, m.hidden, m.ffn,
      std::max(m.max_sequence, s.training.sequence_length));
  text += experts_text(m, lost);
  text += fmt::format(
      "    num_attention_heads: {}\n"
      "    num_hidden_layers: {}\n"
      "    num_key_value_heads: {}\n",
      m.heads, m.layers, m.kv_heads);
  text += constants_text(m, out);
  if (m.window) text += fmt::format("    sliding_window_size: {}\n", m.window->size);
  return text + fmt::format(
                    "    tie_word_embeddings: {}\n"
                    "    vocab_size: {}\n",
                    m.tied_embeddings, m.vocab);
}

// --- training

std::string nanotron_optimizer(const Scenario& s, LostKeys& lost) {
  using enum strategies::Optimizer;
  const auto optimizer = s.training.optimizer;
  const auto gradients = gradient_precision_of(s);
  const bool fits = optimizer == adamw || optimizer == adam || optimizer == sgd;
  if (!fits)
    lost.push_back(
        {"training.optimizer",
         fmt::format("training.optimizer {}: nanotron has adamW and sgd; adamW is written instead",
                     word(optimizer))});
  if (s.plan.zero > 1)
    lost.push_back(
        {"zero", fmt::format("zero {}: nanotron divides optimizer states only; 1 is written "
                             "instead, which keeps whole gradients{} on each rank",
                             s.plan.zero, s.plan.zero == 3 ? " and parameters" : "")});
  lose_gathering(s.plan, "nanotron", lost);
  if (s.plan.zero > 0 && shards_of(s) < emitted_sharers(s.plan))
    lost.push_back(
        {"shard_group", fmt::format("shard_group {}: nanotron divides states over all replicas",
                                    strategies::to_text(s.plan.shard_group))});
  if (s.plan.gather_bucket && s.plan.zero > 0)
    lost.push_back({"bucket.gather",
                    fmt::format("bucket.gather {:.0f} bytes: nanotron gathers parameters at once",
                                s.plan.gather_bucket->value)});
  const auto compute = s.training.precision;
  const auto narrow = compute == Precision::fp32 || compute == Precision::tf32 ? Precision::fp32
                      : compute == Precision::fp16                             ? Precision::fp16
                                                                               : Precision::bf16;
  if (gradients != Precision::fp32 && gradients != narrow)
    lost.push_back(
        {"gradient_precision",
         fmt::format("gradient_precision {}: nanotron has fp32 and the parameters' precision",
                     units::to_text(gradients))});
  const char* moments =
      ", adam_beta1: 0.9, adam_beta2: 0.95, adam_eps: 1.0e-08, torch_adam_is_fused: true";
  return fmt::format(
      "optimizer:\n"
      "  accumulate_grad_in_fp32: {}\n"
      "  clip_grad: 1.0\n"
      "  learning_rate_scheduler: {{learning_rate: 1.0e-4, lr_decay_style: cosine, "
      "lr_warmup_steps: 1, lr_warmup_style: linear, min_decay_lr: 1.0e-5}}\n"
      "  optimizer_factory: {{name: {}}}\n"
      "  weight_decay: {}\n"
      "  zero_stage: {}\n",
      gradients == Precision::fp32,
      optimizer == sgd ? std::string("sgd") : std::string("adamW") + moments,
      optimizer == adam ? "0.0" : "0.1", std::min(s.plan.zero, 1));
}

std::string tokens_text(const Scenario& s) {
  return fmt::format(
      "tokens:\n"
      "  batch_accumulation_per_replica: {}\n"
      "  micro_batch_size: {}\n"
      "  sequence_length: {}\n"
      "  train_steps: 50\n",
      strategies::microbatches_of(s.plan, s.training), s.plan.micro_batch,
      s.training.sequence_length);
}

// --- parallelism

bool recomputes_layers(const Scenario& s, LostKeys& lost) {
  const auto stages = stages_of(s);
  if (!stages.recompute()) return false;
  lose_rows(s.plan, "nanotron", lost);
  if (!stages.all({strategies::Drop::everything}))
    lost.push_back({"recompute",
                    fmt::format("recompute: the plan recomputes {}; nanotron recomputes all layers "
                                "whole or nothing, and all layers whole is written instead",
                                recompute_words(stages))});
  return true;
}

void lose_nanotron_overlaps(const Scenario& s, LostKeys& lost) {
  const auto& plan = s.plan;
  const auto overlaps = overlaps_of(s);
  if (!overlaps.data && emitted_sharers(plan) > 1)
    lost.push_back({"overlap.data",
                    "overlap.data false: nanotron reduces gradients under the last backward pass"});
  if (overlaps.parameters && plan.zero > 0 && emitted_sharers(plan) > 1)
    lost.push_back(
        {"overlap.parameters", "overlap.parameters true: nanotron waits for gathered parameters"});
  if (overlaps.pipeline && plan.pipeline > 1)
    lost.push_back({"overlap.pipeline", "overlap.pipeline true: nanotron waits for its transfers"});
  if (overlaps.expert && plan.expert > 1)
    lost.push_back(
        {"overlap.expert", "overlap.expert true: nanotron's layers wait for their tokens"});
  if (overlaps.tensor && plan.tensor > 1 && !plan.sequence_parallel)
    lost.push_back({"overlap.tensor",
                    "overlap.tensor true: nanotron needs sequence_parallel for it; here layers "
                    "wait for their sums"});
}

// Whether nanotron takes all microbatches forward first, as it does for fewer than 1f1b wants (from
// memory: parallel/pipeline_parallel/engine.py).
bool takes_all_forward(const Scenario& s) {
  const auto& plan = s.plan;
  return plan.schedule == ScheduleKind::gpipe ||
         strategies::microbatches_of(plan, s.training) < plan.pipeline - 1;
}

void lose_nanotron_pipeline(const Scenario& s, LostKeys& lost) {
  const auto& plan = s.plan;
  const bool known =
      plan.schedule == ScheduleKind::one_f_one_b || plan.schedule == ScheduleKind::gpipe;
  if (plan.schedule == ScheduleKind::one_f_one_b && takes_all_forward(s))
    lost.push_back(
        {"schedule", fmt::format("schedule {}: nanotron's wants {} microbatches for {} pipeline "
                                 "ranks; afab (gpipe) is written instead",
                                 word(plan.schedule), plan.pipeline - 1, plan.pipeline)});
  if (plan.schedule == ScheduleKind::gpipe && plan.pipeline == 1 &&
      strategies::microbatches_of(plan, s.training) > 1)
    lost.push_back(
        {"schedule",
         "schedule gpipe: on one pipeline rank nanotron runs one microbatch after the other"});
  if (!known)
    lost.push_back(
        {"schedule",
         fmt::format("schedule {}: nanotron has 1f1b and afab (gpipe); {} is written instead",
                     word(plan.schedule), takes_all_forward(s) ? "afab" : "1f1b")});
  if (plan.virtual_stages > 1)
    lost.push_back({"virtual_stages",
                    fmt::format("virtual_stages {}: nanotron has one stage per pipeline rank",
                                plan.virtual_stages)});
  if (!plan.layers_per_stage.empty() && plan.pipeline > 1)
    lost.push_back(
        {"layers_per_stage",
         fmt::format(
             "layers_per_stage [{}]: nanotron divides layers by what it reckons that they cost",
             fmt::join(plan.layers_per_stage, ", "))});
}

void lose_experts(const Scenario& s, LostKeys& lost) {
  const auto& plan = s.plan;
  if (!s.model.moe) return;
  if (plan.data % plan.expert != 0)
    lost.push_back({"expert", fmt::format("expert {}: nanotron's experts are divided by replicas, "
                                          "of which there are {}; 1 is written instead",
                                          plan.expert, plan.data)});
  if (strategies::expert_tensor(plan) != plan.tensor)
    lost.push_back(
        {"expert_tensor", fmt::format("expert_tensor {}: nanotron divides experts as layers, by {}",
                                      strategies::expert_tensor(plan), plan.tensor)});
}

// nanotron counts replicas that hold the same experts: dp x expert_parallel_size are the plan's.
std::string parallelism_text(const Scenario& s, LostKeys& lost) {
  const auto& plan = s.plan;
  const auto experts = plan.data % plan.expert == 0 ? plan.expert : 1;
  lose_nanotron_pipeline(s, lost);
  lose_experts(s, lost);
  if (plan.context > 1)
    lost.push_back(
        {"context_method",
         fmt::format(
             "context_method {}: nanotron takes it from the model's implementation of attention",
             word(plan.context_method))});
  using enum Degree;
  if (!placed_as(plan, {tensor, context, data, pipeline, expert}))
    lost.push_back(
        {"rank_order",
         fmt::format(
             "rank_order {}: nanotron places ranks as tp-cp-dp-pp-ep, which is written instead",
             word(plan.rank_order))});
  const bool scatters = plan.sequence_parallel && plan.tensor > 1;
  return fmt::format(
      "parallelism:\n"
      "  context_parallel_size: {}\n"
      "  dp: {}\n"
      "  expert_parallel_size: {}\n"
      "  pp: {}\n"
      "  pp_engine: {}\n"
      "  recompute_layer: {}\n"
      "  tp: {}\n"
      "  tp_linear_async_communication: {}\n"
      "  tp_mode: {}\n",
      plan.context, plan.data / experts, experts, plan.pipeline,
      takes_all_forward(s) ? "afab" : "1f1b", recomputes_layers(s, lost), plan.tensor,
      scatters && overlaps_of(s).tensor, scatters ? "REDUCE_SCATTER" : "ALL_REDUCE");
}

std::string nanotron_preamble(const Scenario& s) {
  const auto machines = machines_of(s.cluster);
  return fmt::format(
      "# nanotron @2411b022: {}\n"
      "# torchrun --nproc-per-node {} --nnodes {} run_train.py --config-file THIS_FILE\n"
      "# Data, tokenizer, learning rate and length of the run are no part of a plan: replace "
      "them.\n",
      headline(s), machines.per_node, machines.nodes);
}

// Parts of the file that it must have and no plan decides. Without a dataset run_train.py trains on
// tokens drawn at random (from memory).
constexpr const char* checkpoints_text =
    "checkpoints: {checkpoint_interval: 1000, checkpoints_path: checkpoints}\n"
    "data_stages: [{data: {dataset: null, num_loading_workers: 1, seed: 42}, name: random, "
    "start_training_step: 1}]\n"
    "general: {project: stepcast, run: plan, seed: 42}\n";

}  // namespace

Launch launch_nanotron(const Scenario& s) {
  Launch out;
  out.name = "config.yaml";
  auto& lost = out.not_expressed;
  // One statement for each part, so that lost keys are told in the order of the text.
  out.text = nanotron_preamble(s);
  out.text += checkpoints_text;
  out.text += nanotron_model(s, out);
  out.text += nanotron_optimizer(s, lost);
  out.text += parallelism_text(s, lost);
  out.text += tokens_text(s);
  lose_nanotron_overlaps(s, lost);
  for (const auto& offload : offloads(s.plan.offload))
    lost.push_back(
        {offload.key, fmt::format("{}: nanotron keeps it on the device", offload.words)});
  lose_gradient_compression(s.plan, "nanotron", lost);
  lose_gradient_sync(s, false, "nanotron", lost);
  lose_groups(s.training.routing, "nanotron", lost);
  lose_key_heads(s, "nanotron", lost);
  lose_common(s, "nanotron", lost);
  lose_narrow_weights(s, "nanotron", lost);
  return out;
}

}  // namespace report

// SPDX-License-Identifier: Apache-2.0
// Degrees, schedule, sharding and overlap in Megatron-LM's words. The flags and their values are
// defined in megatron/training/arguments.py and the dataclasses that generate flags, @d98e8a64dd.
#include "report/launch/launch_megatron.hpp"

#include <algorithm>

#include "report/words.hpp"
#include "strategies/lowering/lower.hpp"
#include "units/text.hpp"

namespace report {
namespace megatron {
namespace {

using forecast::Scenario;
using strategies::Degree;
using strategies::ScheduleKind;

// Returns the way in which Transformer Engine divides sequences of the model. From memory
// (attention/dot_product_attention/context_parallel.py): its ring knows no windows, all-to-all
// wants key heads on every rank, and no way takes products of 32 bit.
strategies::ContextMethod runnable_method(const Scenario& s, LostKeys& lost) {
  using enum strategies::ContextMethod;
  const auto& plan = s.plan;
  const auto method = plan.context_method;
  const bool windows = s.model.window.has_value();
  const auto keys = s.model.latent ? s.model.heads : s.model.kv_heads;
  const auto keys_of_rank = std::max<std::int64_t>(1, keys / plan.tensor);
  const auto instead = [&](const std::string& why, strategies::ContextMethod other) {
    lost.push_back({"context_method", fmt::format("context_method {}: {}; {} is written instead",
                                                  word(method), why, word(other))});
    return other;
  };
  if (is_wide(s.training.precision))
    lost.push_back({"context_method",
                    fmt::format("context_method {}: Transformer Engine has no attention in {} for "
                                "divided sequences, and refuses to start",
                                word(method), units::to_text(s.training.precision)),
                    Lost::Effect::never_starts});
  if (method == ring && windows)
    return instead("Transformer Engine's ring knows no attention_window", all_gather);
  if (method == ulysses && keys_of_rank % plan.context != 0)
    return instead(
        fmt::format("Transformer Engine does not divide {} key heads of a rank by context {}",
                    keys_of_rank, plan.context),
        windows ? all_gather : ring);
  return method;
}

void write_expert_degrees(const Scenario& s, Flags& flags, LostKeys& lost) {
  const auto& plan = s.plan;
  if (!s.model.moe) return;
  const auto tensor = strategies::expert_tensor(plan), runs = expert_tensor_of(s);
  flags.add("--expert-model-parallel-size", plan.expert).add("--expert-tensor-parallel-size", runs);
  if (runs != tensor)
    lost.push_back(
        {"expert_tensor",
         fmt::format(
             "expert_tensor {}: Megatron-LM divides no experts with biases; 1 is written instead",
             tensor)});
}

void write_degrees(const Scenario& s, Flags& flags, LostKeys& lost) {
  const auto& plan = s.plan;
  flags.add("--tensor-model-parallel-size", plan.tensor)
      .when(plan.sequence_parallel && plan.tensor > 1, "--sequence-parallel")
      .add("--pipeline-model-parallel-size", plan.pipeline)
      .add("--context-parallel-size", plan.context);
  using enum strategies::ContextMethod;
  if (plan.context > 1) {
    const auto method = runnable_method(s, lost);
    flags.add("--cp-comm-type", method == ring ? "p2p" : method == ulysses ? "a2a" : "all_gather");
  }
  write_expert_degrees(s, flags, lost);
  if (placed_as(plan)) return;
  using enum Degree;
  if (placed_as(plan, {tensor, context, expert, pipeline, data}))
    flags.add("--use-tp-pp-dp-mapping");
  else
    lost.push_back(
        {"rank_order", fmt::format("rank_order {}: Megatron-LM places ranks as tp-cp-ep-dp-pp or "
                                   "tp-cp-ep-pp-dp; the first is written instead",
                                   word(plan.rank_order))});
}

// Returns the reason why another schedule is written; empty if Megatron-LM runs the plan's.
std::string schedule_loss(const Scenario& s) {
  const auto kind = s.plan.schedule;
  const auto instead = [&](std::string_view why) {
    return fmt::format(
        "schedule {}: Megatron-LM has 1f1b and interleaved; 1f1b is written instead{}", word(kind),
        why);
  };
  switch (kind) {
    case ScheduleKind::one_f_one_b:
    case ScheduleKind::interleaved:
      return {};
    case ScheduleKind::gpipe:
      return instead(", which keeps no more microbatches");
    case ScheduleKind::v_half:
    case ScheduleKind::v_min:
      return instead(", with one stage per rank, which keeps more activations on the first ranks");
    case ScheduleKind::zb_v:
    case ScheduleKind::dualpipe_v:
      return instead(", with one stage per rank: embedding and head are on different ranks");
    case ScheduleKind::zb_h1:
    case ScheduleKind::zb_h2:
      return instead(", whose ranks wait longer");
    case ScheduleKind::dualpipe:
      return instead(", which has one copy of the parameters, not two");
  }
  return {};
}

// Stages that Megatron-LM runs, and how many of them a rank has.
Stages runnable_stages(const Scenario& s, LostKeys& lost) {
  const auto& plan = s.plan;
  auto stages = stages_of(s);
  if (predictions_of(s.model) == 0) stages.predictions.reset();
  const auto loss = schedule_loss(s);
  if (!loss.empty()) lost.push_back({"schedule", loss});
  const bool interleaves = loss.empty() && plan.virtual_stages > 1;
  if (!interleaves) return one_per_rank(stages, plan.pipeline);
  const auto microbatches = strategies::microbatches_of(plan, s.training);
  if (plan.pipeline > 1 && microbatches >= plan.pipeline) return stages;
  lost.push_back(
      {"virtual_stages",
       plan.pipeline == 1
           ? fmt::format("virtual_stages {}: on one pipeline rank Megatron-LM has one stage, which "
                         "is written instead",
                         plan.virtual_stages)
           : fmt::format(
                 "virtual_stages {}: {} microbatches are fewer than {} pipeline ranks, which "
                 "Megatron-LM cannot interleave; one stage per rank is written instead",
                 plan.virtual_stages, microbatches, plan.pipeline)});
  return one_per_rank(stages, plan.pipeline);
}

// "E" embedding, "t" transformer layer, "m" prediction module, "L" loss; "(t*3|)*2," repeats;
// commas mean nothing.
std::string layout_text(const std::vector<std::int64_t>& layers, int predictions) {
  const auto times = [](char what, std::int64_t count) {
    if (count <= 2) return std::string(static_cast<std::size_t>(count), what);
    return fmt::format("{}*{}", what, count);
  };
  std::string text = "E" + times('t', layers.front()) + "|";
  for (std::size_t v = 1, next = 1; v + 1 < layers.size(); v = next) {
    for (next = v + 1; next + 1 < layers.size() && layers[next] == layers[v];) ++next;
    const auto stage = times('t', layers[v]) + "|";
    text += next == v + 1 ? stage : fmt::format("({})*{},", stage, next - v);
  }
  return text + times('t', layers.back()) + times('m', predictions) + "L";
}

// Megatron-LM takes groups of microbatches through the chunks of a rank, and refuses groups of
// fewer microbatches than there are ranks (core/pipeline_parallel/schedules.py).
void write_groups(const Scenario& s, Flags& flags, LostKeys& lost) {
  const auto ranks = s.plan.pipeline;
  const auto microbatches = strategies::microbatches_of(s.plan, s.training);
  if (microbatches % ranks == 0) return;
  auto group = ranks;
  while (microbatches % group != 0 && microbatches % group < ranks) ++group;
  flags.add("--microbatch-group-size-per-virtual-pipeline-stage", group);
  lost.push_back({"schedule",
                  fmt::format("schedule interleaved: {} microbatches are no multiple of {} "
                              "pipeline ranks; Megatron-LM refuses a shorter last group, and "
                              "groups of {} are written instead, which keep more activations",
                              microbatches, ranks, group),
                  Lost::Effect::runs_otherwise});
}

void write_pipeline(const Scenario& s, const Stages& stages, Flags& flags, LostKeys& lost) {
  if (s.plan.pipeline == 1) return;
  const auto chunks = static_cast<std::int64_t>(stages.drops.size()) / s.plan.pipeline;
  if (!stages.alike())
    flags.add("--pipeline-model-parallel-layout",
              layout_text(stages.layers(), predictions_of(s.model)));
  else if (chunks > 1)
    flags.add("--num-virtual-stages-per-pipeline-rank", chunks);
  if (chunks > 1) write_groups(s, flags, lost);
  const bool overlaps = overlaps_of(s).pipeline;
  const bool must_overlap = chunks > 1 && s.plan.pipeline == 2;
  flags.when(chunks > 1 && !overlaps && !must_overlap, "--no-overlap-p2p-communication");
  if (must_overlap && !overlaps)
    lost.push_back({"overlap.pipeline",
                    "overlap.pipeline false: on two pipeline ranks Megatron-LM interleaves only "
                    "with transfers beside computation, which is written instead"});
  if (chunks == 1 && overlaps)
    lost.push_back({"overlap.pipeline",
                    "overlap.pipeline true: Megatron-LM's transfers run beside computation with "
                    "virtual stages only; here it waits for them"});
}

void write_shard_group(const Scenario& s, Flags& flags) {
  if (s.plan.zero == 0) return;
  const auto groups = emitted_sharers(s.plan) / shards_of(s);
  if (groups > 1) flags.add("--num-distributed-optimizer-instances", groups);
}

void write_sharding(const Scenario& s, Flags& flags, LostKeys& lost) {
  const auto& plan = s.plan;
  if (s.training.optimizer == strategies::Optimizer::muon) {
    if (plan.zero > 0)
      lost.push_back(
          {"zero",
           fmt::format("zero {}: Megatron-LM's distributed Muon divides optimizer states by whole "
                       "tensors{}; --optimizer dist_muon is written instead",
                       plan.zero, plan.zero > 1 ? ", and neither gradients nor parameters" : "")});
    lose_gathering(plan, "Megatron-LM", lost);
    if (plan.zero > 0 && shards_of(s) < emitted_sharers(plan))
      lost.push_back(
          {"shard_group",
           fmt::format("shard_group {}: distributed Muon divides states over all replicas",
                       strategies::to_text(plan.shard_group))});
    return;
  }
  flags.when(distributes(s), "--use-distributed-optimizer");
  if (plan.zero == 0 && offloads_states(s))
    lost.push_back({"zero",
                    "zero 0: Megatron-LM offloads the states of its distributed optimizer, so zero "
                    "1 is written instead"});
  write_shard_group(s, flags);
  if (plan.zero < 2) return;
  flags.add("--use-megatron-fsdp")
      .add("--data-parallel-sharding-strategy",
           plan.zero == 2 ? "optim_grads" : "optim_grads_params")
      .add("--ckpt-format", "fsdp_dtensor");
  if (plan.zero == 3 && !plan.reshard_after_forward)
    lost.push_back({"reshard_after_forward",
                    "reshard_after_forward false: Megatron-FSDP frees gathered parameters after "
                    "the forward pass, and gathers them again"});
  if (plan.zero == 3 && plan.wrap.layers != 1)
    lost.push_back({"wrap", wrap_words(plan.wrap) + ": Megatron-FSDP gathers one layer at once"});
}

// Megatron-FSDP under ZeRO-3 reduces layer by layer, and gathers as far ahead as its unit holds.
void write_buckets(const Scenario& s, Flags& flags, LostKeys& lost) {
  const auto& plan = s.plan;
  const bool by_layer = fsdp(s) && plan.zero == 3;
  const auto elements = bucket_elements(s);
  const auto gathered = plan.gather_bucket.value_or(units::Bytes{}).value;
  if (by_layer && gathered > 0)  // of 16-bit parameters
    flags.add("--suggested-communication-unit-size", static_cast<std::int64_t>(gathered / 2));
  if (by_layer) return;
  if (elements > 0)
    flags.add(fsdp(s) ? "--suggested-communication-unit-size" : "--ddp-bucket-size", elements);
  if (gathered > 0 && plan.zero > 0)
    lost.push_back(
        {"bucket.gather", fmt::format("bucket.gather {:.0f} bytes: Megatron-LM gathers parameters "
                                      "in the buckets that it reduces gradients in",
                                      gathered)});
}

void write_data_overlap(const Scenario& s, Flags& flags, LostKeys& lost) {
  const auto& plan = s.plan;
  const bool copies_experts = s.model.moe && expert_replicas_of(plan) > 1;
  if (emitted_sharers(plan) == 1 && !copies_experts) return;
  const auto overlaps = overlaps_of(s);
  flags.when(overlaps.data, "--overlap-grad-reduce");
  if (fsdp(s) && !overlaps.data)
    lost.push_back({"overlap.data",
                    "overlap.data false: Megatron-FSDP reduces gradients under the backward pass"});
  if (fsdp(s) && s.plan.zero == 3 && !overlaps.parameters)
    lost.push_back(
        {"overlap.parameters", "overlap.parameters false: Megatron-FSDP gathers parameters ahead"});
  if (s.plan.zero == 0 || !overlaps.parameters) return;
  const bool muon = s.training.optimizer == strategies::Optimizer::muon;
  if (overlaps.data && !muon)
    flags.add("--overlap-param-gather");
  else
    lost.push_back(
        {"overlap.parameters",
         fmt::format("overlap.parameters true: Megatron-LM gathers ahead only {}; here it waits "
                     "for parameters",
                     muon ? "for optimizers that divide tensors" : "with --overlap-grad-reduce")});
}

void write_tensor_overlap(const Scenario& s, Flags& flags, LostKeys& lost) {
  if (s.plan.tensor == 1) return;
  if (!overlaps_of(s).tensor) {
    lost.push_back({"overlap.tensor",
                    "overlap.tensor false: Megatron-LM always reduces the gradient of a layer's "
                    "input under its weight gradient"});
    return;
  }
  if (s.software.tensor_overlap == strategies::TensorOverlap::async) return;
  if (s.plan.sequence_parallel)
    flags.add("--tp-comm-overlap");
  else
    lost.push_back(
        {"overlap.tensor",
         "overlap.tensor true: Megatron-LM cuts products for it (--tp-comm-overlap) with sequence "
         "parallelism only; here it overlaps what runs under weight gradients"});
}

// Returns whether tokens travel beside computation.
bool write_expert_overlap(const Scenario& s, bool whole_layers, bool interleaves, Flags& flags,
                          LostKeys& lost) {
  if (s.plan.expert == 1 || !overlaps_of(s).expert) return false;
  const bool gathers = s.software.moe_dispatcher == strategies::MoeDispatcher::all_gather;
  const char* why = whole_layers                          ? "whole layers are recomputed"
                    : s.plan.pipeline > 1 && !interleaves ? "ranks have one stage of the pipeline"
                    : gathers                             ? "moe_dispatcher is all-gather"
                                                          : nullptr;
  if (why)
    lost.push_back(
        {"overlap.expert",
         fmt::format(
             "overlap.expert true: Megatron-LM refuses it where {}; here layers wait for tokens",
             why)});
  else
    flags.add("--overlap-moe-expert-parallel-comm");
  return why == nullptr;
}

std::string megatron_preamble(const Scenario& s, bool overlaps_experts) {
  const auto machines = machines_of(s.cluster);
  auto text = fmt::format(
      "# Megatron-LM @d98e8a64dd (2026-08-22): {}\n"
      "# Data, tokenizer, learning rate and length of the run are no part of a plan: replace "
      "them.\n",
      headline(s));
  if (machines.nodes > 1)
    text +=
        fmt::format("# Runs on each of {} nodes, where NODE_RANK and MASTER_ADDR must be set.\n",
                    machines.nodes);
  if (queues_for(s.plan.tensor > 1 || s.plan.context > 1, fsdp(s), overlaps_experts) == Queues::one)
    text += "export CUDA_DEVICE_MAX_CONNECTIONS=1\n";
  text +=
      fmt::format("torchrun --nproc-per-node {} --nnodes {}", machines.per_node, machines.nodes);
  if (machines.nodes > 1) text += " --node-rank \"$NODE_RANK\" --master-addr \"$MASTER_ADDR\"";
  return text + " pretrain_gpt.py";
}

}  // namespace
}  // namespace megatron

Launch launch_megatron(const forecast::Scenario& s) {
  using namespace megatron;
  Launch out;
  auto& lost = out.not_expressed;
  out.name = "train.sh";
  Flags flags;
  write_model(s, flags, lost);
  write_constants(s.model, s.training.routing, flags, out.undecided);
  write_training(s, flags, lost);
  write_degrees(s, flags, lost);
  const auto stages = runnable_stages(s, lost);
  write_pipeline(s, stages, flags, lost);
  write_sharding(s, flags, lost);
  write_buckets(s, flags, lost);
  write_data_overlap(s, flags, lost);
  write_tensor_overlap(s, flags, lost);
  const bool whole_layers = write_recompute(stages, s, flags, lost);
  const bool interleaves = static_cast<std::int64_t>(stages.drops.size()) > s.plan.pipeline;
  const bool overlaps_experts = write_expert_overlap(s, whole_layers, interleaves, flags, lost);
  write_offload(s, stages.recompute(), flags, lost);
  lose_gradient_compression(s.plan, "Megatron-LM", lost);
  lose_gradient_sync(s, false, "Megatron-LM", lost);
  lose_common(s, "Megatron-LM", lost);
  out.text = megatron_preamble(s, overlaps_experts) + flags.text() + "\n";
  return out;
}

}  // namespace report

// SPDX-License-Identifier: Apache-2.0
// Degrees, schedule, sharding and recomputation in torchtitan's words.
#include <algorithm>
#include <array>
#include <string_view>

#include "report/launch/launch_torchtitan.hpp"
#include "report/words.hpp"
#include "scenarios/frameworks/titan_start.hpp"
#include "strategies/lowering/lower.hpp"
#include "units/text.hpp"

namespace report::torchtitan {
namespace {

using forecast::Scenario;
using strategies::Drop;
using strategies::Plan;
using strategies::ScheduleKind;

// --- pipeline

// Interleaved1F1B refuses rounds of unequal length (from memory: torch/distributed/pipelining/
// schedules.py).
bool makes_rounds(std::int64_t microbatches, std::int64_t ranks) {
  return microbatches % std::max<std::int64_t>(1, microbatches / ranks) == 0;
}

}  // namespace

Pipeline pipeline_of(const Scenario& s, LostKeys& lost) {
  const auto& plan = s.plan;
  const auto stages = stages_of(s);
  const auto as_is = [&](const char* schedule) {
    return Pipeline{schedule, stages, strategies::layout_of(plan)};
  };
  const strategies::Layout loop{.stages = static_cast<int>(plan.pipeline)};
  const auto microbatches = strategies::microbatches_of(plan, s.training);
  switch (plan.schedule) {
    case ScheduleKind::gpipe:
      return as_is("GPipe");
    case ScheduleKind::one_f_one_b:
      if (plan.virtual_stages == 1) return as_is("1F1B");
      [[fallthrough]];
    case ScheduleKind::interleaved:
      if (plan.virtual_stages > 1 && !makes_rounds(microbatches, plan.pipeline)) {
        lost.push_back(
            {"schedule",
             fmt::format(
                 "schedule {}: PyTorch takes {} microbatches through {} ranks in rounds, and "
                 "refuses unequal ones; 1F1B with one stage per rank is written instead",
                 word(plan.schedule), microbatches, plan.pipeline)});
        return {"1F1B", one_per_rank(stages, plan.pipeline), loop};
      }
      return as_is(plan.virtual_stages > 1 ? "Interleaved1F1B" : "1F1B");
    case ScheduleKind::zb_v:
      return as_is("ZBVZeroBubble");
    case ScheduleKind::dualpipe_v:
      return as_is("DualPipeV");
    default:
      break;
  }
  const bool folded = plan.schedule == ScheduleKind::v_half || plan.schedule == ScheduleKind::v_min;
  lost.push_back(
      {"schedule", fmt::format("schedule {}: PyTorch has no such schedule; {} is written instead{}",
                               word(plan.schedule), folded ? "ZBVZeroBubble" : "1F1B",
                               folded ? ", which keeps more activations" : "")});
  if (folded) return as_is("ZBVZeroBubble");
  return {"1F1B", one_per_rank(stages, plan.pipeline), loop};
}

namespace {

// The modules of each virtual stage by name.
std::string parts_text(const Stages& stages) {
  std::string text = "[\n";
  std::size_t layer = 0;
  for (std::size_t v = 0; v < stages.drops.size(); ++v) {
    std::string names = v == 0 ? "\"tok_embeddings\"" : "";
    const auto add = [&](const std::string& name) {
      names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", name);
    };
    for (std::size_t i = 0; i < stages.drops[v].size(); ++i) add(fmt::format("layers.{}", layer++));
    if (v + 1 == stages.drops.size()) add("norm"), add("output");
    text += fmt::format("  [{}],\n", names);
  }
  return text + "]";
}

// From memory (torch/distributed/pipelining/schedules.py).
void lose_few_microbatches(const Scenario& s, const Pipeline& pipeline, LostKeys& lost) {
  const std::string_view schedule = pipeline.schedule;
  const auto microbatches = strategies::microbatches_of(s.plan, s.training);
  const auto stages = static_cast<std::int64_t>(pipeline.stages.drops.size());
  const bool wants = schedule == "1F1B" || schedule == "GPipe" || schedule == "DualPipeV";
  if (wants && microbatches < stages)
    lost.push_back({"pipeline",
                    fmt::format("pipeline {}: PyTorch's {} refuses {} microbatch{} for {} stages",
                                s.plan.pipeline, schedule, microbatches,
                                microbatches == 1 ? "" : "es", stages),
                    Lost::Effect::never_starts});
}

void put_pipeline(const Scenario& s, const Pipeline& pipeline, Table& table, LostKeys& lost) {
  table.put("pipeline_parallel_degree", s.plan.pipeline);
  if (s.plan.pipeline == 1) {
    if (s.plan.schedule != ScheduleKind::one_f_one_b)
      lost.push_back(
          {"schedule",
           fmt::format(
               "schedule {}: on one pipeline rank torchtitan runs one microbatch after the other",
               word(s.plan.schedule))});
    if (s.plan.virtual_stages > 1)
      lost.push_back(
          {"virtual_stages", fmt::format("virtual_stages {}: torchtitan cuts a model on several "
                                         "pipeline ranks only; one stage is written instead",
                                         s.plan.virtual_stages)});
    return;
  }
  table.put("pipeline_parallel_schedule", pipeline.schedule)
      .put("pipeline_parallel_microbatch_size", s.plan.micro_batch)
      .put("module_fqns_per_model_part", parts_text(pipeline.stages));
  lose_few_microbatches(s, pipeline, lost);
  if (overlaps_of(s).pipeline)
    lost.push_back({"overlap.pipeline",
                    "overlap.pipeline true: PyTorch's schedules wait for their transfers"});
}

// --- degrees and sharding

// The ranks of whole sequences over which FSDP divides the plan's states; 1: it divides them over
// the ranks of a sequence, or not at all.
std::int64_t plain_shards(const Scenario& s) {
  const auto& plan = s.plan;
  if (plan.zero == 0) return 1;
  const auto shards = std::max<std::int64_t>(1, shards_of(s) / plan.context);
  return plan.data % shards == 0 ? shards : 1;
}

// The ranks of whole sequences over which FSDP divides states, and the ranks that divide experts.
struct Division {
  std::int64_t shards, expert, expert_tensor;
};

// Experts are divided over all ranks of a sequence, all tensor ranks unless these divide the
// experts, and some of those that share states (from memory: ParallelDims of
// torchtitan/distributed/parallel_dims.py).
bool is_possible(const Division& division, const Plan& plan) {
  const auto borrowed = plan.context * (division.expert_tensor == plan.tensor ? 1 : plan.tensor);
  return division.expert % borrowed == 0 && (division.shards * borrowed) % division.expert == 0;
}

// Returns the nearest division that torchtitan has, with no fewer shards nor expert ranks; without
// expert ranks if it has none.
Division division_of(const Scenario& s) {
  const auto& plan = s.plan;
  const auto plain = plain_shards(s);
  if (!s.model.moe || plan.expert == 1) return {plain, 1, plan.tensor};
  const auto tensor = strategies::expert_tensor(plan) == plan.tensor ? plan.tensor : 1;
  for (auto expert = plan.expert; expert <= s.model.moe->experts; expert += plan.expert)
    for (auto shards = plain; shards <= plan.data; shards += plain) {
      const Division division{shards, expert, tensor};
      if (plan.data % shards == 0 && s.model.moe->experts % expert == 0 &&
          is_possible(division, plan))
        return division;
    }
  return {plain, 1, plan.tensor};
}

void lose_replicas(const Scenario& s, const Division& division, LostKeys& lost) {
  const auto& plan = s.plan;
  using enum scenarios::TitanCast;
  const auto cast = scenarios::titan_cast({.replicas = plan.data / division.shards,
                                           .shards = division.shards,
                                           .tensor = plan.tensor,
                                           .pipeline = plan.pipeline,
                                           .context = plan.context,
                                           .expert = division.expert});
  if (cast == refused)
    lost.push_back({"zero",
                    fmt::format("zero {}: where FSDP divides nothing torchtitan has replicas on "
                                "neither tensor nor pipeline ranks, and refuses to start",
                                plan.zero),
                    Lost::Effect::never_starts});
  else if (cast == weights && !is_wide(s.training.precision))
    lost.push_back({"zero",
                    fmt::format("zero {}: where FSDP divides nothing torchtitan's tensor and "
                                "pipeline ranks compute in float32, not in {}",
                                plan.zero, units::to_text(s.training.precision)),
                    Lost::Effect::runs_otherwise});
}

void lose_shards(const Scenario& s, const Division& division, LostKeys& lost) {
  const auto& plan = s.plan;
  const auto shards = division.shards;
  if (plan.zero == 0 && shards > 1)
    lost.push_back({"zero", fmt::format("zero 0: torchtitan divides experts over ranks that share "
                                        "states; FSDP shards over {} of {} replicas instead",
                                        shards, plan.data)});
  else if (plan.zero == 0 && plan.context > 1)
    lost.push_back({"zero",
                    "zero 0: where sequences are divided FSDP shards over their ranks, and gathers "
                    "parameters for every pass"});
  if (plan.zero > 0 && shards * plan.context != shards_of(s))
    lost.push_back(
        {"shard_group", fmt::format("shard_group {}: torchtitan divides states over whole "
                                    "sequences; {} of {} replicas is written instead",
                                    strategies::to_text(plan.shard_group), shards, plan.data)});
}

// FSDP divides parameters, gradients and states over dp_shard x cp ranks, or nothing.
void put_data(const Scenario& s, const Division& division, Table& table, LostKeys& lost) {
  const auto& plan = s.plan;
  table.put("data_parallel_replicate_degree", plan.data / division.shards)
      .put("data_parallel_shard_degree", division.shards);
  lose_shards(s, division, lost);
  if (plan.zero == 1 || plan.zero == 2)
    lost.push_back(
        {"zero", fmt::format("zero {}: FSDP also divides {}parameters; it is written so that these "
                             "stay gathered from the forward to the backward pass",
                             plan.zero, plan.zero == 1 ? "gradients and " : "")});
  if (plan.zero > 0)
    table.put("fsdp_reshard_after_forward",
              plan.zero == 3 && plan.reshard_after_forward ? "always" : "never");
  if (plan.zero == 3 && plan.wrap.layers != 1)
    lost.push_back({"wrap", wrap_words(plan.wrap) + ": torchtitan gathers one layer at once"});
  for (const auto& [key, size] :
       {std::pair{"bucket", plan.bucket}, std::pair{"bucket.gather", plan.gather_bucket}})
    if (size)
      lost.push_back(
          {key, fmt::format("{} {:.0f} bytes: torchtitan reduces and gathers {}", key, size->value,
                            plan.zero > 0 ? "layer by layer" : "in buckets of its own size")});
}

void put_tensor(const Scenario& s, Table& table, LostKeys& lost) {
  const auto& plan = s.plan;
  table.put("tensor_parallel_degree", plan.tensor);
  if (plan.tensor == 1) return;
  if (!plan.sequence_parallel)
    lost.push_back({"sequence_parallel",
                    "sequence_parallel false: torchtitan's tensor parallelism always has it"});
  const bool overlaps = overlaps_of(s).tensor;
  table.put("enable_async_tensor_parallel", overlaps && s.software.compile);
  if (overlaps && !s.software.compile)
    lost.push_back({"overlap.tensor",
                    "overlap.tensor true: torchtitan needs software.compile for it; here layers "
                    "wait for their communication"});
  else if (overlaps && s.software.tensor_overlap == strategies::TensorOverlap::async)
    lost.push_back({"software.tensor_overlap",
                    "software.tensor_overlap async: torchtitan cuts products into parts, which is "
                    "written instead"});
}

void put_context(const Scenario& s, Table& table, LostKeys& lost) {
  const auto& plan = s.plan;
  using enum strategies::ContextMethod;
  table.put("context_parallel_degree", plan.context);
  if (plan.context == 1) return;
  if (s.model.window || s.model.attention_sinks)  // from memory: they need FlexAttention
    lost.push_back({"context_method",
                    fmt::format("context_method {}: torchtitan divides no sequences of models with "
                                "windows or sinks, and refuses to start",
                                word(plan.context_method)),
                    Lost::Effect::never_starts});
  table.put("context_parallel_rotate_method",
            plan.context_method == all_gather ? "allgather" : "alltoall");
  if (plan.context_method == ulysses)
    lost.push_back({"context_method",
                    "context_method ulysses: torchtitan's keys and values go round (alltoall), "
                    "which is written instead, or are gathered"});
}

void put_experts(const Scenario& s, const Division& division, Table& table, LostKeys& lost) {
  const auto& plan = s.plan;
  if (!s.model.moe) return;
  const auto tensor = strategies::expert_tensor(plan);
  const bool whole = plan.expert == 1;  // no expert parallelism
  const bool fits = tensor == plan.tensor || (tensor == 1 && !whole);
  table.put("expert_parallel_degree", division.expert)
      .put("expert_tensor_parallel_degree", division.expert_tensor);
  if (division.expert != plan.expert)
    lost.push_back(
        {"expert", fmt::format("expert {}: torchtitan divides experts over all {} context{} ranks "
                               "and some of those that share states; {} is written instead",
                               plan.expert, plan.context,
                               plan.tensor > 1 && tensor != plan.tensor
                                   ? fmt::format(" x {} tensor", plan.tensor)
                                   : "",
                               division.expert)});
  if (!fits && whole)
    lost.push_back(
        {"expert_tensor", fmt::format("expert_tensor {}: without expert parallelism torchtitan "
                                      "divides experts by tensor ({}), which is written instead",
                                      tensor, plan.tensor)});
  else if (!fits)
    lost.push_back({"expert_tensor", fmt::format("expert_tensor {}: torchtitan divides experts by "
                                                 "tensor ({}) or not; {} is written instead",
                                                 tensor, plan.tensor, division.expert_tensor)});
  if (overlaps_of(s).expert && plan.expert > 1)
    lost.push_back(
        {"overlap.expert", "overlap.expert true: torchtitan's layers wait for their tokens"});
}

}  // namespace

std::string parallelism_text(const Scenario& s, const Pipeline& pipeline, LostKeys& lost) {
  Table table("parallelism");
  const auto division = division_of(s);
  put_data(s, division, table, lost);
  put_tensor(s, table, lost);
  put_pipeline(s, pipeline, table, lost);
  put_context(s, table, lost);
  put_experts(s, division, table, lost);
  lose_replicas(s, division, lost);
  lose_rank_order(s.plan, "torchtitan", lost);
  return table.text();
}

namespace {

// --- activations

// Returns the largest n, at most `most`, such that no virtual stage recomputes fewer layers than
// the plan if every n-th layer of a rank, counted from 1, is recomputed whole.
std::size_t every_layer(const Pipeline& pipeline, std::size_t most) {
  const auto suffices = [&](std::size_t every) {
    std::vector<std::size_t> counted(static_cast<std::size_t>(pipeline.layout.stages), 0);
    for (std::size_t v = 0; v < pipeline.stages.drops.size(); ++v) {
      const auto rank = strategies::place_of(static_cast<int>(v), pipeline.layout).stage;
      auto& count = counted[static_cast<std::size_t>(rank)];
      std::ptrdiff_t spare = 0;
      for (const auto& drop : pipeline.stages.drops[v])
        spare += (++count % every == 0) - (drop.kind != Drop::nothing);
      if (spare < 0) return false;
    }
    return true;
  };
  auto every = most;
  while (every > 1 && !suffices(every)) --every;
  return every;
}

// Whether per-op recomputation keeps no more of the layer than the plan does.
bool within_per_op(const Drop& drop) {
  using strategies::ModuleSet;
  constexpr std::array cheap{model::Module::core_attn, model::Module::layernorm};
  return drop.kind == Drop::nothing || drop.kind == Drop::per_op ||
         (drop.kind == Drop::modules && (drop.of.bits & ~ModuleSet::of(cheap).bits) == 0);
}

}  // namespace

std::string activations_text(const Scenario& s, const Pipeline& pipeline, LostKeys& lost) {
  const auto& stages = pipeline.stages;
  if (s.plan.offload.activations)
    lost.push_back(
        {"offload.activations", fmt::format("{}: torchtitan keeps activations on the device",
                                            offloads(s.plan.offload).back().words)});
  Table table("activation_checkpoint");
  if (!stages.recompute()) return table.put("mode", "none").text();
  lose_rows(s.plan, "torchtitan", lost);
  const bool per_op = std::ranges::all_of(
      stages.drops, [](const auto& drops) { return std::ranges::all_of(drops, within_per_op); });
  const auto most = static_cast<std::size_t>(s.model.layers);
  const auto every = per_op ? 0 : every_layer(pipeline, most);
  const bool exact = per_op ? stages.all({Drop::per_op}) : stages.all({Drop::everything});
  table.put("mode", every == 1 ? "full" : "selective");
  const auto option = per_op ? std::string("op") : fmt::format("{}", every);
  if (every != 1) table.put("selective_ac_option", option.c_str());
  if (!exact)
    lost.push_back(
        {"recompute",
         fmt::format("recompute: the plan recomputes {}; torchtitan has one choice for all layers, "
                     "and {} is written instead, no less anywhere",
                     recompute_words(stages),
                     per_op       ? "all but every second product of all layers"
                     : every == 1 ? "all layers whole"
                                  : fmt::format("one of {} layers of each rank whole", every))});
  return table.text();
}

}  // namespace report::torchtitan

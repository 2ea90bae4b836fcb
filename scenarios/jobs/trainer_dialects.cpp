// SPDX-License-Identifier: Apache-2.0
// Arguments that only axolotl or LLaMA-Factory has.
#include <algorithm>
#include <array>
#include <utility>

#include "scenarios/jobs/trainer_rules.hpp"

namespace scenarios {
namespace {

void read_axolotl_kernels(TrainerJob& job) {
  auto& draft = job.draft;
  constexpr std::array<std::pair<const char*, const char*>, 5> kernels{
      {{"flash_attention", "flash"},
       {"sdp_attention", "flash"},
       {"xformers_attention", "flash"},
       {"flex_attention", "flash"},
       {"eager_attention", "unfused"}}};
  for (const auto& [name, kernel] : kernels)
    if (job.yes(name)) draft.text("software.attention", kernel, {name});
  constexpr std::array<std::pair<const char*, const char*>, 7> fusions{
      {{"liger_fused_linear_cross_entropy", "software.fused_cross_entropy"},
       {"liger_cross_entropy", "software.fused_cross_entropy"},
       {"cut_cross_entropy", "software.fused_cross_entropy"},
       {"chunked_cross_entropy", "software.fused_cross_entropy"},
       {"liger_rms_norm", "software.fused_norm"},
       {"liger_rope", "software.fused_rotary"},
       {"liger_glu_activation", "software.fused_bias_activation"}}};
  for (const auto& [name, key] : fusions)
    if (job.yes(name)) draft.yes_no(key, true, {name});
  for (const auto* name : {"liger_fused_linear_cross_entropy", "cut_cross_entropy"})
    if (job.yes(name))
      draft.text("software.loss_chunks", "liger", {name}, "head and loss in one, part by part");
  if (job.yes("cut_cross_entropy"))
    draft.partly("cut_cross_entropy",
                 "the backward pass makes logits again; the forecast has their memory, not this "
                 "time");
}

// Reads pipeline stages, which only Megatron-LM has; without --use_mca they do nothing.
void read_stages_of(TrainerJob& job) {
  const auto& given = job.given;
  const auto* name = "pipeline_model_parallel_size";
  const auto stages = given.whole_or(name, 1);
  if (stages > 1) {
    const auto* virtual_name = "virtual_pipeline_model_parallel_size";
    const auto chunks = given.whole_or(virtual_name, 1);
    job.draft.whole("plan.pipeline", stages, {name});
    job.draft.text("plan.schedule", chunks > 1 ? "interleaved" : "1f1b", {name, virtual_name});
    if (chunks > 1) job.draft.whole("plan.virtual_stages", chunks, {virtual_name});
  }
  job.pipeline = stages;
}

}  // namespace

void read_axolotl(TrainerJob& job) {
  const auto& given = job.given;
  read_axolotl_kernels(job);
  const auto* some = given.find("unfrozen_parameters");
  if (some != nullptr && !some->values.empty())
    given.refuse("unfrozen_parameters", "weights that stay as they are are not modelled");
  if (given.has("processor_type")) given.refuse("processor_type", "a vision tower is not modelled");
  if (job.yes("pad_to_sequence_len"))  // every sequence is as long as the forecast has it
    job.draft.whole("training.sequence_length", given.whole_or("max_length", 512),
                    {"max_length", "pad_to_sequence_len"});
}

void read_llamafactory(TrainerJob& job) {
  const auto& given = job.given;
  read_stages_of(job);
  if (job.tensor > 1 && job.yes("sequence_parallel"))
    job.draft.yes_no("plan.sequence_parallel", true, {"sequence_parallel"});
  constexpr const char* distributed = "use_distributed_optimizer";
  if (given.has(distributed) && (job.yes("use_mca") || job.tensor > 1 || job.pipeline > 1)) {
    job.draft.whole("plan.zero", job.yes(distributed) ? 1 : 0, {distributed});
    job.draft.yes_no("plan.overlap.data", job.yes("overlap_grad_reduce", true),
                     {"overlap_grad_reduce"});
    job.draft.yes_no("plan.overlap.parameters", job.yes("overlap_param_gather", true),
                     {"overlap_param_gather"});
  }
  const auto kept = job.word("recompute_granularity");
  if (kept == "full" || kept == "selective")
    job.draft.text("plan.recompute", kept, {"recompute_granularity"});
}

}  // namespace scenarios

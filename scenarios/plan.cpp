// SPDX-License-Identifier: Apache-2.0
// The plan: plans/plan.hpp as people write it.
#include "plans/plan.hpp"

#include "plans/words.hpp"
#include "scenarios/plan_keys.hpp"
#include "scenarios/tables.hpp"

namespace scenarios {
namespace {

using strategies::Overlap;
using strategies::Plan;

constexpr Range degree{1, 1'000'000, "1 means that nothing is divided"};

const Table<Overlap>& overlap_table() {
  constexpr auto fallback = "of the software";
  static const Table<Overlap> table{
      yes_no<Overlap>("data", fallback, "Gradient reduction", &Overlap::data),
      yes_no<Overlap>("tensor", fallback, "Tensor-parallel communication", &Overlap::tensor),
      yes_no<Overlap>("pipeline", fallback, "Pipeline transfers", &Overlap::pipeline),
      yes_no<Overlap>("parameters", fallback, "Parameter gathering", &Overlap::parameters),
      yes_no<Overlap>("expert", fallback, "Dispatch to experts and back", &Overlap::expert)};
  return table;
}

Table<Plan> degrees() {
  return {
      whole<Plan>("tensor", "1", degree, "Tensor-parallel degree", &Plan::tensor),
      whole<Plan>("pipeline", "1", {1, 10'000, "1 means no pipeline"}, "Pipeline ranks",
                  &Plan::pipeline),
      whole<Plan>("context", "1", degree, "Context-parallel degree: parts of a sequence",
                  &Plan::context),
      whole<Plan>("expert", "1", degree, "Expert-parallel degree", &Plan::expert),
      whole<Plan>("expert_tensor", "tensor", degree, "Tensor-parallel degree of experts",
                  &Plan::expert_tensor),
      whole<Plan>("data", "GPUs / (tensor x context x pipeline)", degree, "Data-parallel degree",
                  &Plan::data),
      yes_no<Plan>("sequence_parallel", "false", "Megatron's sequence parallelism beside tensor",
                   &Plan::sequence_parallel),
      choice<Plan>("context_method", "ring", "How keys and values reach every part of a sequence",
                   &Plan::context_method)};
}

Table<Plan> stages() {
  return {whole<Plan>("micro_batch", "1", {1, 1'000'000, "sequences of one microbatch"},
                      "Sequences per microbatch of one data-parallel replica", &Plan::micro_batch),
          choice<Plan>("schedule", "1f1b", "Order of the passes of a pipeline", &Plan::schedule),
          whole<Plan>("virtual_stages", "1; 2 with a V schedule",
                      {1, 1'000, "model chunks of one pipeline rank"},
                      "Model chunks per pipeline rank", &Plan::virtual_stages),
          layers_per_stage_key()};
}

Table<Plan> memory_keys() {
  return {whole<Plan>("zero", "0",
                      {0, 3, "0 nothing, 1 optimizer states, 2 and gradients, 3 and parameters"},
                      "What is sharded over data-parallel ranks", &Plan::zero),
          yes_no<Plan>("reshard_after_forward", "true",
                       "With zero 3: free gathered parameters after the forward pass",
                       &Plan::reshard_after_forward),
          choice<Plan>("gradient_sync", "microbatch, or as the software in pipelines",
                       all_words<strategies::GradientSync>(),
                       "With zero 2 or 3: gradients are reduced after every microbatch, or once a "
                       "step, whole on each rank until then (no_sync)",
                       &Plan::gradient_sync),
          shard_group_key(),
          wrap_key(),
          recompute_key(),
          layers_key(),
          offload_key(),
          choice<Plan>("activation_compression", "none", "Compression of kept activations",
                       &Plan::activation_compression)};
}

Table<Plan> traffic() {
  using enum units::Precision;
  return {
      inner<Plan>("overlap", "Which communication runs beside computation", overlap_table(),
                  &Plan::overlap),
      choice<Plan>("gradient_precision", "of the software", words_for({fp32, bf16}),
                   "Accumulation and reduction of gradients", &Plan::gradient_precision),
      choice<Plan>("master_weights", "fp32", words_for({fp32, fp16, bf16}),
                   "The copy of 16-bit weights that the optimizer keeps", &Plan::master_weights),
      choice<Plan>("gradient_compression", "none", "Compression of gradients on the wire",
                   &Plan::gradient_compression),
      bucket_key(),
      rank_order_key()};
}

Table<Plan> make_plan_table() {
  Table<Plan> table;
  for (const auto& part : {degrees(), stages(), memory_keys(), traffic()})
    table.insert(table.end(), part.begin(), part.end());
  return table;
}

const Table<Plan>& plan_table() {
  static const auto made = make_plan_table();
  return made;
}

}  // namespace

std::vector<Field> plan_fields() { return fields_of(plan_table()); }

void read_plan(Plan& plan, const Cursor& at) { read_map(plan_table(), plan, at); }

void check_plan(const Plan& plan, const Cursor& at) { check_values(plan_table(), plan, at); }

Value shown(const Plan& plan) { return show_map(plan_table(), plan); }

}  // namespace scenarios

// SPDX-License-Identifier: Apache-2.0
// Values of a torchtitan file, each as the key of a scenario that it means.
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/scenarios/jobs.hpp"

namespace titan_values_spec {

namespace {

// Llama 3 8B, of 32 layers, with more keys of one section.
auto in(const std::string& section) {
  return [section](const std::string& more) {
    return "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nseq_len = 4096\n"
           "local_batch_size = 6\n" +
           (section == "training" ? more + "\n" : "[" + section + "]\n" + more + "\n");
  };
}

const std::vector<std::string> ranks{"WORLD_SIZE=64"};

void check(const std::string& section, const std::vector<tests::JobCase>& cases) {
  tests::check_values(cases, in(section), ranks);
}

const std::string tensor = "tensor_parallel_degree = 4\n";
const std::string pipeline = "pipeline_parallel_degree = 4\n";

}  // namespace

// 64 GPUs are 64 / (4 x 4) = 4 replicas of tensor and pipeline ranks.
TEST_CASE("a batch of torchtitan is the local batch of every data-parallel rank") {
  check("parallelism",
        {{"", "training.global_batch", "384"},
         {tensor, "training.global_batch", "96"},
         {tensor + pipeline, "training.global_batch", "24"},
         {"context_parallel_degree = 2", "training.global_batch", "192"},
         {"", "plan.micro_batch", "6"},
         {pipeline, "plan.micro_batch", "1"},
         {pipeline + "pipeline_parallel_microbatch_size = 2", "plan.micro_batch", "2"},
         {pipeline + "pipeline_parallel_microbatches = 3", "plan.micro_batch", "2"}});
  check("training", {{"global_batch_size = 768", "training.global_batch", "768"},
                     {"global_batch_size = -1", "training.global_batch", "384"},
                     {"", "training.sequence_length", "4096"}});
}

TEST_CASE("degrees of torchtitan are a plan's, and tensor ranks divide sequences, too") {
  check("parallelism",
        {{"", "plan.tensor", "1"},
         {"", "plan.sequence_parallel", ""},
         {tensor, "plan.tensor", "4"},
         {tensor, "plan.sequence_parallel", "true"},
         {"context_parallel_degree = 2", "plan.context", "2"},
         {"context_parallel_degree = 2", "plan.context_method", "all-gather"},
         {"context_parallel_degree = 2\ncontext_parallel_rotate_method = \"alltoall\"",
          "plan.context_method", "ring"},
         {"context_parallel_rotate_method = \"alltoall\"", "plan.context_method", ""},
         {"expert_parallel_degree = 8", "plan.expert", "8"},
         {"expert_parallel_degree = 8", "plan.expert_tensor", "1"},
         {tensor + "expert_parallel_degree = 8\nexpert_tensor_parallel_degree = 4",
          "plan.expert_tensor", "4"},
         {"expert_parallel_degree = 8\nexpert_parallel_comm_backend = \"deepep\"",
          "software.moe_dispatcher", "deepep"},
         {"expert_parallel_degree = 8", "software.moe_dispatcher", ""}});
}

// 32 layers, embedding and head make 34 slots: 9, 9, 8 and 8 of them, without one at each end.
TEST_CASE("layers of torchtitan's stages follow from slots, of which both ends have some") {
  const std::string schedule = pipeline + "pipeline_parallel_schedule = ";
  const std::string less = "pipeline_parallel_first_stage_less_layers = ";
  const std::string last = "\npipeline_parallel_last_stage_less_layers = ";
  check("parallelism",
        {{pipeline, "plan.schedule", "1f1b"},
         {pipeline, "plan.layers_per_stage", "8 9 8 7"},
         {pipeline + less + "0" + last + "0", "plan.layers_per_stage", "8 8 8 8"},
         {pipeline + less + "2" + last + "2", "plan.layers_per_stage", "7 9 9 7"},
         {pipeline, "plan.virtual_stages", ""},
         {schedule + "\"GPipe\"", "plan.schedule", "gpipe"},
         {schedule + "\"Interleaved1F1B\"", "plan.schedule", "interleaved"},
         {schedule + "\"Interleaved1F1B\"", "plan.virtual_stages", "2"},
         {schedule + "\"Interleaved1F1B\"", "plan.layers_per_stage", "4 5 4 4 4 4 4 3"},
         {schedule + "\"ZBVZeroBubble\"", "plan.schedule", "zb-v"},
         {schedule + "\"DualPipeV\"", "plan.schedule", "dualpipe-v"},
         {schedule + "\"interleaved1f1b\"\npipeline_parallel_layers_per_stage = 3",
          "plan.virtual_stages", "3"},  // 34 slots in 12 stages
         {pipeline, "plan.overlap.pipeline", "false"}});
  tests::check_refusals(
      {{schedule + "\"LoopedBFS\"", "this schedule is not modelled; expected 1F1B, GPipe"},
       {pipeline + "pipeline_parallel_layers_per_stage = 7",
        "7 layers make 5 stages, with embedding and head as layers, which do not divide among 4"},
       {pipeline + less + "20", "stages have fewer layers than the embedding or the head counts"}},
      in("parallelism"), ranks);
}

TEST_CASE("torchtitan gathers parameters again after the forward pass unless there is a pipeline") {
  const std::string again = "fsdp_reshard_after_forward = ";
  check("parallelism", {{"", "plan.zero", "3"},
                        {"", "plan.reshard_after_forward", "true"},
                        {again + "\"never\"", "plan.reshard_after_forward", "false"},
                        {again + "\"always\"", "plan.reshard_after_forward", "true"},
                        {pipeline, "plan.reshard_after_forward", "false"},
                        {pipeline + again + "\"always\"", "plan.reshard_after_forward", "true"}});
  tests::check_refusals({{again + "\"often\"", "expected default, always or never"}},
                        in("parallelism"), ranks);
}

TEST_CASE("torchtitan recomputes layers by its mode") {
  const std::string mode = "mode = ";
  check("activation_checkpoint",
        {{mode + "\"none\"", "plan.recompute", "none"},
         {mode + "\"full\"", "plan.recompute", "full"},
         {mode + "\"selective\"\nselective_ac_option = \"op\"", "plan.recompute", "per-op"}});
  tests::check_refusals(
      {{mode + "\"memory_budget\"", "the compiler chooses what is kept, which is not modelled"},
       {mode + "\"some\"", "expected none, full or selective"},
       {mode + "\"selective\"\nselective_ac_option = \"0\"", "expected none, full or selective"}},
      in("activation_checkpoint"), ranks);
  // The last of every 8 of 32 layers, by the number of the layer from 0.
  const auto job = tests::job(
      in("activation_checkpoint")(mode + "\"selective\"\nselective_ac_option = \"8\""), ranks);
  std::string layers;
  for (const auto& row : job.document.find("plan")->find("layers")->items)
    layers += row.find("from")->text + "-" + row.find("to")->text + " ";
  CHECK(layers == "7-7 15-15 23-23 31-31 ");
}

TEST_CASE("optimizers, offloading and compiler of torchtitan are a scenario's") {
  check("optimizer", {{"name = \"AdamW\"", "training.optimizer", "adamw"},
                      {"name = \"Adam\"", "training.optimizer", "adam"}});
  check("training", {{"", "plan.offload.optimizer", ""},
                     {"enable_cpu_offload = true", "plan.offload.optimizer", "cpu"},
                     {"enable_cpu_offload = true", "plan.offload.gradients", "cpu"},
                     {"enable_cpu_offload = true", "plan.offload.parameters", "cpu"},
                     {"compile = true", "software.compile", "true"}});
  check("compile",
        {{"", "software.compile", "false"},
         {"enable = true", "software.compile", "true"},
         {"enable = true", "software.compiled_cross_entropy", "true"},
         {"enable = true\ncomponents = [\"model\"]", "software.compile", "true"},
         {"enable = true\ncomponents = [\"model\"]", "software.compiled_cross_entropy", "false"},
         {"enable = true\ncomponents = [\"loss\"]", "software.compile", "false"},
         {"components = [\"loss\"]", "software.compiled_cross_entropy", "false"}});
  tests::check_refusals({{"name = \"Muon\"", "optimizer.name Muon: expected AdamW or Adam"}},
                        in("optimizer"), ranks);
}

TEST_CASE("a local batch of torchtitan that does not make its global batch is refused") {
  const auto both = [](const std::string& global) {
    return "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nlocal_batch_size = 6\n"
           "global_batch_size = " +
           global + "\n[parallelism]\npipeline_parallel_degree = 4\n";
  };
  // 16 replicas of 4 stages take 96 sequences at once.
  CHECK(tests::value(both("96"), "training.global_batch", ranks) == "96");
  tests::check_refusals({{"100", "it is no multiple of the 96 sequences that all data-parallel"}},
                        both, ranks);
  CHECK(tests::effect_of(tests::job(both("288"), ranks), "training.local_batch_size 6") ==
        scenarios::Effect::not_modelled);  // the pipeline drains three times
}

}  // namespace titan_values_spec

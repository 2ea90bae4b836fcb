// SPDX-License-Identifier: Apache-2.0
// Recipes of NeMo-AutoModel.
#include <string>

#include "tests/catch.hpp"
#include "tests/scenarios/jobs.hpp"

namespace automodel_job_spec {

using tests::at;
using tests::value;
using tests::wanted;

namespace {

const std::string automodel =
    "step_scheduler: {global_batch_size: 64, local_batch_size: 8}\nmodel:\n"
    "  _target_: nemo_automodel.NeMoAutoModelForCausalLM.from_pretrained\n"
    "  pretrained_model_name_or_path: meta-llama/Llama-3.2-1B\n"
    "distributed: {tp_size: 1}\npacked_sequence: {packed_sequence_size: 0}\n";

}  // namespace

TEST_CASE("a recipe of NeMo-AutoModel is a scenario") {
  const std::string text =
      "model: {_target_: nemo_automodel.NeMoAutoModelForCausalLM.from_config, config: "
      "{pretrained_model_name_or_path: openai/gpt-oss-20b}, backend: {dispatcher: deepep}}\n"
      "step_scheduler: {global_batch_size: 256, local_batch_size: 4}\ndataset: {seq_len: 4096}\n"
      "distributed: {strategy: fsdp2, ep_size: 8, activation_checkpointing: true}\n";
  CHECK(value(text, "model.moe.experts") == "32");
  CHECK(value(text, "plan.expert") == "8");
  CHECK(value(text, "plan.micro_batch") == "4");
  CHECK(value(text, "plan.recompute") == "full");
  CHECK(value(text, "software.moe_dispatcher") == "deepep");
  auto copies = text;
  copies.insert(copies.find("fsdp2") + 5, ", dp_replicate_size: 2");
  CHECK(at(tests::job(copies, {"WORLD_SIZE=32"}).document, "plan.shard_group") == "16");
  CHECK(value(copies, "plan.shard_group").empty());
  auto older = text;
  older.replace(older.find("dispatcher: deepep"), 18, "enable_deepep: true");
  CHECK(value(older, "software.moe_dispatcher") == "deepep");
  older.replace(older.find("enable_deepep: true"), 19, "enable_deepep: false");
  CHECK(value(older, "software.moe_dispatcher") == "all-to-all");
}

TEST_CASE("a pipeline of NeMo-AutoModel stands in a section of its own in older recipes") {
  const std::string text =
      "model: {_target_: nemo_automodel.NeMoAutoModelForCausalLM.from_config, config: "
      "{pretrained_model_name_or_path: Qwen/Qwen3-8B}}\n"
      "step_scheduler: {global_batch_size: 256, local_batch_size: 4}\ndataset: {seq_len: 4096}\n"
      "distributed: {strategy: fsdp2, pp_size: 2}\n"
      "autopipeline: {pp_schedule: gpipe, pp_microbatch_size: 2}\n";
  CHECK(value(text, "plan.schedule") == "gpipe");
  CHECK(value(text, "plan.micro_batch") == "2");
}

// Two moments of two bytes; weights and moments are read and written, gradients read.
TEST_CASE("weights and states of NeMo-AutoModel are in the checkpoint's bf16 unless it is told") {
  const auto bytes = [](const std::string& type) {
    const auto job = tests::job(
        "model: {_target_: nemo_automodel.NeMoAutoModelForCausalLM.from_pretrained, "
        "pretrained_model_name_or_path: Qwen/Qwen3-8B" +
            type +
            "}\nstep_scheduler: {global_batch_size: 256, local_batch_size: 4}\n"
            "dataset: {seq_len: 4096}\ndistributed: {strategy: fsdp2}\n",
        {"WORLD_SIZE=8"});
    return at(job.document, "software.optimizer_bytes") + " " +
           at(job.document, "software.optimizer_traffic") + " " +
           at(job.document, "plan.gradient_precision");
  };
  CHECK(bytes("") == "4 14 bf16");
  CHECK(bytes(", torch_dtype: bfloat16") == "4 14 bf16");
  CHECK(bytes(", torch_dtype: torch.bfloat16") == "4 14 bf16");
  CHECK(bytes(", torch_dtype: float32") == "  ");
  CHECK(tests::refusal([&] { bytes(", torch_dtype: float16"); }).find("expected float32") !=
        std::string::npos);
}

TEST_CASE("arguments behind NeMo-AutoModel's file stand over the file's") {
  const auto read = [](const std::string& command) {
    return tests::beside(command + "\n", {{"a.yaml", automodel}});
  };
  const std::string plain = "torchrun --nproc-per-node=8 finetune.py --config a.yaml";
  CHECK(at(read(plain).document, "plan.micro_batch") == "8");
  CHECK(wanted(read(plain)) == "training.sequence_length cluster.node");
  const auto changed = read(plain +
                            " --step_scheduler.local_batch_size 4 --distributed.tp_size=2 "
                            "--packed_sequence.packed_sequence_size 4096 --no.such 1");
  CHECK(at(changed.document, "plan.micro_batch") == "4");
  CHECK(at(changed.document, "plan.tensor") == "2");
  CHECK(at(changed.document, "training.sequence_length") == "4096");
  CHECK(at(changed.document, "cluster.gpus") == "8");
  CHECK(wanted(changed) == "cluster.node");
  CHECK(tests::effect_of(changed, "--no.such 1") == scenarios::Effect::unknown);
}

TEST_CASE("NeMo-AutoModel's own command names a file and a number of processes") {
  const auto read = [](const std::string& command) {
    return tests::beside(command + "\n", {{"a.yaml", automodel}});
  };
  const auto job = read("automodel finetune llm -c a.yaml --nproc-per-node 4");
  CHECK(job.account.framework == "automodel");
  CHECK(at(job.document, "cluster.gpus") == "4");
  for (const auto& one : job.account.arguments) {
    INFO(one.text);
    CHECK(one.effect != scenarios::Effect::unknown);
  }
  CHECK(tests::refusal([&] { read("automodel finetune llm -c b.yaml"); }) ==
        "job:1:11: automodel is given b.yaml, which is not beside this file; what it trains stands "
        "there");
}

TEST_CASE("sizes beside the model that NeMo-AutoModel loads take the place of its own") {
  auto text = automodel;
  text.insert(text.find("distributed:"), "  num_hidden_layers: 4\n");
  const auto job = tests::job(text, {"WORLD_SIZE=8"});
  CHECK(at(job.document, "model.layers") == "4");
  CHECK(at(job.document, "model.hidden") == "2048");
}

TEST_CASE("older recipes of experts recompute by a section of their own") {
  CHECK(value(automodel + "parallelizer:\n  activation_checkpointing: true\n", "plan.recompute") ==
        "full");
}

}  // namespace automodel_job_spec

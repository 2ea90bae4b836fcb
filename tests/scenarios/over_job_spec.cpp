// SPDX-License-Identifier: Apache-2.0
// Defaults of a framework follow from what lies over its job.
#include <string>
#include <vector>

#include "scenarios/scenario_file.hpp"
#include "tests/catch.hpp"
#include "tests/scenarios/jobs.hpp"

namespace over_job_spec {

namespace {

forecast::Scenario loaded(const std::string& text, std::vector<std::string> sets,
                          std::vector<std::string> env = {}) {
  sets.insert(sets.begin(), "cluster.node=dgx-h100");
  return scenarios::load_placed_scenario(scenarios::Source("job", text), sets, {{}, std::move(env)})
      .value;
}

const std::string megatron =
    "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 4 --hidden-size 1024 "
    "--num-attention-heads 16 --seq-length 1024 --vocab-size 3200 --max-position-embeddings 1024 "
    "--micro-batch-size 1 --global-batch-size 64 --bf16 --tensor-model-parallel-size 2";

const std::string titan =
    "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nseq_len = 1024\n"
    "local_batch_size = 2\n[parallelism]\n";

}  // namespace

TEST_CASE("sizes of Megatron-LM's model that follow from others follow from those of --set") {
  CHECK(loaded(megatron, {}).model.ffn == 4096);
  CHECK(loaded(megatron, {"model.hidden=2048"}).model.ffn == 8192);
  CHECK(loaded(megatron, {"model.hidden=2048", "model.ffn=4096"}).model.ffn == 4096);
  CHECK(loaded(megatron, {"model.heads=32"}).model.kv_heads == 32);
  CHECK(loaded(megatron + " --ffn-hidden-size 3000", {"model.hidden=2048"}).model.ffn == 3000);
}

TEST_CASE("a batch that is so much for each rank follows the size of the cluster") {
  const std::string trainer =
      "torchrun --nproc_per_node 8 --nnodes 4 train.py --model_name_or_path Qwen/Qwen3-8B "
      "--per_device_train_batch_size 1 --gradient_accumulation_steps 8 --bf16 --max_seq_length 64";
  CHECK(loaded(trainer, {}).training.global_batch == 256);
  CHECK(loaded(trainer, {"cluster.nodes=8"}).training.global_batch == 512);
  CHECK(loaded(trainer, {"cluster.gpus=64"}).training.global_batch == 512);
  CHECK(loaded(trainer, {"cluster.nodes=8", "training.global_batch=64"}).training.global_batch ==
        64);
  CHECK(loaded(titan, {"cluster.nodes=4"}).training.global_batch == 64);  // none is in the file
}

TEST_CASE("nodes that a job gives have the GPUs of the scenario's node") {
  const std::string factory =
      "FORCE_TORCHRUN=1 NNODES=2 llamafactory-cli train --stage sft --finetuning_type full "
      "--model_name_or_path Qwen/Qwen3-8B --template default --cutoff_len 2048 --bf16 "
      "--per_device_train_batch_size 1 --gradient_accumulation_steps 2";
  CHECK(loaded(factory, {}).cluster.gpus == 16);
  CHECK(loaded(factory, {}).training.global_batch == 32);
  CHECK(loaded(factory, {"cluster.nodes=4"}).training.global_batch == 64);
}

TEST_CASE("stages that follow from the number of ranks follow from that of --set") {
  const auto two =
      loaded(titan + "pipeline_parallel_degree = 4\n", {"plan.pipeline=2"}, {"WORLD_SIZE=8"});
  CHECK(two.plan.layers_per_stage == std::vector<std::int64_t>{16, 16});
  const auto none = loaded(titan, {"plan.pipeline=2"}, {"WORLD_SIZE=8"});
  CHECK(none.plan.micro_batch == 1);
  CHECK(none.training.global_batch == 8);  // 2 x 8 / 2
}

TEST_CASE("trays and racks of --set replace the number of GPUs of a job") {
  const auto s =
      loaded(megatron, {"cluster.node=gb200-nvl72", "cluster.racks=1", "training.global_batch=72"});
  CHECK(s.cluster.gpus == 72);
  CHECK(loaded(megatron, {"cluster.node=gb200-nvl72", "cluster.trays=4"}).cluster.gpus == 16);
}

TEST_CASE("where the node is known, Transformer Engine's choice of attention is") {
  const auto attention = [](const forecast::Scenario& s) { return s.software.kernels.attention; };
  const auto on_hopper = attention(loaded(megatron, {}));
  CHECK(on_hopper == attention(loaded(megatron + " --attention-backend fused", {})));
  CHECK(on_hopper != attention(loaded(megatron, {"software.attention=flash"})));
  const std::string ampere = "cluster.node=dgx-a100-80gb";
  CHECK(attention(loaded(megatron, {ampere})) ==
        attention(loaded(megatron + " --attention-backend flash", {ampere})));
}

TEST_CASE("whatever lies over a job, it is read or refused in words") {
  const std::string deepspeed =
      R"({"train_batch_size": 64, "gradient_accumulation_steps": 0, "bf16": {"enabled": true},
         "zero_optimization": {"stage": 2}})";
  const std::vector<std::vector<std::string>> wrong{
      {"plan=3"},
      {"plan=auto"},
      {"plan.tensor=4294967296", "plan.context=4294967296"},
      {"plan.pipeline=1000000000000"},
      {"cluster=x"}};
  for (const auto& job : {megatron, titan, deepspeed})
    for (const auto& sets : wrong) CHECK_THROWS_AS(loaded(job, sets), scenarios::Error);
  CHECK_THROWS_AS(loaded(deepspeed, {"cluster.nodes=4"}), scenarios::Error);  // no model
}

TEST_CASE("what is wrong over a job is told beside what the job lacks") {
  const std::vector<std::string> sets{"plan.zero=4", "clustr.nodes=4"};
  const auto told = tests::refusal([&] {
    scenarios::load_placed_scenario(scenarios::Source("job", megatron), sets, {{}, {}});
  });
  CHECK(told.find("cluster.node: a job does not say which machine") != std::string::npos);
  CHECK(told.find("plan.zero: 4 is out of range") != std::string::npos);
  CHECK(told.find("clustr: unknown key") != std::string::npos);
}

TEST_CASE("a number over a job counts as the scenario reads it") {
  for (const auto* four : {"plan.tensor=4", "plan.tensor=4.0", "plan.tensor=4e0"})
    CHECK(loaded(titan, {four, "cluster.nodes=4"}).training.global_batch == 16);  // 2 x 32 / 4
}

}  // namespace over_job_spec

// SPDX-License-Identifier: Apache-2.0
// Jobs of ms-swift: `swift sft` is a job of the Trainer, `megatron sft` one of Megatron-LM.
#include <string>

#include "tests/catch.hpp"
#include "tests/scenarios/jobs.hpp"

namespace swift_job_spec {

using scenarios::Effect;
using tests::at;
using tests::effect_of;
using tests::refused;
using tests::wanted;

namespace {

// A shortened script of its examples, with more arguments.
std::string megatron(const std::string& more = {}) {
  return "PYTORCH_CUDA_ALLOC_CONF='expandable_segments:True' \\\nNPROC_PER_NODE=8 \\\n"
         "CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7 \\\nmegatron sft \\\n"
         "  --load Qwen3-30B-A3B-Base-mcore --dataset 'a/b' --split_dataset_ratio 0.01 \\\n"
         "  --pipeline_model_parallel_size 2 --expert_model_parallel_size 4 \\\n"
         "  --micro_batch_size 1 --global_batch_size 32 --packing true --max_length 8192 \\\n"
         "  --recompute_granularity full --recompute_method uniform --recompute_num_layers 1 \\\n"
         "  --finetune true --cross_entropy_loss_fusion true --no_save_optim true " +
         more + "\n";
}

std::string value(const std::string& more, const std::string& path) {
  return at(tests::job(megatron(more)).document, path);
}

}  // namespace

TEST_CASE("megatron sft is Megatron-LM with a model of Hugging Face and arguments underscored") {
  const auto job = tests::job(megatron());
  CHECK(job.account.framework == "megatron-swift");
  CHECK(at(job.document, "cluster.gpus") == "8");
  CHECK(at(job.document, "model.layers") == "48");
  CHECK(at(job.document, "model.vocab") == "151936");
  CHECK(at(job.document, "model.moe.experts") == "128");
  CHECK(at(job.document, "model.moe.expert_ffn") == "768");
  CHECK(at(job.document, "training.sequence_length") == "8192");
  CHECK(at(job.document, "training.global_batch") == "32");
  CHECK(at(job.document, "plan.pipeline") == "2");
  CHECK(at(job.document, "plan.expert") == "4");
  CHECK(at(job.document, "plan.recompute") == "full");
  CHECK(at(job.document, "software.fused_cross_entropy") == "true");
  CHECK(wanted(job) == "cluster.node");
  for (const auto& one : job.account.arguments) {
    INFO(one.text);
    CHECK(one.effect != Effect::unknown);
  }
}

TEST_CASE(
    "arguments that megatron sft leaves out are at ms-swift's defaults, not at Megatron-LM's") {
  CHECK(value("", "training.precision") == "bf16");
  CHECK(value("--torch_dtype float16", "training.precision") == "fp16");
  CHECK(value("", "plan.zero") == "1");
  CHECK(value("--use_distributed_optimizer false", "plan.zero") == "0");
  CHECK(value("", "software.moe_dispatcher") == "all-to-all");
  CHECK(value("--moe_token_dispatcher_type flex", "software.moe_dispatcher") == "deepep");
  CHECK(value("--tensor_model_parallel_size 2", "plan.expert_tensor") == "1");
  CHECK(value("--tensor_model_parallel_size 2 --expert_tensor_parallel_size 2",
              "plan.expert_tensor") == "2");
  const auto small = tests::job("megatron sft --model Qwen/Qwen2.5-7B-Instruct --max_length 9\n",
                                {"WORLD_SIZE=8"});
  CHECK(at(small.document, "training.global_batch") == "16");
  CHECK(at(small.document, "plan.micro_batch") == "1");
  CHECK(at(small.document, "plan.recompute.selective") == "core_attn");
  CHECK(at(small.document, "model.layers") == "28");
  CHECK(effect_of(small, "--max_length 9") == Effect::not_modelled);  // sequences are not packed
}

TEST_CASE("names of megatron sft are flags of Megatron-LM, true or false") {
  CHECK(value("--no_rope_fusion true", "software.fused_rotary") == "false");
  CHECK(value("--no_rope_fusion false", "software.fused_rotary").empty());
  CHECK(value("--tensor_model_parallel_size 2 --sequence_parallel true",
              "plan.sequence_parallel") == "true");
  CHECK(value("--tensor-model-parallel-size 4", "plan.tensor") == "4");
  CHECK(value("--decoder_first_pipeline_num_layers 23", "plan.layers_per_stage") == "23 25");
  const auto job = tests::job(megatron("--expert_model_paralel_size 3"));
  CHECK(effect_of(job, "--expert_model_paralel_size 3") == Effect::unknown);
}

TEST_CASE("texts that megatron sft packs do not attend to each other, which is not modelled") {
  CHECK(effect_of(tests::job(megatron()), "--packing true") == Effect::not_modelled);
  CHECK(effect_of(tests::job(megatron("--packing false")), "--packing false") == Effect::none);
}

TEST_CASE("a job of megatron sft that does not train a whole text model is refused") {
  CHECK(refused(megatron("--train_type lora")).find("only adapters are trained") !=
        std::string::npos);
  CHECK(refused(megatron("--tuner_type lora")).find("only adapters are trained") !=
        std::string::npos);
  CHECK(refused(megatron("--freeze_llm true")).find("stay as they are") != std::string::npos);
  CHECK(refused("megatron pt --model Qwen/Qwen2.5-VL-7B-Instruct --max_length 9\n")
            .find("a vision tower is not modelled") != std::string::npos);
  CHECK(refused("megatron rlhf --rlhf_type dpo\n").find("a step of preferences and rewards") !=
        std::string::npos);
}

TEST_CASE("a model that megatron sft names and nobody knows is wanted as a whole") {
  const auto job = tests::job("megatron sft --model a/b --max_length 9\n", {"WORLD_SIZE=8"});
  CHECK(wanted(job) == "model cluster.node");
}

TEST_CASE("swift sft is ms-swift's however it is started and however little it is given") {
  const auto adapters = [](const std::string& command) {
    return refused(command + "\n").find("it is not given, which means lora") != std::string::npos;
  };
  CHECK(adapters("swift sft"));
  CHECK(adapters("swift sft --model Qwen/Qwen2.5-7B-Instruct"));
  CHECK(adapters("CUDA_VISIBLE_DEVICES=0,1 swift sft --model a --custom_register_path b.py"));
  const auto job = tests::job(
      "export NPROC_PER_NODE=4\nexport NNODES=2\nswift sft --model Qwen/Qwen2.5-7B-Instruct "
      "--tuner_type full --max_length 4096\n");
  CHECK(at(job.document, "training.precision") == "bf16");
  CHECK(at(job.document, "plan.recompute") == "full");
  CHECK(at(job.document, "cluster.gpus") == "8");
}

TEST_CASE("ms-swift trains adapters in bf16 with recomputation unless it is told") {
  const std::string swift =
      "NPROC_PER_NODE=4 swift sft --model Qwen/Qwen2.5-7B-Instruct --per_device_train_batch_size 1 "
      "--max_length 8192 --packing true --deepspeed zero3_offload";
  CHECK(refused(swift + "\n").find("it is not given, which means lora") != std::string::npos);
  CHECK(refused(swift + " --train_type lora\n").find("only adapters are trained") !=
        std::string::npos);
  const auto job = tests::job(swift + " --train_type full\n");
  CHECK(at(job.document, "cluster.gpus") == "4");
  CHECK(at(job.document, "training.precision") == "bf16");
  CHECK(at(job.document, "plan.recompute") == "full");
  CHECK(at(job.document, "plan.zero") == "3");
  CHECK(at(job.document, "plan.offload.parameters") == "cpu");
  CHECK(at(job.document, "software.base") == "deepspeed");
  CHECK(wanted(job) == "cluster.node");
}

TEST_CASE("sizes that megatron sft is given lie over those of the model that it names") {
  CHECK(value("--num_layers 12", "model.layers") == "12");
  CHECK(value("--num_layers 12", "model.hidden") == "2048");
  CHECK(value("--padded_vocab_size 160000", "model.vocab") == "160000");
  CHECK(value("--hidden_dropout 0.1", "model.dropout") == "0.1");
  CHECK(value("--num_experts 64", "model.moe.experts") == "64");
  CHECK(value("--num_experts 64", "model.moe.top_k") == "8");
}

TEST_CASE("true and false behind a switch of megatron sft are its value and no word of their own") {
  CHECK(value("--bf16 false --fp16 true", "training.precision") == "fp16");
  CHECK(effect_of(tests::job(megatron("--swiglu false nonsense")), "nonsense") == Effect::unknown);
}

}  // namespace swift_job_spec

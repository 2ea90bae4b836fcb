// SPDX-License-Identifier: Apache-2.0
// Recipes of Megatron-Bridge, and what they share with those of NeMo 2.
#include <algorithm>
#include <string>

#include "tests/catch.hpp"
#include "tests/scenarios/jobs.hpp"

namespace bridge_job_spec {

using scenarios::Effect;
using tests::at;
using tests::effect_of;
using tests::value;

TEST_CASE("overrides of Megatron-Bridge leave the model to be asked for, or name its recipe") {
  const std::string text =
      "train: {train_iters: 10, global_batch_size: 8, micro_batch_size: 1}\n"
      "model: {seq_length: 4096, tensor_model_parallel_size: 2, sequence_parallel: true}\n"
      "checkpoint: {save: null}\n";
  const auto job = tests::job(text);
  CHECK(job.account.framework == "megatron-bridge");
  CHECK(job.wanted.front().path == "model");
  CHECK(at(job.document, "plan.tensor") == "2");
  CHECK(at(job.document, "training.precision") == "bf16");
  CHECK(value("recipe: llama32_1b_pretrain_config\n" + text, "model.layers") == "16");
}

TEST_CASE("overrides without a dot, and unknown overrides, are accounted for") {
  const auto job = tests::job(
      "HYDRA_FULL_ERROR=1 torchrun --nproc_per_node 8 run_recipe.py --recipe "
      "llama3_8b_pretrain_config mixed_precision=bf16_with_fp8_current_scaling_mixed "
      "train.global_batch_size=128 train.micro_batch_size=1 model.seq_length=8192 "
      "train.micro_batch_sise=4 +precision_of=all\n");
  CHECK(at(job.document, "training.precision") == "fp8");
  CHECK(at(job.document, "training.fp8_recipe") == "tensorwise");
  CHECK(effect_of(job, "train.micro_batch_sise 4") == scenarios::Effect::unknown);
  CHECK(effect_of(job, "precision_of all") == scenarios::Effect::unknown);
}

TEST_CASE("a variable of the environment in front of a program is no override") {
  const auto job = tests::job(
      "HYDRA_FULL_ERROR=1 ./run_recipe --recipe llama3_8b_pretrain_config "
      "train.global_batch_size=128 train.micro_batch_size=1 train.train_iters=4 seed=1\n",
      {"WORLD_SIZE=8"});
  for (const auto& one : job.account.arguments) CHECK(one.text.find("HYDRA") == std::string::npos);
  CHECK(effect_of(job, "seed 1") == Effect::unknown);
}

TEST_CASE("a recipe of which only the model is known is listed as not modelled") {
  const std::string recipe = "--recipe llama3_8b_pretrain_config";
  const auto job = tests::job(
      "torchrun --nproc_per_node 8 run_recipe.py " + recipe +
      " model.tensor_model_parallel_size=2 train.global_batch_size=128 train.micro_batch_size=1\n");
  CHECK(tests::effect_of(job, recipe) == scenarios::Effect::not_modelled);
}

TEST_CASE("a command that names a recipe or its program is one of Bridge with a single override") {
  const std::string start = "torchrun --nproc_per_node 8 ";
  for (const std::string command :
       {"scripts/run_recipe.py --recipe llama3_8b_pretrain_config train.global_batch_size=128",
        "scripts/run_recipe.py --recipe llama3_8b_pretrain_config "
        "model.tensor_model_parallel_size=2",
        "mine.py --recipe=llama3_8b_pretrain_config train.micro_batch_size=1",
        "examples/recipes/llama/pretrain_llama3_8b.py model.pipeline_model_parallel_size=2"}) {
    INFO(command);
    const auto job = tests::job(start + command + "\n");
    CHECK(job.account.framework == "megatron-bridge");
    const bool named = command.find("--recipe") != std::string::npos;
    CHECK((at(job.document, "model.layers") == "32") == named);
    CHECK(std::ranges::count(job.wanted, "model", &scenarios::WantedKey::path) == (named ? 0 : 1));
    CHECK(std::ranges::count(job.wanted, "training.sequence_length", &scenarios::WantedKey::path) ==
          1);
  }
  const auto refused = [&](const std::string& command) {
    return tests::refusal([&] { tests::job(start + command + "\n"); });
  };
  CHECK(refused("run_recipe.py --recipe llama3_8b_pretrain_config").find("no program of") !=
        std::string::npos);
  CHECK(refused("mine.py train.global_batch_size=128").find("no program of") != std::string::npos);
  CHECK(refused("mine.py train.size=1 # run_recipe.py").find("no program of") != std::string::npos);
  CHECK(
      refused("mine.py model.num_layers=24\necho run_recipe.py --recipe a").find("no program of") !=
      std::string::npos);
  // programs of others with such names have keys that Bridge has not
  for (const std::string others :
       {"pretrain_mine.py model.hidden_dim=4096 train.train_iters=100",
        "finetune_gpt.py model.num_layers=24 model.hidden_size=1024 train.batch=3"}) {
    INFO(others);
    CHECK(refused(others).find("no program of") != std::string::npos);
  }
}

TEST_CASE("overrides of a recipe are read from a command line") {
  const auto job = tests::job(
      "torchrun --nproc_per_node 8 --nnodes 2 pretrain.py --recipe llama3_8b_pretrain_config \\\n"
      "  train.global_batch_size=128 train.micro_batch_size=1 model.tensor_model_parallel_size=2 "
      "\\\n"
      "  +model.sequence_parallel=true dataset.sequence_length=8192\n");
  CHECK(job.account.framework == "megatron-bridge");
  CHECK(at(job.document, "cluster.gpus") == "16");
  CHECK(at(job.document, "plan.tensor") == "2");
  CHECK(at(job.document, "model.layers") == "32");
  CHECK(at(job.document, "training.sequence_length") == "8192");
}

TEST_CASE(
    "recipes of NeMo 2 and Bridge sum gradients in fp32, and the performance scripts in bf16") {
  const auto gradients = [](const std::string& command) {
    return value(command + "\n", "plan.gradient_precision");
  };
  const std::string nemo2 = "nemo llm pretrain --factory llama3_8b trainer.num_nodes=2",
                    bridge =
                        "torchrun --nproc_per_node 8 run_recipe.py --recipe "
                        "llama3_8b_pretrain_config train.micro_batch_size=1",
                    scripts =
                        "python setup_experiment.py -m llama3 -mr 8b -c bf16 -ng 8 -mb 1 -gb 128 "
                        "-tp 1 -pp 1 -cp 1";
  CHECK(gradients(nemo2) == "fp32");
  CHECK(gradients(nemo2 + " trainer.plugins.grad_reduce_in_fp32=false") == "bf16");
  CHECK(gradients(bridge) == "fp32");
  CHECK(gradients(bridge + " mixed_precision=bf16_with_fp8_current_scaling_mixed") == "fp32");
  CHECK(gradients(bridge + " mixed_precision.grad_reduce_in_fp32=false") == "bf16");
  CHECK(gradients(bridge + " ddp.grad_reduce_in_fp32=false") == "fp32");  // written over
  CHECK(gradients(bridge + " mixed_precision=fp16_mixed").empty());
  CHECK(value(bridge + " mixed_precision=fp16_mixed\n", "software.gradient_precision") == "fp16");
  CHECK(gradients(scripts) == "bf16");
  CHECK(gradients(scripts + " mixed_precision.grad_reduce_in_fp32=true") == "fp32");
}

TEST_CASE("tensor-parallel communication is cut into parts only where a job asks for it") {
  const auto overlap = [](const std::string& text) {
    return value(text, "software.tensor_overlap");
  };
  const std::string nemo2 =
      "nemo llm pretrain --factory llama3_8b trainer.strategy.tensor_model_parallel_size=2";
  const std::string bridge =
      "torchrun --nproc_per_node 8 run_recipe.py --recipe llama3_8b_pretrain_config "
      "model.tensor_model_parallel_size=2";
  CHECK(overlap(nemo2 + "\n") == "async");
  CHECK(overlap(nemo2 + " model.config.tp_comm_overlap=true\n") == "pipelined");
  CHECK(overlap(bridge + "\n") == "async");
  CHECK(overlap(bridge + " comm_overlap.tp_comm_overlap=true\n") == "pipelined");
  CHECK(overlap("python setup_experiment.py -m llama3 -mr 8b -ng 8 -mb 1 -gb 128 -tp 2\n") ==
        "pipelined");
}

}  // namespace bridge_job_spec

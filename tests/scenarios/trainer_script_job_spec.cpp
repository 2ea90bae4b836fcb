// SPDX-License-Identifier: Apache-2.0
// Commands of training scripts of Hugging Face's Trainer, and the files that they name.
#include <string>

#include "tests/catch.hpp"
#include "tests/scenarios/jobs.hpp"

namespace trainer_script_job_spec {

using scenarios::Effect;
using tests::at;
using tests::beside;
using tests::effect_of;
using tests::wanted;

namespace {

const std::string start = "torchrun --nproc_per_node 8 ";
const std::string sizes =
    " --model_name_or_path Qwen/Qwen3-8B --per_device_train_batch_size 4 --max_length 1024 --bf16";
const std::string recipe =
    "model_name_or_path: Qwen/Qwen3-8B\nmax_length: 2048\npacking: true\nbf16: true\n"
    "gradient_accumulation_steps: 4\nper_device_train_batch_size: 16\n";

std::string batch(const scenarios::JobScenario& job) {
  return at(job.document, "training.global_batch");
}

}  // namespace

TEST_CASE("FSDP's file is read as its keys in the job are") {
  const auto text =
      start + "train.py" + sizes + " --fsdp \"full_shard auto_wrap\" --fsdp_config fsdp.json\n";
  const std::string keys = R"({"activation_checkpointing": true, "offload_params": "true"})";
  const auto job = beside(text, {{"fsdp.json", keys}});
  CHECK(at(job.document, "plan.recompute") == "full");
  CHECK(at(job.document, "plan.offload.optimizer") == "cpu");
  CHECK(effect_of(job, "--fsdp_config fsdp.json") == Effect::none);
  const auto above = beside(text, {{"../fsdp.json", keys}});
  CHECK(at(above.document, "plan.recompute") == "full");
  const auto inside =
      beside(start + "train.py" + sizes + " --fsdp full_shard --fsdp_config '" + keys + "'\n", {});
  CHECK(at(inside.document, "plan.recompute") == "full");
  CHECK(wanted(beside(text, {})) == "plan.recompute cluster.node");
}

TEST_CASE("a recipe that a training script is given stands below the script's arguments") {
  const std::string over = " --per_device_train_batch_size=8 --gradient_accumulation_steps=2\n";
  for (const auto* name : {"r.yaml", "--config r.yaml", "--config=r.yaml"}) {
    INFO(name);
    const auto job = beside(start + "run_sft.py " + name + over, {{"r.yaml", recipe}});
    CHECK(batch(job) == "128");  // 8 x 2 x 8
    CHECK(at(job.document, "training.sequence_length") == "2048");
    CHECK(at(job.document, "model.layers") == "36");
    CHECK(tests::refusal([&] {
            beside(start + "run_sft.py " + name + over, {});
          }).ends_with("this file is not beside the job; what it trains stands there"));
  }
}

TEST_CASE("a recipe that accelerate's script is given stands on accelerate's configuration") {
  const std::string sharding =
      "distributed_type: DEEPSPEED\nnum_processes: 16\ndeepspeed_config: {zero_stage: 3}\n";
  for (const auto* name : {"r.yaml", "--config r.yaml", "--config=r.yaml"}) {
    INFO(name);
    const auto job = beside("accelerate launch --config_file a.yaml sft.py " + std::string(name),
                            {{"a.yaml", sharding}, {"r.yaml", recipe}});
    CHECK(at(job.document, "plan.zero") == "3");
    CHECK(at(job.document, "plan.micro_batch") == "16");
    CHECK(batch(job) == "1024");  // 16 x 4 x 16
  }
}

TEST_CASE("scripts that learn from preferences and rewards are refused by their name") {
  const std::string why =
      " is more than one of a language model: it compares, rewards or generates";
  const auto refused = [](const std::string& command) {
    return tests::refusal([&] { beside(command, {{"r.yaml", recipe}}); });
  };
  CHECK(refused(start + "src/grpo.py --config r.yaml\n") ==
        "job:1:41: grpo.py: a step of grpo" + why);
  CHECK(refused(start + "run_dpo.py" + sizes + "\n") ==
        "job:1:40: run_dpo.py: a step of dpo" + why);
  CHECK(refused("accelerate launch --num_processes 8 PPO-train.py --learning_rate 1\n")
            .ends_with("a step of ppo" + why));
  CHECK(refused(start + "-m open.rloo --config r.yaml\n").ends_with("a step of rloo" + why));
  CHECK(refused(start + "reward_modeling.py r.yaml\n").ends_with("a step of reward" + why));
  CHECK(refused(start + "supported.py" + sizes + "\n") == "accepted");
}

TEST_CASE("LLaMA-Factory's arguments on a command line are its own") {
  const std::string factory =
      start +
      "src/train.py --stage sft --model_name_or_path Qwen/Qwen3-8B --cutoff_len 4096 "
      "--per_device_train_batch_size 4 --bf16 --overwrite_cache ";
  const auto job = tests::job(factory + "--finetuning_type full --template qwen\n");
  CHECK(job.account.framework == "llamafactory");
  CHECK(at(job.document, "training.sequence_length") == "4096");
  CHECK(at(job.document, "plan.recompute") == "full");  // unless it is disabled
  CHECK(batch(job) == "32");
  CHECK(tests::refused(factory + "--template qwen\n").find("which means lora") !=
        std::string::npos);
  CHECK(tests::refused(start + "src/train.py --stage dpo --model_name_or_path a "
                               "--finetuning_type full\n")
            .find("a step of dpo") != std::string::npos);
}

}  // namespace trainer_script_job_spec

// SPDX-License-Identifier: Apache-2.0
// Jobs of scripts around Hugging Face's Trainer that train adapters, or a part of the weights.
#include <algorithm>
#include <string>

#include "tests/catch.hpp"
#include "tests/scenarios/jobs.hpp"

namespace adapter_job_spec {
using tests::at;
using tests::wanted;

const std::string rest =
    " --model_name_or_path meta-llama/Llama-2-7b-hf --per_device_train_batch_size 2 "
    "--model_max_length 2048 --bf16 True";
const std::string adapters =
    ": only adapters are trained; weights that stay as they are are not modelled";

// The refusals of this command of a training script, one line each, without their places.
std::string of(const std::string& script, const std::string& arguments) {
  const auto all =
      tests::refused("torchrun --nproc-per-node 8 " + script + rest + arguments + "\n");
  std::string texts;
  for (std::size_t begin = 0; begin < all.size();) {
    const auto end = std::min(all.find('\n', begin), all.size());
    const auto line = all.substr(begin, end - begin);
    const auto blank = line.find(": ");
    texts += (texts.empty() ? "" : "\n") + (blank == line.npos ? line : line.substr(blank + 2));
    begin = end + 1;
  }
  return texts;
}

TEST_CASE("a rank of adapters is refused where the Trainer's script takes it") {
  CHECK(of("train.py", "") == "accepted");
  CHECK(of("train.py", " --lora_r 8") == "--lora_r 8" + adapters);
  CHECK(of("train.py", " --lora_rank 64") == "--lora_rank 64" + adapters);
  CHECK(of("main.py", " --lora_dim 128") == "--lora_dim 128" + adapters);
  CHECK(of("main.py", " --lora_dim 0") == "accepted");
  CHECK(of("sft.py", " --lora_r 8") == "accepted");  // TRL's, where use_peft switches them on
  CHECK(of("sft.py", " --lora_r 8 --use_peft") == "--use_peft" + adapters);
}

TEST_CASE("switches and kinds of adapters are refused, and those that are off are not") {
  for (const std::string name : {"use_peft_lora", "lora_enable", "use_lora", "q_lora"})
    CHECK(of("train.py", " --" + name + " True") == "--" + name + " True" + adapters);
  CHECK(of("train.py", " --use_peft_lora False --lora_r 8") == "accepted");
  CHECK(of("train.py", " --peft_method lora") == "--peft_method lora" + adapters);
  CHECK(of("train.py", " --train_mode qlora") == "--train_mode qlora" + adapters);
  CHECK(of("train.py", " --train_mode full") == "accepted");
  const std::string stay = ": weights that stay as they are are not modelled";
  CHECK(of("train.py", " --freeze_backbone True") == "--freeze_backbone True" + stay);
  CHECK(of("train.py", " --freeze_backbone False --use_lisa 0") == "accepted");
  CHECK(of("train.py", " --use_lisa 1") == "--use_lisa 1" + stay);
}

TEST_CASE("weights of less than 16 bit are refused") {
  CHECK(of("train.py", " --bits 4") ==
        "--bits 4: weights in few bits that stay as they are are not modelled");
  CHECK(of("train.py", " --bits 16") == "accepted");
}

TEST_CASE("a script whose name has a word for adapters is refused, unless it trains all weights") {
  CHECK(of("train_lora.py", "") == "train_lora.py" + adapters);
  CHECK(of("qlora.py", "") == "qlora.py" + adapters);
  CHECK(of("run_clm_pt_with_peft.py", "") == "run_clm_pt_with_peft.py" + adapters);
  CHECK(of("explorations.py", "") == "accepted");
  CHECK(of("qlora.py", " --full_finetune --bits 16") == "accepted");
}

TEST_CASE("sharding by FairScale is refused, as Transformers has removed it") {
  CHECK(of("train.py", " --sharded_ddp zero_dp_3") ==
        "--sharded_ddp zero_dp_3: Transformers has removed it; write --fsdp full_shard or "
        "shard_grad_op or name a DeepSpeed file");
}

TEST_CASE("a file of the Trainer's arguments that names adapters is refused") {
  CHECK(tests::refused("{\"model_name_or_path\": \"Qwen/Qwen2-7B\", \"train_mode\": \"qlora\",\n"
                       "\"per_device_train_batch_size\": 1}\n") ==
        "job:1:41: train_mode qlora" + adapters);
}

TEST_CASE("DeepSpeed-Chat's switch has the optimizer on the host, and the weights with stage 3") {
  const std::string chat =
      "deepspeed --num_gpus 8 main.py --model_name_or_path facebook/opt-1.3b --max_seq_len 512 "
      "--per_device_train_batch_size 8 --deepspeed --zero_stage ";
  const auto job = tests::job(chat + "2 --offload\n");
  CHECK(at(job.document, "plan.offload.optimizer") == "cpu");
  CHECK(at(job.document, "plan.offload.gradients") == "cpu");
  CHECK(at(job.document, "plan.offload.parameters").empty());
  CHECK(at(tests::job(chat + "3 --offload\n").document, "plan.offload.parameters") == "cpu");
  CHECK(at(tests::job(chat + "2\n").document, "plan.offload.optimizer").empty());
}

TEST_CASE(
    "ms-swift 2 names the training, the model, the batch and DeepSpeed's file by other words") {
  const std::string swift =
      "NPROC_PER_NODE=4 swift sft --model_type qwen2-7b-instruct --max_length 2048 --batch_size 3 "
      "--gradient_accumulation_steps 4 --deepspeed default-zero3 --sft_type ";
  const auto job = tests::job(swift + "full\n");
  CHECK(at(job.document, "model.name") == "qwen2-7b-instruct");
  CHECK(at(job.document, "plan.micro_batch") == "3");
  CHECK(at(job.document, "training.global_batch") == "48");  // 3 x 4 steps x 4 ranks
  CHECK(at(job.document, "plan.zero") == "3");
  CHECK(wanted(job) == "cluster.node");
  CHECK(tests::refused(swift + "lora\n").find("only adapters are trained") != std::string::npos);
}

TEST_CASE("a part of adapters of Bridge is refused, and so is its program that fine-tunes") {
  const auto refused = [](const std::string& command) {
    return tests::refused("torchrun --nproc-per-node 8 " + command +
                          " train.micro_batch_size=1 train.global_batch_size=8\n")
               .find("only adapters are trained") != std::string::npos;
  };
  CHECK(refused("run_recipe.py --recipe llama32_1b_sft_config peft.dim=8"));
  CHECK(
      refused("run_recipe.py --recipe llama32_1b_pretrain_config "
              "peft._target_=megatron.bridge.peft.lora.LoRA"));
  CHECK(refused("finetune_llama32_1b.py --recipe llama32_1b peft.dim=8"));
  CHECK(refused("finetune_llama32_1b.py --recipe llama32_1b"));
  CHECK_FALSE(refused("finetune_llama32_1b.py --recipe llama32_1b peft=none"));
  CHECK_FALSE(refused("run_recipe.py --recipe llama32_1b_sft_config"));
}

TEST_CASE(
    "weights that ms-swift freezes, holds in few bits or trains in a smaller space are refused") {
  const std::string swift =
      "NPROC_PER_NODE=8 swift sft --model Qwen/Qwen2.5-7B-Instruct --train_type full --max_length "
      "2048 --packing true --per_device_train_batch_size 1 --deepspeed zero2 ";
  struct Case {
    std::string more, why;
  };
  const Case cases[]{{"--freeze_parameters_ratio 0.3", "weights that stay as they are"},
                     {"--freeze_parameters a b", "weights that stay as they are"},
                     {"--freeze_parameters_regex a", "weights that stay as they are"},
                     {"--freeze_llm true", "weights that stay as they are"},
                     {"--lisa_activated_layers 2", "weights that stay as they are"},
                     {"--quant_bits 4", "weights in few bits"},
                     {"--quant_method bnb", "weights in few bits"},
                     {"--use_galore true", "gradients in a smaller space"},
                     {"--optimizer lorap", "this optimizer is not modelled"}};
  for (const auto& [more, why] : cases) {
    INFO(more);
    CHECK(tests::refused(swift + more + "\n").find(why) != std::string::npos);
  }
  const auto value = [&](const std::string& more, const std::string& path) {
    return at(tests::job(swift + more + "\n").document, path);
  };
  // They only add to what is trained.
  CHECK(value("--trainable_parameters lm_head", "training.optimizer") == "adamw");
  CHECK(value("--freeze_llm No", "training.optimizer") == "adamw");
  CHECK(value("--freeze_llm false --lisa_activated_layers 0", "training.optimizer") == "adamw");
  CHECK(value("--optimizer muon", "training.optimizer") == "muon");
  CHECK(value("--deepspeed_autotp_size 2", "plan.tensor") == "2");
}

TEST_CASE("ms-swift's fsdp2 is the Trainer's FSDP of version 2, layer by layer") {
  const auto job = tests::job(
      "NPROC_PER_NODE=8 swift sft --model Qwen/Qwen2.5-7B-Instruct --train_type full --max_length "
      "2048 --packing true --per_device_train_batch_size 1 --fsdp fsdp2\n");
  CHECK(at(job.document, "plan.zero") == "3");
  CHECK(at(job.document, "plan.wrap").empty());
  CHECK(at(job.document, "software.copies_parameters") == "true");
}

}  // namespace adapter_job_spec

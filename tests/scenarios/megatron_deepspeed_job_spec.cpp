// SPDX-License-Identifier: Apache-2.0
// Arguments of Megatron-LM's forks for DeepSpeed, of Microsoft and of BigScience.
#include <string>

#include "tests/catch.hpp"
#include "tests/scenarios/jobs.hpp"

namespace megatron_deepspeed_job_spec {

using scenarios::Effect;
using tests::at;
using tests::effect_of;

namespace {

std::string list(const std::string& more) {
  return "# arguments\n--deepspeed\n--zero-stage 0\n--num-layers 12\n--hidden-size 512\n"
         "--num-attention-heads 8\n--seq-length 1024\n--global-batch-size 32\n"
         "--micro-batch-size 4\n" +
         more;
}

std::string value(const std::string& more, const std::string& path) {
  return at(tests::job(list(more)).document, path);
}

std::string refused(const std::string& more) {
  return tests::refusal([&] { tests::job(list(more)); });
}

const std::string moe = "--fp16\n--num-experts 16\n--moe-expert-parallel-size 8\n";

}  // namespace

TEST_CASE("Megatron-DeepSpeed recomputes whole layers one by one unless it is told how many") {
  CHECK(value("--fp16\n--recompute-granularity full\n--recompute-method uniform",
              "plan.recompute") == "full");
}

// deepspeed_derived_defaults: overlap_comm is true for stage 3 where it is not given.
TEST_CASE("DeepSpeed's defaults hold where Megatron-DeepSpeed's file is not there, which is said") {
  auto job = list("--fp16\n--deepspeed_config ds.json\n");
  const auto stage = job.find("--zero-stage 0");
  const auto of = [&](const char* number) {
    return tests::job(job.replace(stage, 14, std::string("--zero-stage ") + number));
  };
  CHECK(at(of("1").document, "plan.overlap.data") == "false");
  const auto third = of("3");
  CHECK(at(third.document, "plan.overlap.data") == "true");
  CHECK(at(third.document, "plan.overlap.parameters") == "true");
  CHECK(effect_of(third, "--deepspeed_config ds.json") == Effect::not_modelled);
  const auto file = [&](const std::string& text) {
    return at(tests::beside(job, {{"ds.json", text}}).document, "plan.overlap.data");
  };
  CHECK(file("{\"zero_optimization\": {\"stage\": 3, \"overlap_comm\": false}}") == "false");
}

// In megatron/model/transformer.py of Microsoft's fork, layer N of 1, 2, … has experts if the
// interval divides N.
TEST_CASE("experts of Megatron-DeepSpeed have its own arguments and defaults") {
  CHECK(value(moe, "model.moe.experts") == "16");
  CHECK(value(moe, "model.moe.top_k") == "1");
  CHECK(value(moe, "model.moe.first_dense_layers") == "1");
  CHECK(value(moe, "model.moe.every") == "2");
  CHECK(value(moe, "model.moe.capacity_factor") == "1.0");
  CHECK(value(moe, "plan.expert") == "8");
  CHECK(value(moe, "software.moe_dispatcher") == "all-to-all");
  CHECK(value(moe + "--topk 2", "model.moe.top_k") == "2");
  CHECK(value(moe + "--expert-interval 3", "model.moe.first_dense_layers") == "2");
  CHECK(value(moe + "--expert-interval 1", "model.moe.first_dense_layers").empty());
  CHECK(value(moe + "--expert-interval 1", "model.moe.every") == "1");
  CHECK(value(moe + "--moe-train-capacity-factor 1.25", "model.moe.capacity_factor") == "1.25");
  CHECK(value(moe + "--moe-train-capacity-factor 1.25", "model.moe.pad_to_capacity") == "true");
  CHECK(value(moe + "--disable-moe-token-dropping", "model.moe.capacity_factor").empty());
  CHECK(value(moe, "software.einsum_dispatch").empty());  // the profile has it
  CHECK(value(moe + "--use-tutel", "software.einsum_dispatch") == "false");
}

TEST_CASE("experts of Megatron-DeepSpeed are whole on a rank unless they are to be divided") {
  const auto two = moe + "--tensor-model-parallel-size 2\n";
  CHECK(value(two, "plan.expert_tensor") == "1");
  CHECK(value(two + "--enable-expert-tensor-parallelism", "plan.expert_tensor") == "2");
}

TEST_CASE("one expert of Megatron-DeepSpeed is a dense layer") {
  const std::string one = "--fp16\n--num-experts 1\n--moe-expert-parallel-size 1\n";
  CHECK(value(one, "model.moe.experts").empty());
  CHECK(value(one, "plan.expert").empty());
}

TEST_CASE("further arguments of Megatron-DeepSpeed's experts are judged or refused") {
  const auto job = tests::job(
      list(moe + "--moe-eval-capacity-factor 2.0\n--moe-min-capacity 4\n--moe-loss-coeff 0.01\n"
                 "--create-moe-param-group"));
  for (const auto* one : {"--moe-eval-capacity-factor 2.0", "--moe-min-capacity 4",
                          "--moe-loss-coeff 0.01", "--create-moe-param-group"})
    CHECK(effect_of(job, one) == Effect::none);
  // 4 x 1,024 tokens are 256 for each of 16 experts.
  CHECK(effect_of(tests::job(list(moe + "--moe-min-capacity 512")), "--moe-min-capacity 512") ==
        Effect::not_modelled);
  CHECK(refused("--fp16\n--num-experts 16 32\n--moe-expert-parallel-size 8") ==
        "job:11:1: --num-experts 16 32: layers with numbers of experts of their own are not "
        "modelled");
  CHECK(refused(moe + "--mlp-type residual") ==
        "job:13:1: --mlp-type residual: a dense layer beside the experts is not modelled");
  CHECK(value(moe + "--mlp-type standard", "model.moe.experts") == "16");
}

TEST_CASE("sizes and kernels of Megatron-DeepSpeed have its own arguments") {
  CHECK(value("--fp16\n--num-key-value-heads 2", "model.kv_heads") == "2");
  CHECK(value("--fp16", "software.attention") == "unfused");
  for (const auto* one : {"", "-v1", "-v2", "-triton", "-builder"})
    CHECK(value("--fp16\n--use-flash-attn" + std::string(one), "software.attention") == "flash");
  const auto job = tests::job(list("--fp16\n--checkpoint-in-cpu\n--lr-warmup-tokens 375000000"));
  CHECK(effect_of(job, "--checkpoint-in-cpu") == Effect::not_modelled);
  CHECK(effect_of(job, "--lr-warmup-tokens 375000000") == Effect::none);
}

// In deepspeed/runtime/bf16_optimizer.py replicas divide the states.
TEST_CASE("bf16 of Megatron-DeepSpeed divides optimizer states where no ZeRO stage is asked for") {
  CHECK(value("--bf16", "plan.zero") == "1");
  CHECK(value("--fp16", "plan.zero") == "0");
  CHECK(value("--bf16\n--zero-stage 2", "plan.zero") == "2");
  CHECK(at(tests::job(
               "# arguments\n--num-layers 12\n--hidden-size 512\n--num-attention-heads 8\n"
               "--seq-length 1024\n--bf16\n--deepspeed\n--deepspeed-activation-checkpointing\n")
               .document,
           "plan.zero") == "1");
}

// A command whose DeepSpeed file has this text.
std::string value_with_file(const std::string& flags, const std::string& file,
                            const std::string& path) {
  const std::string command =
      "deepspeed --num_gpus 8 pretrain_gpt.py --num-layers 12 --hidden-size 512 "
      "--num-attention-heads 8 --seq-length 1024 --global-batch-size 32 --micro-batch-size 4 "
      "--deepspeed --deepspeed_config ds.json ";
  return at(tests::beside(command + flags + "\n", {{"ds.json", file}}).document, path);
}

TEST_CASE("bf16 divides optimizer states where DeepSpeed's file asks for no ZeRO stage") {
  const auto zero = [](const std::string& flags, const std::string& file) {
    return value_with_file(flags, file, "plan.zero");
  };
  const std::string none = R"({"zero_optimization": {"stage": 0}})",
                    second = R"({"zero_optimization": {"stage": 2}})";
  CHECK(zero("--bf16 --zero-stage 0", none) == "1");
  CHECK(zero("--bf16 --zero-stage 2", none) == "1");  // the file holds
  CHECK(zero("--bf16", none) == "1");
  CHECK(zero("--bf16", "{}") == "1");
  CHECK(zero("--fp16", none) == "0");
  CHECK(zero("--bf16", second) == "2");
  CHECK(zero("--bf16", R"({"zero_optimization": true})") == "1");
}

TEST_CASE("sizes and precision of DeepSpeed's file are those of the flags beside it") {
  const auto refused = [](const std::string& file) {
    return tests::refusal([&] { value_with_file("--bf16", file, "plan.zero"); });
  };
  CHECK(refused(R"({"train_micro_batch_size_per_gpu": 4, "train_batch_size": 32,)"
                R"( "bf16": {"enabled": true}})") == "accepted");
  CHECK(refused(R"({"train_micro_batch_size_per_gpu": 2})") ==
        "ds.json:1:2: train_micro_batch_size_per_gpu 2: --micro-batch-size is 4, by which the "
        "script loads data, and DeepSpeed counts by its file; write the same");
  CHECK(refused(R"({"train_batch_size": 64})").find("--global-batch-size is 32") !=
        std::string::npos);
  CHECK(refused(R"({"fp16": {"enabled": true}})") ==
        "ds.json:1:11: fp16.enabled true: --bf16 asks for another precision; write the same");
}

TEST_CASE("gradients are summed in fp32 beside those of bf16 by BF16_Optimizer alone") {
  const auto base = [](const std::string& more) { return value(more, "software.base"); };
  const std::string sums = "megatron-deepspeed-bf16", plain = "megatron-deepspeed";
  CHECK(base("--bf16") == sums);
  CHECK(base("--fp16") == plain);
  CHECK(base("--bf16\n--zero-stage 1") == sums);
  for (const auto* stage : {"2", "3"})
    CHECK(base("--bf16\n--zero-stage " + std::string(stage)) == plain);
  const auto with_file = [](const std::string& stage, const std::string& more) {
    return value_with_file("--bf16", R"({"zero_optimization": {"stage": )" + stage + more,
                           "software.base");
  };
  const std::string wide = R"(, "data_types": {"grad_accum_dtype": "fp32"}})";
  CHECK(with_file("0", "}}") == sums);
  CHECK(with_file("1", "}}") == sums);
  CHECK(with_file("1", R"(}, "data_types": {"grad_accum_dtype": "bf16"}})") == plain);
  CHECK(with_file("1", "}" + wide) == sums);
  CHECK(with_file("1", R"(, "offload_optimizer": {"device": "cpu"}})" + wide) == plain);
  CHECK(with_file("2", "}" + wide) == plain);
  CHECK(value_with_file("--bf16", R"({"zero_optimization": {"stage": 2})" + wide,
                        "plan.gradient_precision") == "fp32");
}

TEST_CASE("DeepSpeed's file decides sharding, whether the script writes it or it is beside it") {
  const std::string config =
      "{\n  \"zero_optimization\": {\"stage\": 3, \"overlap_comm\": true,\n"
      "    \"reduce_bucket_size\": 90000000, \"offload_optimizer\": {\"device\": \"cpu\"}}\n}\n";
  const std::string command =
      "deepspeed --num_gpus 8 pretrain_gpt.py --num-layers 12 --hidden-size 512 --fp16 "
      "--num-attention-heads 8 --seq-length 1024 --global-batch-size 32 --micro-batch-size 4 "
      "--deepspeed --zero-stage 1 --deepspeed_config $config\n";
  const auto check = [](const scenarios::JobScenario& job) {
    CHECK(at(job.document, "plan.zero") == "3");  // not the flag's
    CHECK(at(job.document, "plan.overlap.data") == "true");
    CHECK(at(job.document, "plan.overlap.parameters") == "true");
    CHECK(at(job.document, "plan.bucket.reduce") == "180000000");
    CHECK(at(job.document, "plan.offload.optimizer") == "cpu");
    CHECK(effect_of(job, "zero_optimization.stage 3") == Effect::read);
  };
  check(tests::job("config=ds.json\ncat <<EOT > $config\n" + config + "EOT\n" + command));
  const scenarios::JobFiles beside = [&](const std::string& name) {
    return name == "ds.json" ? std::optional(config) : std::nullopt;
  };
  check(*scenarios::read_job("config=ds.json\n" + command, "job", {}, beside));
  const auto alone = tests::job("config=ds.json\n" + command);
  CHECK(at(alone.document, "plan.zero") == "1");
  CHECK(value("--cpu-optimizer\n", "plan.offload.optimizer") == "cpu");
}

}  // namespace megatron_deepspeed_job_spec

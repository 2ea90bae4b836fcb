// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "scenarios/jobs/deepspeed.hpp"
#include "tests/catch.hpp"
#include "tests/scenarios/jobs.hpp"

namespace deepspeed_job_spec {

using tests::at;

namespace {

std::string value(const std::string& text, const std::string& path,
                  const std::vector<std::string>& env = {"WORLD_SIZE=8"}) {
  return at(tests::job(text, env).document, path);
}

// The keys that the job leaves to somebody else, in order.
std::string wanted(const std::string& text, const std::vector<std::string>& env = {}) {
  return tests::wanted(tests::job(text, env));
}

}  // namespace

TEST_CASE("every DeepSpeed configuration of the tests is a scenario or is refused with a place") {
  tests::check_jobs("deepspeed", [](const scenarios::Error& wrong, const auto& file) {
    CHECK(wrong.complaints.front().place.starts_with(file.filename().string()));
  });
}

TEST_CASE("ZeRO 1 and 2 of DeepSpeed gather parameters behind the step, ZeRO 3 beside passes") {
  const auto beside = [](const std::string& stage) {
    return value("{\"zero_optimization\": {\"stage\": " + stage + ", \"overlap_comm\": true}}",
                 "plan.overlap.parameters");
  };
  CHECK(beside("1") == "false");
  CHECK(beside("2") == "false");
  CHECK(beside("3") == "true");
}

TEST_CASE("MiCS shards over groups of ranks under ZeRO 3") {
  const auto group = [](const std::string& stage) {
    return value("{\"zero_optimization\": {\"stage\": " + stage + ", \"mics_shard_size\": 4}}",
                 "plan.shard_group");
  };
  CHECK(group("3") == "4");
  CHECK(group("2").empty());
}

TEST_CASE("two of DeepSpeed's three batch sizes make the third") {
  const std::string micro = "\"train_micro_batch_size_per_gpu\": 2",
                    steps = "\"gradient_accumulation_steps\": 4";
  CHECK(value("{" + micro + ", " + steps + "}", "training.global_batch") == "64");  // 2 x 4 x 8
  CHECK(value("{\"train_batch_size\": 64, " + steps + "}", "plan.micro_batch") == "2");
  CHECK(value("{\"train_batch_size\": 64}", "plan.micro_batch") == "8");
  CHECK(value("{" + micro + ", \"sequence_parallel_size\": 4}", "training.global_batch") == "4");
  CHECK(wanted("{" + micro + "}") ==
        "model training.sequence_length training.global_batch cluster.node cluster.nodes");
  CHECK(tests::refusal([&] {
          tests::job("{\"train_batch_size\": 3, " + micro + ", " + steps + "}", {"WORLD_SIZE=8"});
        }) ==
        "job:1:2: train_batch_size 3: it is not micro batch x accumulation steps x ranks, 64");
}

TEST_CASE("numbers that no step has are refused as they are written") {
  const auto bucket = [](const std::string& stage, const std::string& elements) {
    return "{\"zero_optimization\": {\"stage\": " + stage +
           ", \"reduce_bucket_size\": " + elements + "}}";
  };
  CHECK(tests::refused(bucket("2", "1e300")) ==
        "job:1:36: zero_optimization.reduce_bucket_size 1e300: no buffer in device memory has so "
        "many elements; write a number such as 5e8");
  CHECK(value(bucket("2", "2.5e14"), "plan.bucket.reduce") ==
        "1000000000000000");                                  // four bytes each
  CHECK(tests::refused(bucket("0", "1e300")) == "accepted");  // no bucket without ZeRO
  const std::string most = "1000000000000";
  CHECK(tests::refused("{\"train_micro_batch_size_per_gpu\": " + most +
                       ", \"gradient_accumulation_steps\": " + most + "}") ==
        "job:1:2: train_micro_batch_size_per_gpu " + most + ": a step would have " + most + " x " +
            most + " x 8 sequences; write a smaller batch, such as 1");
}

TEST_CASE("a key that is left to the Trainer is asked for") {
  CHECK(wanted(R"({"train_batch_size": "auto", "train_micro_batch_size_per_gpu": "auto",
                   "bf16": {"enabled": "auto"}})",
               {"WORLD_SIZE=8"}) ==
        "model training.sequence_length plan.micro_batch training.global_batch training.precision "
        "cluster.node");
}

TEST_CASE("ZeRO's section makes sharding, buckets and offloading") {
  const std::string wide = R"({"train_batch_size": 8, "zero_optimization": {"stage": 2,
    "reduce_bucket_size": 5e8, "allgather_bucket_size": 2e8,
    "offload_optimizer": {"device": "cpu", "pin_memory": true}}})";
  const auto text = wide.substr(0, wide.size() - 1) + R"(, "bf16": {"enabled": true}})";
  CHECK(value(text, "plan.zero") == "2");
  CHECK(value(text, "plan.overlap.data") == "false");        // true with stage 3 alone
  CHECK(value(text, "plan.bucket.reduce") == "1000000000");  // elements of 2 bytes
  CHECK(value(text, "plan.bucket.gather") == "400000000");
  CHECK(value(wide, "plan.bucket.reduce") == "2000000000");  // in 32 bit
  const auto cast = wide.substr(0, wide.size() - 1) + R"(, "torch_autocast": {"enabled": true}})";
  CHECK(value(cast, "plan.bucket.reduce") == "1000000000");
  const auto narrow =
      wide.substr(0, wide.size() - 1) + R"(, "data_types": {"grad_accum_dtype": "bf16"}})";
  CHECK(value(narrow, "plan.bucket.reduce") == "1000000000");  // gradients of 32-bit parameters
  CHECK(value(narrow, "plan.bucket.gather") == "800000000");   // which are gathered as they are
  CHECK(value(wide, "plan.bucket.gather") == "800000000");
  CHECK(value(text, "plan.offload.optimizer") == "cpu");
  CHECK(value(text, "plan.offload.gradients") == "cpu");
  CHECK(value(R"({"train_batch_size": 8, "zero_optimization": true})", "plan.zero") == "1");
}

TEST_CASE("DeepSpeed's Adam decouples weight decay unless it is told not to") {
  const auto optimizer = [](const std::string& type, const std::string& params) {
    return value(R"({"train_batch_size": 8, "optimizer": {"type": ")" + type +
                     R"(", "params": {"lr": 1e-4)" + params + "}}}",
                 "training.optimizer");
  };
  CHECK(optimizer("Adam", "") == "adamw");
  CHECK(optimizer("Adam", R"(, "adam_w_mode": true)") == "adamw");
  CHECK(optimizer("Adam", R"(, "adam_w_mode": false)") == "adam");
  CHECK(optimizer("AdamW", R"(, "adam_w_mode": false)") == "adamw");  // by its name
}

TEST_CASE("comments and last commas of a configuration become blanks") {
  using scenarios::plain_json;
  CHECK(plain_json("{\"a\": 1, // b\n}") == "{\"a\": 1      \n}");
  CHECK(plain_json("[1, /* , */ 2,]") == "[1,         2 ]");
  CHECK(plain_json("{\"a//b\": \"#,}\"}") == "{\"a//b\": \"#,}\"}");
  CHECK(value("{\"train_batch_size\": 8, # of all\n \"fp16\": {\"enabled\": true,},}",
              "training.precision") == "fp16");
}

TEST_CASE("the older name of bf16 is the precision of DeepSpeed's file, by whomever it is named") {
  const std::string file =
      R"({"train_micro_batch_size_per_gpu": 1, "bfloat16": {"enabled": true}})";
  CHECK(value(file, "training.precision") == "bf16");
  const auto of_trainer = [&](const std::string& more) {
    return tests::beside(
        "torchrun --nproc-per-node 8 train.py --model_name_or_path "
        "meta-llama/Llama-2-7b-hf --per_device_train_batch_size 1 "
        "--max_seq_length 512 --deepspeed a.json" +
            more + "\n",
        {{"a.json", file}});
  };
  CHECK(tests::at(of_trainer(" --bf16").document, "training.precision") == "bf16");
}

TEST_CASE("main weights in 16 bit are those of the precision that DeepSpeed's file switches on") {
  const std::string halves = R"("fp16_master_weights_and_grads": true)";
  CHECK(value("{\"train_batch_size\": 8, \"fp16\": {\"enabled\": true, " + halves + "}}",
              "plan.master_weights") == "fp16");
  CHECK(value("{\"train_batch_size\": 8, \"fp16\": {\"enabled\": false, " + halves + "}}",
              "plan.master_weights")
            .empty());
  CHECK(value(R"({"train_batch_size": 8, "bf16": {"enabled": true,
                  "bf16_master_weights_and_grads": true}})",
              "plan.master_weights") == "bf16");
}

TEST_CASE("DeepSpeed's autocast is a job in the type that it computes in") {
  const auto precision = [](const std::string& more) {
    return value("{\"train_batch_size\": 8, " + more + "}", "training.precision");
  };
  CHECK(precision(R"("torch_autocast": {"enabled": true})") == "bf16");
  CHECK(precision(R"("torch_autocast": {"enabled": true, "dtype": "torch.bfloat16"})") == "bf16");
  CHECK(precision(R"("torch_autocast": {"enabled": true, "dtype": "bfloat16"})") == "bf16");
  CHECK(precision(R"("torch_autocast": {"enabled": true, "dtype": "float16"})") == "fp16");
  CHECK(precision(R"("torch_autocast": {"enabled": false, "dtype": "float16"})") == "fp32");
  CHECK(tests::refused(
            R"({"train_batch_size": 8, "torch_autocast": {"enabled": true, "dtype": "x"}})")
            .ends_with("torch_autocast.dtype x: expected bfloat16 or float16"));
  const auto of_trainer = tests::beside(
      "deepspeed --num_gpus 8 train.py --model_name_or_path meta-llama/Llama-2-7b-hf "
      "--per_device_train_batch_size 1 --deepspeed ds.json",
      {{"ds.json", R"({"torch_autocast": {"enabled": true}, "zero_optimization": {"stage": 2}})"}});
  CHECK(at(of_trainer.document, "training.precision") == "bf16");
}

TEST_CASE("precisions that DeepSpeed cannot join, and Apex's, are refused") {
  CHECK(tests::refused(
            R"({"train_batch_size": 8, "bf16": {"enabled": true}, "fp16": {"enabled": true}})")
            .ends_with("fp16.enabled true: bf16 is enabled, too, and DeepSpeed starts with one of "
                       "both; switch one off"));
  CHECK(tests::refused(R"({"train_batch_size": 8, "amp": {"enabled": true, "opt_level": "O2"}})")
            .ends_with("amp.enabled true: Apex's mixed precision is not read; write fp16.enabled "
                       "or bf16.enabled"));
  CHECK(value(R"({"train_batch_size": 8, "amp": {"enabled": false}})", "training.precision") ==
        "fp32");
}

TEST_CASE("DeepSpeed's tensor ranks do not divide parameters") {
  const auto with = [](int stage) {
    return R"({"train_micro_batch_size_per_gpu": 1, "tensor_parallel": {"autotp_size": 4},)"
           R"( "zero_optimization": {"stage": )" +
           std::to_string(stage) + "}}";
  };
  CHECK(tests::refused(with(3)).find("zero_optimization.stage 3: DeepSpeed does not start with "
                                     "stage 3 beside tensor_parallel.autotp_size") !=
        std::string::npos);
  CHECK(tests::refused(with(2)) == "accepted");
}

}  // namespace deepspeed_job_spec

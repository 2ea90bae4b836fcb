// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "tests/catch.hpp"
#include "tests/scenarios/jobs.hpp"

namespace neox_job_spec {

using tests::at;

namespace {

std::string text(const std::string& more) {
  return "{\n\"pipe-parallel-size\": 2,\n\"model-parallel-size\": 2,\n\"num-layers\": 4,\n"
         "\"hidden-size\": 96,\n\"num-attention-heads\": 8,\n\"seq-length\": 128,\n"
         "\"max-position-embeddings\": 128,\n\"train_micro_batch_size_per_gpu\": 2" +
         more + "\n}";
}

std::string value(const std::string& more, const std::string& path) {
  return at(tests::job(text(more), {"WORLD_SIZE=16"}).document, path);
}

}  // namespace

TEST_CASE("every GPT-NeoX job of the tests is a scenario") {
  tests::check_jobs("neox",
                    [](const scenarios::Error& wrong, const auto&) { FAIL_CHECK(wrong.what()); });
}

TEST_CASE("a GPT-NeoX job that gives the stage of ZeRO is not said to be without") {
  const auto made = tests::job(text(",\n\"zero_optimization\": {\"stage\": 1}"), {"WORLD_SIZE=16"});
  CHECK(made.comments.at("plan.overlap.parameters") ==
        "parameters are gathered behind the optimizer's step");
}

TEST_CASE("a GPT-NeoX job has the degrees, sizes and batch that its keys say") {
  CHECK(value("", "model.layers") == "4");
  CHECK(value("", "model.ffn") == "384");
  CHECK(value("", "plan.pipeline") == "2");
  CHECK(value("", "plan.tensor") == "2");
  CHECK(value("", "plan.zero") == "0");
  CHECK(value(",\n\"zero_optimization\": {\"stage\": 1}", "plan.zero") == "1");
  CHECK(value(",\n\"gradient_accumulation_steps\": 3", "training.global_batch") ==
        "24");  // 2 x 3 x 4
  CHECK(value(",\n\"train_batch_size\": 64", "training.global_batch") == "64");
  CHECK(value(",\n\"gpt_j_residual\": true", "model.parallel_block") == "true");
  CHECK(value(",\n\"checkpoint-activations\": true", "plan.recompute") == "full");
  CHECK(value(",\n\"bf16\": {\"enabled\": true}", "training.precision") == "bf16");
  CHECK(value(",\n\"precision\": \"bfloat16\"", "training.precision") == "bf16");
  CHECK(value(",\n\"num_kv_heads\": 2", "model.kv_heads") == "2");
}

TEST_CASE(
    "experts of a GPT-NeoX job stand in every layer unless its file says in which, all-to-all") {
  const std::string experts = ",\n\"moe_num_experts\": 8,\n\"moe_top_k\": 2";
  CHECK(value(experts, "model.moe.experts") == "8");
  CHECK(value(experts, "software.moe_dispatcher") == "all-to-all");
  CHECK(value(experts, "model.moe.every").empty());
  CHECK(value(experts + ",\n\"moe_expert_interval\": 2", "model.moe.every") == "2");
  CHECK(value(experts + ",\n\"expert-interval\": 4", "model.moe.every") == "4");
}

TEST_CASE("a GPT-NeoX job has no dropout unless its file says so") {
  CHECK(value("", "model.dropout") == "0");
  CHECK(value(",\n\"hidden-dropout\": 0.1", "model.dropout") == "0.1");
}

// 4 x 96 = 384 by default; both halves of a gated activation share two thirds of that.
TEST_CASE("each half of a gated activation has a third of the width that a GPT-NeoX job gives") {
  const auto width = [](const std::string& more) { return value(",\n" + more, "model.ffn"); };
  const std::string gated = "\"activation\": \"swiglu\"", silu = "\"activation\": \"silu\"";
  CHECK(width(gated) == "128");
  CHECK(width(gated + ",\n\"intermediate_size\": 33024") == "11008");
  CHECK(width(gated + ",\n\"intermediate_size\": 33000,\n\"mlp_multiple_of\": 256") == "11008");
  CHECK(width("\"intermediate_size\": 400") == "400");
  CHECK(width(silu) == "256");  // of mlp_type llama: two thirds
  CHECK(width(silu + ",\n\"intermediate_size\": 400") == "400");
}

// Two thirds of 4 x 4096 are 10,922, and 43 x 256 = 11,008.
TEST_CASE("the width of mlp_type llama is a multiple of 256 unless a GPT-NeoX job gives another") {
  auto job = text(",\n\"mlp_type\": \"llama\",\n\"activation\": \"silu\"");
  const auto size = job.find("96");
  job.replace(size, 2, "4096");
  CHECK(at(tests::job(job, {"WORLD_SIZE=16"}).document, "model.ffn") == "11008");
  job.insert(job.rfind('\n'), ",\n\"mlp_multiple_of\": 1");
  CHECK(at(tests::job(job, {"WORLD_SIZE=16"}).document, "model.ffn") == "10922");
}

// deepspeed_derived_defaults: overlap_comm is true for stage 3 where it is not given.
TEST_CASE("communication of ZeRO in a GPT-NeoX job is DeepSpeed's") {
  const auto zero = [](const std::string& keys, const std::string& path) {
    auto job = text(",\n\"zero_optimization\": {" + keys + "}");
    job.replace(job.find(": 2"), 3, ": 1");  // no pipeline
    return at(tests::job(job, {"WORLD_SIZE=16"}).document, path);
  };
  CHECK(zero("\"stage\": 3", "plan.overlap.data") == "true");
  CHECK(zero("\"stage\": 3", "plan.overlap.parameters") == "true");
  CHECK(zero("\"stage\": 3, \"overlap_comm\": false", "plan.overlap.data") == "false");
  CHECK(zero("\"stage\": 1", "plan.overlap.data") == "false");
  const std::string offloads = "\"offload_optimizer\": {\"device\": \"cpu\"}, \"stage\": ";
  CHECK(zero(offloads + "2", "plan.offload.optimizer") == "cpu");
  CHECK(zero(offloads + "2", "plan.offload.gradients") == "cpu");
  CHECK(zero(offloads + "1", "plan.offload.gradients").empty());
  CHECK(zero("\"stage\": 3, \"offload_param\": {\"device\": \"cpu\"}", "plan.offload.parameters") ==
        "cpu");
}

TEST_CASE("DeepSpeed's pipeline goes with ZeRO 1 at most") {
  const auto refused = [](const std::string& stage) {
    return tests::refusal([&] {
      tests::job(text(",\n\"zero_optimization\": {\"stage\": " + stage + "}"), {"WORLD_SIZE=16"});
    });
  };
  CHECK(refused("1") == "accepted");
  CHECK(
      refused("2") ==
      "job:10:23: zero_optimization.stage 2: DeepSpeed's pipeline keeps gradients whole, and does "
      "not start with stage 2 or 3 on several pipeline ranks; write stage 1, or pipe_parallel_size "
      "1");
  const auto held = [](const std::string& pipeline) {
    scenarios::JobHints hints{{}, {"WORLD_SIZE=16"}};
    hints.over.values["plan.pipeline"] = pipeline;
    return tests::refusal([&] {
      scenarios::read_job(text(",\n\"zero_optimization\": {\"stage\": 2}"), "job", hints);
    });
  };
  CHECK(held("1") == "accepted");  // another number lies over the job
  CHECK(held("4").find("on several pipeline ranks") != std::string::npos);
}

TEST_CASE("kernels of a GPT-NeoX job are fused where its file says so") {
  CHECK(value("", "software.fused_bias_activation") == "false");
  CHECK(value(",\n\"bias-gelu-fusion\": true", "software.fused_bias_activation").empty());
  CHECK(value("", "software.attention") == "unfused");
  CHECK(value(",\n\"attention_config\": [[[\"flash\"], 4]]", "software.attention") == "flash");
}

TEST_CASE("one expert is GPT-NeoX's word for dense layers") {
  CHECK(value(",\n\"moe_num_experts\": 1", "model.moe.experts").empty());
  CHECK(value(",\n\"moe_num_experts\": 8", "model.moe.experts") == "8");
}

TEST_CASE("layers of a GPT-NeoX job that cannot be forecast are refused where they are named") {
  CHECK(tests::refusal([] {
          tests::job(text(",\n\"attention_config\": [[[\"mamba\"], 4]]"), {"WORLD_SIZE=16"});
        }) ==
        "job:10:1: attention_config mamba 4: layers that are state-space models or recurrent "
        "are not modelled");
}

}  // namespace neox_job_spec

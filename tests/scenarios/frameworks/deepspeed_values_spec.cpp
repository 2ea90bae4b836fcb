// SPDX-License-Identifier: Apache-2.0
// Keys of a DeepSpeed file, each as the key of a scenario that it means.
#include <string>
#include <vector>

#include "scenarios/jobs/deepspeed.hpp"
#include "tests/catch.hpp"
#include "tests/scenarios/jobs.hpp"

namespace deepspeed_values_spec {

namespace {

std::string text(const std::string& more) {
  return R"({"train_micro_batch_size_per_gpu": 2)" + (more.empty() ? "" : ", " + more) + "}";
}
// Keys of ZeRO's section, in bf16.
std::string zero(const std::string& keys) {
  return text(R"("bf16": {"enabled": true}, "zero_optimization": {)" + keys + "}");
}
std::string optimizer(const std::string& type) {
  return text(R"("optimizer": {"type": ")" + type + "\"}");
}

const std::vector<std::string> eight{"WORLD_SIZE=8"};

}  // namespace

TEST_CASE("optimizers of DeepSpeed have words of their own") {
  tests::check_values({{"Adam", "training.optimizer", "adamw"},  // adam_w_mode is on
                       {"AdamW", "training.optimizer", "adamw"},
                       {"Lamb", "training.optimizer", "lamb"},
                       {"OneBitAdam", "training.optimizer", "onebit-adam"},
                       {"ZeroOneAdam", "training.optimizer", "onebit-adam"},
                       {"OneBitLamb", "training.optimizer", "lamb"},
                       {"Adafactor", "training.optimizer", "adafactor"},
                       {"Muon", "training.optimizer", "muon"},
                       {"SGD", "training.optimizer", "sgd"}},
                      optimizer, eight);
  tests::check_refusals({{"Lion", "optimizer.type Lion: it is not modelled; expected Adam, AdamW"}},
                        optimizer, eight);
  CHECK(tests::effect_of(tests::job(optimizer("OneBitLamb"), eight), "optimizer.type OneBitLamb") ==
        scenarios::Effect::not_modelled);
}

TEST_CASE("stages of ZeRO are numbers, and true is the first") {
  tests::check_values({{"", "plan.zero", "0"},
                       {R"("zero_optimization": true)", "plan.zero", "1"},
                       {R"("zero_optimization": false)", "plan.zero", "0"},
                       {R"("zero_optimization": {"stage": 2})", "plan.zero", "2"},
                       {R"("zero_optimization": {"stage": 3})", "plan.zero", "3"}},
                      text, eight);
  tests::check_refusals({{R"("zero_optimization": {"stage": 4})", "expected 0, 1, 2 or 3"}}, text,
                        eight);
}

// Buckets are in elements: two bytes each in bf16, four where gradients are summed in fp32.
TEST_CASE("buckets of ZeRO are in bytes of what they hold") {
  const std::string sizes =
      R"(, "reduce_bucket_size": 1000, "allgather_bucket_size": 2000, "stage3_prefetch_bucket_size": 3000)";
  tests::check_values({{R"("stage": 2)" + sizes, "plan.bucket.reduce", "2000"},
                       {R"("stage": 2)" + sizes, "plan.bucket.gather", "4000"},
                       {R"("stage": 3)" + sizes, "plan.bucket.reduce", "2000"},
                       {R"("stage": 3)" + sizes, "plan.bucket.gather", "6000"},
                       {R"("stage": 0)" + sizes, "plan.bucket.reduce", ""},
                       {R"("stage": 2, "reduce_bucket_size": "auto")", "plan.bucket.reduce", ""}},
                      zero, eight);
  const std::string wide = R"("data_types": {"grad_accum_dtype": "fp32"}, )";
  tests::check_values(
      {{wide + R"("bf16": {"enabled": true}, "zero_optimization": {"stage": 2)" + sizes + "}",
        "plan.bucket.reduce", "4000"},
       {wide + R"("bf16": {"enabled": true}, "zero_optimization": {"stage": 2)" + sizes + "}",
        "plan.bucket.gather", "4000"},
       {R"("zero_optimization": {"stage": 2)" + sizes + "}", "plan.bucket.gather", "8000"},
       {wide, "plan.gradient_precision", "fp32"}},
      [](const std::string& more) {
        return text(more.ends_with(", ") ? more.substr(0, more.size() - 2) : more);
      },
      eight);
}

TEST_CASE("states that ZeRO offloads go where its devices say") {
  const std::string states = R"("offload_optimizer": {"device": )",
                    weights = R"("offload_param": {"device": )";
  tests::check_values(
      {{R"("stage": 2, )" + states + R"("cpu"})", "plan.offload.optimizer", "cpu"},
       {R"("stage": 2, )" + states + R"("cpu"})", "plan.offload.gradients", "cpu"},
       {R"("stage": 1, )" + states + R"("cpu"})", "plan.offload.gradients", ""},
       {R"("stage": 3, )" + states + R"("nvme"})", "plan.offload.optimizer", "nvme"},
       {R"("stage": 3, )" + states + R"("none"})", "plan.offload.optimizer", ""},
       {R"("stage": 3, )" + weights + R"("nvme"})", "plan.offload.parameters", "nvme"},
       {R"("stage": 2, "cpu_offload": true)", "plan.offload.optimizer", "cpu"}},
      zero, eight);
  tests::check_refusals({{R"("stage": 2, )" + states + R"("disk"})", "expected none, cpu or nvme"}},
                        zero, eight);
}

TEST_CASE("degrees of DeepSpeed's file divide the ranks of its batch") {
  const std::string tensor = R"("tensor_parallel": {"autotp_size": 4)";
  tests::check_values(
      {{"", "training.global_batch", "16"},
       {tensor + "}", "training.global_batch", "4"},
       {tensor + "}", "plan.tensor", "4"},
       {tensor + R"(, "tp_overlap_comm": true})", "plan.overlap.tensor", "true"},
       {tensor + "}", "plan.overlap.tensor", "false"},
       {R"("sequence_parallel_size": 2)", "training.global_batch", "8"},
       {R"("sequence_parallel_size": 2)", "plan.context_method", "ulysses"},
       {R"("expert_parallel": {"enabled": true, "autoep_size": 4})", "plan.expert", "4"},
       {R"("expert_parallel": {"enabled": false, "autoep_size": 4})", "plan.expert", ""}},
      text, eight);
}

TEST_CASE("comments and last commas are blanks, but inside of texts they are letters") {
  struct Case {
    const char *text, *plain;
  };
  for (const auto& one : std::vector<Case>{{R"({"a": 1,})", R"({"a": 1 })"},
                                           {R"({"a": [1, 2, ]})", R"({"a": [1, 2  ]})"},
                                           {"{} // b", "{}     "},
                                           {"{} # b\n1", "{}    \n1"},
                                           {"{ /* b\n c */ }", "{     \n      }"},
                                           {R"({"a": "x // y, }"})", R"({"a": "x // y, }"})"},
                                           {R"({"a": "\"// y"})", R"({"a": "\"// y"})"},
                                           {R"({"a": 1, /* b */ })", R"({"a": 1          })"},
                                           {R"({"a": 1, "b": 2})", R"({"a": 1, "b": 2})"},
                                           {R"(["a", "b"])", R"(["a", "b"])"},
                                           {"/* b", "    "},
                                           {R"("b)", R"("b)"}}) {
    INFO(one.text);
    CHECK(scenarios::plain_json(one.text) == one.plain);
  }
}

}  // namespace deepspeed_values_spec

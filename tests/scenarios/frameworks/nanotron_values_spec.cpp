// SPDX-License-Identifier: Apache-2.0
// Values of a nanotron file, each as the key of a scenario that it means.
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/scenarios/jobs.hpp"

namespace nanotron_values_spec {

namespace {

// The lines of the sections, which "section: keys" in `more` adds to.
struct Sections {
  std::string parallelism = "dp: 4, tp: 2, pp: 2", tokens = "micro_batch_size: 3",
              model = "dtype: bfloat16", optimizer = "zero_stage: 0",
              config =
                  "num_hidden_layers: 4, hidden_size: 64, num_attention_heads: 4, "
                  "intermediate_size: 128, vocab_size: 320, max_position_embeddings: 256";
};

std::string text(const Sections& s) {
  return "parallelism: {" + s.parallelism + "}\ntokens: {" + s.tokens + "}\nmodel: {" + s.model +
         ", model_config: {" + s.config + "}}\noptimizer: {" + s.optimizer + "}\n";
}

// More keys of one section.
auto more_of(std::string Sections::*section) {
  return [section](const std::string& more) {
    Sections sections;
    if (!more.empty()) sections.*section += ", " + more;
    return text(sections);
  };
}

const auto parallelism = more_of(&Sections::parallelism);
const auto tokens = more_of(&Sections::tokens);
const auto config = more_of(&Sections::config);

// Another section in place of the usual one.
auto instead_of(std::string Sections::*section) {
  return [section](const std::string& other) {
    Sections sections;
    sections.*section = other;
    return text(sections);
  };
}

}  // namespace

TEST_CASE("GPUs of a nanotron file are the product of its degrees") {
  tests::check_values({{"", "cluster.gpus", "16"},
                       {"context_parallel_size: 2", "cluster.gpus", "32"},
                       {"context_parallel_size: 2", "plan.context", "2"},
                       {"expert_parallel_size: 2", "cluster.gpus", "32"},
                       {"expert_parallel_size: 2", "plan.data", "8"},
                       {"expert_parallel_size: 2", "plan.expert", "2"},
                       {"expert_parallel_size: 2", "plan.rank_order", "tp-cp-dp-pp-ep"},
                       {"expert_parallel_size: 1", "plan.expert", ""}},
                      parallelism);
}

TEST_CASE("a batch of nanotron is that of a microbatch, the steps and the replicas") {
  tests::check_values({{"", "training.global_batch", "12"},  // 3 x 4
                       {"batch_accumulation_per_replica: 5", "training.global_batch", "60"},
                       {"", "plan.micro_batch", "3"},
                       {"", "training.sequence_length", "2048"},
                       {"sequence_length: 128", "training.sequence_length", "128"}},
                      tokens);
  tests::check_values({{"expert_parallel_size: 2", "training.global_batch", "24"},
                       {"context_parallel_size: 2", "training.global_batch", "12"}},
                      parallelism);
}

TEST_CASE(
    "the engine of nanotron's pipeline is its schedule, all forward passes first by default") {
  tests::check_values({{"", "plan.schedule", "gpipe"},
                       {"pp_engine: afab", "plan.schedule", "gpipe"},
                       {"pp_engine: 1f1b", "plan.schedule", "1f1b"}},
                      parallelism);
  tests::check_values({{"dp: 4, tp: 2, pp: 1, pp_engine: 1f1b", "plan.schedule", ""}},
                      instead_of(&Sections::parallelism));
}

TEST_CASE("tensor parallelism of nanotron divides sequences by its mode, and may overlap") {
  const std::string scatter = "tp_mode: REDUCE_SCATTER";
  const std::string async = scatter + ", tp_linear_async_communication: true";
  tests::check_values(
      {{"", "plan.sequence_parallel", "false"},
       {scatter, "plan.sequence_parallel", "true"},
       {scatter, "plan.overlap.tensor", "false"},
       {async, "plan.overlap.tensor", "true"},
       {scatter, "software.keep_gathered_inputs", ""},
       {async, "software.keep_gathered_inputs", "false"},
       {async + ", tp_recompute_allgather: false", "software.keep_gathered_inputs", ""}},
      parallelism);
  tests::check_values({{"dp: 4, tp: 1, pp: 2, " + scatter, "plan.sequence_parallel", ""}},
                      instead_of(&Sections::parallelism));
}

TEST_CASE("a nanotron model is a Llama whose switches stand in its configuration") {
  tests::check_values({{"", "model.activation", "swiglu"},
                       {"hidden_act: gelu", "model.activation", "geglu"},
                       {"", "model.kv_heads", ""},
                       {"num_key_value_heads: 2", "model.kv_heads", "2"},
                       {"", "model.tied_embeddings", "false"},
                       {"tie_word_embeddings: true", "model.tied_embeddings", "true"},
                       {"", "model.biases", "false"},
                       {"", "model.qkv_biases", ""},
                       {"attention_bias: true", "model.qkv_biases", "true"},
                       {"sliding_window_size: 64", "model.attention_window", "64"},
                       {"", "model.norm", "rmsnorm"},
                       {"", "model.position", "rope"},
                       {"", "model.dropout", "0"},
                       {"", "model.max_sequence", "256"}},
                      config);
}

TEST_CASE("experts of a nanotron file have the defaults of its configuration") {
  const std::string experts = "moe_config: {num_experts: 16";
  tests::check_values(
      {{experts + "}", "model.moe.experts", "16"},
       {experts + "}", "model.moe.top_k", "2"},
       {experts + "}", "model.moe.expert_ffn", "1408"},
       {experts + "}", "model.moe.shared_experts", ""},
       {experts + ", top_k: 4, moe_intermediate_size: 96}", "model.moe.top_k", "4"},
       {experts + ", top_k: 4, moe_intermediate_size: 96}", "model.moe.expert_ffn", "96"},
       {experts + ", enable_shared_expert: true}", "model.moe.shared_experts", "1"},
       {experts + ", enable_shared_expert: true}", "model.moe.shared_ffn", "5632"},
       {experts + ", enable_shared_expert: true, shared_expert_intermediate_size: 80}",
        "model.moe.shared_ffn", "80"},
       {experts + ", shared_expert_intermediate_size: 80}", "model.moe.shared_ffn", ""}},
      config);
}

TEST_CASE("gradients of nanotron are as wide as parameters unless they are summed in fp32") {
  const auto of = [](const std::string& type, bool wide) {
    Sections sections;
    sections.model = "dtype: " + type;
    if (wide) sections.optimizer += ", accumulate_grad_in_fp32: true";
    return text(sections);
  };
  const auto shown = [&](const std::string& type, bool wide) {
    const auto job = tests::job(of(type, wide));
    return tests::at(job.document, "training.precision") + " " +
           tests::at(job.document, "plan.gradient_precision") + " " +
           tests::at(job.document, "software.gradient_precision");
  };
  CHECK(shown("bfloat16", false) == "bf16 bf16 ");
  CHECK(shown("bfloat16", true) == "bf16 fp32 ");
  CHECK(shown("float16", false) == "fp16  fp16");
  CHECK(shown("float16", true) == "fp16 fp32 ");
  CHECK(shown("float32", false) == "fp32  ");
}

// Buckets count gradients as wide as parameters, and fp32 has twice the bytes of bf16.
TEST_CASE("a bucket of nanotron is in MiB of parameters, twice as many bytes of wide gradients") {
  const auto bucket = [](const std::string& model, const std::string& optimizer) {
    Sections sections;
    sections.model = model + ", ddp_bucket_cap_mb: 25";
    sections.optimizer = optimizer;
    return tests::value(text(sections), "plan.bucket");
  };
  const std::string wide = "accumulate_grad_in_fp32: true";
  CHECK(bucket("dtype: bfloat16", "zero_stage: 0") == "26214400");
  CHECK(bucket("dtype: bfloat16", wide) == "52428800");
  CHECK(bucket("dtype: float32", wide) == "26214400");
}

TEST_CASE("optimizers, recomputation and stages of ZeRO of nanotron are a scenario's") {
  tests::check_values({{"zero_stage: 1", "plan.zero", "1"},
                       {"zero_stage: 0", "plan.zero", "0"},
                       {"optimizer_factory: {name: adamW}", "training.optimizer", "adamw"},
                       {"optimizer_factory: {name: sgd}", "training.optimizer", "sgd"}},
                      instead_of(&Sections::optimizer));
  tests::check_values({{"recompute_layer: true", "plan.recompute", "full"},
                       {"recompute_layer: false", "plan.recompute", ""}},
                      parallelism);
  tests::check_refusals(
      {{"optimizer_factory: {name: lion}",
        "optimizer.optimizer_factory.name lion: expected adamW or sgd"},
       {"zero_stage: 2", "optimizer.zero_stage 2: nanotron has the stages 0 and 1"}},
      instead_of(&Sections::optimizer));
}

TEST_CASE("sizes that a nanotron file lacks are asked for, one by one") {
  Sections sections;
  sections.config = "num_hidden_layers: 4, hidden_size: 64";
  CHECK(tests::wanted(tests::job(text(sections))) ==
        "model.heads model.ffn model.vocab model.max_sequence cluster.node");
}

}  // namespace nanotron_values_spec

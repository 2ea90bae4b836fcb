// SPDX-License-Identifier: Apache-2.0
// Values of a GPT-NeoX file, each as the key of a scenario that it means.
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/scenarios/jobs.hpp"

namespace neox_values_spec {

namespace {

// 16 GPUs are 4 replicas of 2 x 2 ranks.
std::string text(const std::string& more) {
  return "{\n\"pipe_parallel_size\": 2, \"model_parallel_size\": 2, \"num_layers\": 4, "
         "\"hidden_size\": 96, \"num_attention_heads\": 8, \"seq_length\": 128, "
         "\"max_position_embeddings\": 128, \"train_micro_batch_size_per_gpu\": 2" +
         (more.empty() ? "" : ", " + more) + "\n}";
}

const std::vector<std::string> ranks{"WORLD_SIZE=16"};

void check(const std::vector<tests::JobCase>& cases) { tests::check_values(cases, text, ranks); }

}  // namespace

TEST_CASE("words of a GPT-NeoX file for activations, norms and positions are a scenario's") {
  check({{"", "model.activation", "gelu"},
         {R"("activation": "geglu")", "model.activation", "geglu"},
         {R"("activation": "swiglu")", "model.activation", "swiglu"},
         {R"("activation": "silu")", "model.activation", "swiglu"},
         {R"("activation": "relu")", "model.activation", "gelu"},
         {"", "model.norm", "layernorm"},
         {R"("norm": "rmsnorm")", "model.norm", "rmsnorm"},
         {R"("norm": "te_rmsnorm")", "model.norm", "rmsnorm"},
         {R"("norm": "te_layernorm")", "model.norm", "layernorm"},
         {"", "model.position", "learned"},
         {R"("pos_emb": "rotary")", "model.position", "rope"},
         {R"("pos_emb": "alibi")", "model.position", "alibi"},
         {R"("pos_emb": "sinusoidal")", "model.position", "none"},
         {R"("pos_emb": "none")", "model.position", "none"}});
}

TEST_CASE("precision of a GPT-NeoX file has one of five spellings, and is fp32 without any") {
  check({{"", "training.precision", "fp32"},
         {R"("precision": "bfloat16")", "training.precision", "bf16"},
         {R"("precision": "fp16")", "training.precision", "fp16"},
         {R"("precision": "fp32")", "training.precision", "fp32"},
         {R"("fp16": {"enabled": true})", "training.precision", "fp16"},
         {R"("fp16": {"fp16": true})", "training.precision", "fp16"},
         {R"("fp16": {"enabled": true, "type": "bfloat16"})", "training.precision", "bf16"},
         {R"("fp16": {"enabled": false, "type": "bfloat16"})", "training.precision", "fp32"},
         {R"("bf16": {"enabled": true})", "training.precision", "bf16"},
         {R"("bf16": {"enabled": false})", "training.precision", "fp32"}});
}

TEST_CASE("optimizers of a GPT-NeoX file are adamw but for sgd, and others are refused") {
  const auto of = [](const char* name) {
    return R"("optimizer": {"type": ")" + std::string(name) + "\"}";
  };
  check({{of("Adam"), "training.optimizer", "adamw"},
         {of("adamw"), "training.optimizer", "adamw"},
         {of("cpu_adam"), "training.optimizer", "adamw"},
         {of("cpu_torch_adam"), "training.optimizer", "adamw"},
         {of("sgd"), "training.optimizer", "sgd"}});
  tests::check_refusals({{of("lion"), "optimizer.type"}, {of("onebitadam"), "optimizer.type"}},
                        text, ranks);
}

TEST_CASE("a batch of GPT-NeoX is that of a microbatch, the steps and the ranks") {
  check({{"", "training.global_batch", "8"},  // 2 x 4
         {R"("gradient_accumulation_steps": 5)", "training.global_batch", "40"},
         {R"("gradient_accumulation_steps": 5, "train_batch_size": 40)", "training.global_batch",
          "40"},
         {"", "plan.micro_batch", "2"},
         {"", "training.sequence_length", "128"}});
  tests::check_values({{"", "training.global_batch", "2"}}, text, {"WORLD_SIZE=4"});
}

TEST_CASE("GPUs of a GPT-NeoX file are those of its nodes unless WORLD_SIZE says others") {
  const std::string nodes = R"("num_gpus": 8, "num_nodes": 4)";
  tests::check_values({{nodes, "cluster.gpus", "32"}, {nodes, "training.global_batch", "16"}},
                      text);
  tests::check_values({{nodes, "cluster.gpus", "16"}, {nodes, "training.global_batch", "8"}}, text,
                      ranks);
}

TEST_CASE("biases of a GPT-NeoX model stand where its two switches leave them") {
  const std::string mlp = R"("use_bias_in_mlp": false)",
                    attention = R"("use_bias_in_attn_linear": false)";
  check({{"", "model.biases", "true"},
         {"", "model.qkv_biases", "true"},
         {"", "model.output_bias", ""},
         {mlp, "model.biases", "false"},
         {mlp, "model.qkv_biases", "true"},
         {mlp, "model.output_bias", "true"},
         {attention, "model.biases", "true"},
         {attention, "model.qkv_biases", "false"},
         {attention + ", " + mlp, "model.biases", "false"},
         {attention + ", " + mlp, "model.qkv_biases", "false"},
         {attention + ", " + mlp, "model.output_bias", ""}});
}

TEST_CASE("blocks of GPT-J have one norm if both halves share it") {
  check({{"", "model.parallel_block", "false"},
         {R"("gpt_j_residual": true)", "model.parallel_block", "true"},
         {R"("gpt_j_residual": true)", "model.norms_per_layer", ""},
         {R"("gpt_j_residual": true, "gpt_j_tied": true)", "model.norms_per_layer", "1"},
         {R"("gpt_j_tied": true)", "model.norms_per_layer", ""}});
}

TEST_CASE("attention of a GPT-NeoX file is FlashAttention where any layer has it") {
  const auto layers = [](const char* kinds) {
    return R"("attention_config": [[[)" + std::string(kinds) + R"(], 2]])";
  };
  check({{layers(R"("global")"), "software.attention", "unfused"},
         {layers(R"("flash")"), "software.attention", "flash"},
         {layers(R"("global", "flash")"), "software.attention", "flash"}});
  const auto effect = [&](const char* kinds, const std::string& argument) {
    return tests::effect_of(tests::job(text(layers(kinds)), ranks), argument);
  };
  CHECK(effect(R"("local", "flash")", "attention_config local flash 2") ==
        scenarios::Effect::not_modelled);
  CHECK(effect(R"("sparse_fixed")", "attention_config sparse_fixed 2") ==
        scenarios::Effect::not_modelled);
  tests::check_refusals({{layers(R"("rwkv")"), "state-space models or recurrent"}}, text, ranks);
}

TEST_CASE("the width of an MLP of GPT-NeoX is a factor of the hidden size, or its own") {
  const std::string gated = R"("activation": "geglu", )";
  check({{R"("expansion_factor": 3)", "model.ffn", "288"},
         {R"("intermediate_size": 400)", "model.ffn", "400"},
         {R"("intermediate_size": 400, "expansion_factor": 3)", "model.ffn", "400"},
         {R"("intermediate_size": 400, "mlp_multiple_of": 64)", "model.ffn", "448"},
         {gated + R"("expansion_factor": 3)", "model.ffn", "96"},  // 288 x 2/3 / 2
         {gated + R"("intermediate_size": 300)", "model.ffn", "100"}});
}

TEST_CASE("a pipeline of no stages is one of one in a GPT-NeoX file") {
  auto none = text("");
  none.replace(none.find(": 2"), 3, ": 0");
  CHECK(tests::value(none, "plan.pipeline", ranks) == "1");
  CHECK(tests::value(none, "training.global_batch", ranks) == "16");  // 2 x 8 replicas
}

}  // namespace neox_values_spec

// SPDX-License-Identifier: Apache-2.0
// Mixtures of experts, latent attention and prediction modules in a model's mapping.
#include <string>

#include "scenarios/documents/error.hpp"
#include "scenarios/documents/yaml.hpp"
#include "scenarios/scenario_file.hpp"
#include "scenarios/tables.hpp"
#include "tests/catch.hpp"

namespace mixtures_spec {

namespace {

// A model read by itself, as an entry of the catalog is.
model::Transformer read(const std::string& yaml) {
  scenarios::Reading reading("m.yaml", {});
  const auto value = scenarios::parse_yaml(yaml, "m.yaml");
  auto model = scenarios::read_model(scenarios::Cursor(value, "", reading));
  reading.throw_if_any();
  return model;
}

const std::string small =
    "layers: 4\nhidden: 64\nheads: 4\nvocab: 100\nactivation: swiglu\nffn: 96\n";

void simulate(const std::string& model) {
  scenarios::read_scenario("model: " + model +
                               "\ncluster: {node: dgx-h100, nodes: 1}\n"
                               "training: {sequence_length: 4096, global_batch: 64}\n",
                           "s.yaml", {});
}

}  // namespace

TEST_CASE("experts are as wide as ffn, and shared ones as experts, unless they say") {
  const auto moe = *read(small + "moe: {experts: 8, top_k: 2, shared_experts: 1}").moe;
  CHECK(moe ==
        model::Moe{
            .experts = 8, .top_k = 2, .expert_ffn = 96, .shared_experts = 1, .shared_ffn = 96});
  const auto wide = *read(small +
                          "moe: {experts: 8, top_k: 2, expert_ffn: 32, shared_experts: 2, "
                          "shared_ffn: 48, first_dense_layers: 1, every: 2, "
                          "capacity_factor: 1.25, imbalance: 1.5, router_bias: true, "
                          "expert_biases: true, shared_gate: true}")
                         .moe;
  CHECK(wide == model::Moe{.experts = 8,
                           .top_k = 2,
                           .expert_ffn = 32,
                           .shared_experts = 2,
                           .shared_ffn = 48,
                           .first_dense_layers = 1,
                           .every = 2,
                           .capacity_factor = 1.25,
                           .imbalance = 1.5,
                           .router_bias = true,
                           .expert_biases = true,
                           .shared_gate = true});
}

TEST_CASE("grouped-query attention has fewer heads of keys and values than of queries") {
  CHECK_THROWS_WITH(read(small + "attention: {kind: gqa}"),
                    STEPCAST_HOLDS("4 of both; give kv_heads"));
  CHECK_THROWS_WITH(read(small + "kv_heads: 4\nattention: {kind: gqa}"),
                    STEPCAST_HOLDS("4 of both; give kv_heads, or write mha"));
  CHECK(read(small + "kv_heads: 2\nattention: {kind: gqa}").kv_heads == 2);
}

TEST_CASE("a model whose every layer has experts needs no ffn") {
  const auto model = read(
      "{layers: 4, hidden: 64, heads: 4, vocab: 100, activation: swiglu, "
      "moe: {experts: 8, top_k: 2, expert_ffn: 32}}");
  CHECK(model.ffn == 32);
}

TEST_CASE("one key of a mixture changes one thing of the model underneath") {
  const auto base = *read("deepseek-v3").moe;
  const auto capped = *read("{base: deepseek-v3, moe: {capacity_factor: 1.5}}").moe;
  CHECK(capped.capacity_factor == 1.5);
  CHECK(capped.experts == base.experts);
  CHECK(capped.shared_ffn == base.shared_ffn);
  CHECK(read("{base: deepseek-v3, moe: {}}").moe == base);
  CHECK_FALSE(read("{base: deepseek-v3, moe: {experts: 0}}").moe);
}

TEST_CASE("mla, or its ranks, make attention latent, and another kind ends it") {
  const std::string sizes =
      "kv_lora_rank: 16, qk_nope_head_dim: 10, qk_rope_head_dim: 6, v_head_dim: 14";
  const auto implied = read(small + "attention: {" + sizes + "}");
  CHECK(implied.latent == model::LatentAttention{0, 16, 10, 6, 14});
  CHECK(implied.head_dim == 16);
  CHECK(implied.kv_heads == 4);
  CHECK(
      read(small + "attention: {kind: mla, q_lora_rank: 20, " + sizes + "}").latent->q_lora_rank ==
      20);
  CHECK(read("{base: deepseek-v3, attention: {kv_lora_rank: 256}}").latent->q_lora_rank == 1536);
  CHECK_FALSE(read("{base: deepseek-v3, attention: {kind: mha}}").latent);
  CHECK(read(small + "attention: {kind: mqa}").kv_heads == 1);
}

TEST_CASE("a mapping of experts or latent attention that cannot be is refused with its place") {
  CHECK_THROWS_WITH(read(small + "moe: {experts: 8}"),
                    STEPCAST_HOLDS("m.yaml:7:6: moe: missing key 'top_k'"));
  CHECK_THROWS_WITH(read(small + "moe: {top_k: 2}"),
                    STEPCAST_HOLDS("m.yaml:7:6: moe: missing key 'experts'"));
  CHECK_THROWS_WITH(read(small + "moe: {experts: 8, top_k: 9}"),
                    "m.yaml:7:26: moe.top_k: 9 of 8 experts; a token sees each at most once");
  CHECK_THROWS_WITH(read(small + "moe: {experts: 8, top_k: 2, imbalance: 0.5}"),
                    STEPCAST_HOLDS("m.yaml:7:40: moe.imbalance: 0.5 is out of range"));
  CHECK_THROWS_WITH(read(small + "moe: {expert: 8}"), STEPCAST_HOLDS("did you mean 'experts'?"));
  CHECK_THROWS_WITH(read(small + "attention: {kind: mla, kv_lora_rank: 16, v_head_dim: 8, "
                                 "qk_nope_head_dim: 8}"),
                    STEPCAST_HOLDS("attention: missing key 'qk_rope_head_dim'"));
  CHECK_THROWS_WITH(read(small + "kv_heads: 2\nattention: {kind: gqa, kv_lora_rank: 16}"),
                    "m.yaml:8:19: attention.kind: only mla has ranks and head sizes of its own; "
                    "expected mla, or no other key");
}

TEST_CASE("a scenario may hold a mixture, latent attention and prediction modules") {
  CHECK(read("mixtral-8x7b").moe->experts == 8);
  for (const auto* model :
       {"mixtral-8x7b", "deepseek-v3", "{base: llama3-8b, moe: {experts: 8, top_k: 2}}",
        "{base: llama3-8b, multi_token_prediction: 1}"}) {
    CAPTURE(model);
    CHECK_NOTHROW(simulate(model));
  }
}

TEST_CASE("sizes that follow from others are in the range of written ones") {
  const auto wrong = [](const std::string& yaml) -> std::string {
    try {
      read(yaml);
    } catch (const scenarios::Error& error) {
      return error.complaints.front().text;
    }
    return "no complaint";
  };
  const std::string latent = "attention: {kind: mla, kv_lora_rank: 8, v_head_dim: 8, ";
  CHECK(wrong(small + latent + "qk_nope_head_dim: 65000, qk_rope_head_dim: 536}") ==
        "no complaint");
  CHECK(wrong(small + latent + "qk_nope_head_dim: 65000, qk_rope_head_dim: 537}") ==
        "head_dim: 65537 is out of range; expected 1 to 65,536: the size of one head");
  CHECK(wrong("{layers: 1, hidden: 131072, heads: 1, vocab: 100}") ==
        "head_dim: 131072 is out of range; expected 1 to 65,536: the size of one head");
  CHECK(wrong("{layers: 1, hidden: 8388608, heads: 1024, vocab: 100}") ==
        "ffn: 33554432 is out of range; expected 1 to 16,777,216: no published transformer is near "
        "that");
  CHECK(
      wrong(small + "moe: {experts: 8, top_k: 2, expert_ffn: 2000000, shared_experts: 1}") ==
      "moe.shared_ffn: 2000000 is out of range; expected 0 to 1,000,000: no published transformer "
      "is near that");
}

}  // namespace mixtures_spec

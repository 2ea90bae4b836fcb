// SPDX-License-Identifier: Apache-2.0
// A config.json leaves out the values that transformers' class of its model_type has. Where a
// wrapper and its part for text both give a value, the part's holds.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "model/transformer.hpp"
#include "scenarios/documents/error.hpp"
#include "scenarios/foreign/huggingface.hpp"
#include "tests/catch.hpp"

namespace huggingface_defaults_spec {

namespace {

model::Transformer read(const std::string& text, std::vector<std::string>* notes = nullptr) {
  return scenarios::read_huggingface(text, "c.json", notes);
}

std::string refusal(const std::string& text) {
  try {
    read(text);
  } catch (const scenarios::Error& wrong) {
    return wrong.what();
  }
  return {};
}

// A model of this type, 4 layers of 4 heads and 256 wide, with more keys.
std::string sized(const std::string& type, const std::string& more = R"("a": 0)") {
  return R"({"model_type": ")" + type +
         R"(", "num_hidden_layers": 4, "hidden_size": 256, "num_attention_heads": 4,
 "vocab_size": 100, "intermediate_size": 96, "max_position_embeddings": 65536, )" +
         more + "}";
}

std::string inside(const std::string& wrapper, const std::string& text) {
  return R"({"model_type": ")" + wrapper + R"(", "text_config": )" + text + "}";
}

}  // namespace

TEST_CASE("a head of no width is as wide as its share of the hidden size") {
  std::vector<std::string> notes;
  CHECK(read(sized("llama", R"("head_dim": 0)"), &notes).head_dim == 64);
  CHECK(std::ranges::find(notes, "head_dim = 64: 0 is hidden / heads") != notes.end());
  CHECK(read(sized("llama", R"("head_dim": 32)")).head_dim == 32);
}

TEST_CASE("a size that a wrapper and its part for text give differently is that of the part") {
  const auto found = read(R"({"model_type": "paligemma", "hidden_size": 2048, "vocab_size": 7,
 "text_config": {"model_type": "gemma2", "hidden_size": 4608, "num_hidden_layers": 46,
 "num_attention_heads": 32, "num_key_value_heads": 16, "head_dim": 128,
 "intermediate_size": 36864, "vocab_size": 257216}})");
  CHECK(found.hidden == 4608);
  CHECK(found.vocab == 257'216);
  // Null says nothing.
  const auto outer = read(R"({"model_type": "llava", "vocab_size": 500,
 "text_config": {"model_type": "llama", "vocab_size": null}})");
  CHECK(outer.vocab == 500);
}

TEST_CASE("a part for text that gives its kind alone has all sizes of that class") {
  CHECK(model::parameters(read(inside("blip-2", R"({"model_type": "opt"})"))) ==
        Approx(125.2e6).epsilon(1e-3));  // OPT-125M
  const auto cohere = read(inside("aya_vision", R"({"model_type": "cohere2"})"));
  CHECK(cohere.vocab == 256'000);
  CHECK(cohere.window == model::Window{4096, 1, 4});
  CHECK(read(inside("granite_vision", R"({"model_type": "granite"})")).ffn == 11'008);
  const auto gemma = read(inside("paligemma", R"({"model_type": "gemma2"})"));
  CHECK(gemma.max_sequence == 8192);
  CHECK(gemma.window == model::Window{4096, 2});
  CHECK(read(inside("paligemma", R"({"model_type": "gemma"})")).max_sequence == 8192);
  CHECK(read(inside("llava_next", R"({"model_type": "mistral"})")).window->size == 4096);
  CHECK_FALSE(
      read(inside("llava_next", R"({"model_type": "mistral", "sliding_window": null})")).window);
}

TEST_CASE("a kind whose heads have a width of their own has it without the key") {
  CHECK(read(sized("qwen3")).head_dim == 128);
  CHECK(read(sized("seed_oss")).head_dim == 128);
  CHECK(read(sized("glm")).head_dim == 128);
  CHECK(read(sized("qwen2")).head_dim == 64);
  CHECK(read(sized("qwen3", R"("head_dim": 32)")).head_dim == 32);
}

TEST_CASE("Mistral has eight heads of keys and values without the key") {
  const std::string heads = R"("num_attention_heads": 16)";
  CHECK(read(sized("mistral", heads)).kv_heads == 8);
  CHECK(read(sized("mistral", heads + R"(, "num_key_value_heads": 2)")).kv_heads == 2);
  CHECK(read(sized("llama", heads)).kv_heads == 16);
}

TEST_CASE("a window that a file leaves out is that of its class, and null is none") {
  const auto window = [](const char* type, const std::string& more) {
    return read(sized(type, R"("num_attention_heads": 16, "max_position_embeddings": 8192)" + more))
        .window;
  };
  CHECK(window("mistral", "") == model::Window{4096, 1});
  CHECK(window("olmo3", "") == model::Window{4096, 1, 4});
  CHECK(window("exaone4", "") == model::Window{4096, 1, 4});
  for (const auto* type : {"mistral", "olmo3", "exaone4"})
    CHECK_FALSE(window(type, R"(, "sliding_window": null)"));
  CHECK(window("gpt_oss", R"(, "num_local_experts": 4, "num_experts_per_tok": 2)") ==
        model::Window{128, 2});
  CHECK_FALSE(window("llama", ""));
}

TEST_CASE("Starcoder 2 has two heads of keys and values without the key") {
  CHECK(read(sized("starcoder2")).kv_heads == 2);
  CHECK(read(sized("starcoder2", R"("num_key_value_heads": 4)")).kv_heads == 4);
}

TEST_CASE("Qwen's layers have a window only where the file switches it on") {
  for (const auto* type : {"qwen2", "qwen3"}) {
    CHECK_FALSE(read(sized(type, R"("sliding_window": 512)")).window);
    const std::string on = R"("sliding_window": 512, "use_sliding_window": true)";
    // The class's first 28 layers look back all the way, and this model has fewer.
    CHECK_FALSE(read(sized(type, on)).window);
    CHECK(read(sized(type, on + R"(, "max_window_layers": 0)")).window == model::Window{512, 1});
  }
  CHECK(read(sized("phi3", R"("sliding_window": 512)")).window == model::Window{512, 1});
}

TEST_CASE("Qwen2's queries, keys and values have biases whatever attention_bias says") {
  const auto t = read(sized("qwen2", R"("attention_bias": false)"));
  CHECK(t.qkv_biases);
  CHECK_FALSE(read(sized("qwen2", R"("attention_bias": true)")).output_bias);
  CHECK_FALSE(read(sized("qwen3", R"("attention_bias": false)")).qkv_biases);
}

TEST_CASE("norms of queries and keys by head are counted as one head's, and that is said") {
  for (const auto& [type, key] :
       {std::pair("stablelm", "qk_layernorm"), {"cohere", "use_qk_norm"}}) {
    std::vector<std::string> notes;
    const auto switched = std::string("\"") + key + "\": ";
    CHECK(read(sized(type, switched + "true"), &notes).query_key_norm);
    CHECK(std::ranges::count(notes,
                             "approximated: its query and key norms have weights of every head; "
                             "counted as one head's") == 1);
    CHECK_FALSE(read(sized(type, switched + "false")).query_key_norm);
  }
  CHECK(read(sized("phi", R"("qk_layernorm": true)")).query_key_norm);
}

TEST_CASE("Hunyuan's own code has experts only if there are several, and a shared one if it says") {
  const auto dense = read(sized("hunyuan", R"("num_experts": 1, "moe_topk": 1)"));
  CHECK_FALSE(dense.moe);
  CHECK_FALSE(read(sized("hunyuan")).moe);
  const std::string several =
      R"("num_experts": 8, "moe_topk": 2, "num_shared_expert": 1, "use_mixed_mlp_moe": )";
  CHECK(read(sized("hunyuan", several + "true")).moe->shared_experts == 1);
  CHECK(read(sized("hunyuan", several + "false")).moe->shared_experts == 0);
}

TEST_CASE("one head of keys for all is said by other keys in SantaCoder and by sharers in PLaMo") {
  const auto santa = read(R"({"model_type": "gpt2", "attention_head_type": "multiquery",
 "n_embd": 2048, "n_head": 16, "n_inner": 8192, "n_layer": 24, "n_positions": 2048,
 "vocab_size": 49280})");
  CHECK(santa.kv_heads == 1);
  CHECK(model::parameters(santa) == Approx(1.1249e9).epsilon(1e-3));
  const auto plamo = read(sized("plamo", R"("n_shared_head": 3)"));
  CHECK(plamo.kv_heads == 2);
  CHECK(plamo.parallel_block);
  CHECK(plamo.norms_per_layer == 1);
}

TEST_CASE("MPT's gated MLP has three projections, and an unknown one is refused") {
  const auto mpt = [](const std::string& type) {
    return R"({"model_type": "mpt", "d_model": 64, "n_heads": 4, "n_layers": 2, "vocab_size": 100,
 "expansion_ratio": 4, "max_seq_len": 128, "ffn_config": {"ffn_type": ")" +
           type + "\"}}";
  };
  CHECK(model::parameters(read(mpt("mptglu"))) - model::parameters(read(mpt("mptmlp"))) ==
        2 * 64 * 256);
  CHECK_THAT(refusal(mpt("mb_dmoe")), STEPCAST_HOLDS("ffn_type: an MLP of kind 'mb_dmoe'"));
}

TEST_CASE("the layers with experts of a frequency are counted as DeepSeek and as Arctic count") {
  const auto with_experts = [](const std::string& type, const std::string& key) {
    const auto t = read(sized(
        type,
        R"("n_routed_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 32, )" + key));
    std::vector<int> layers;
    for (int i = 0; i < 4; ++i)
      if (model::is_moe_layer(t, i)) layers.push_back(i);
    return layers;
  };
  using Layers = std::vector<int>;
  CHECK(with_experts("deepseek", R"("moe_layer_freq": 2)") == Layers{0, 2});
  CHECK(with_experts("deepseek", R"("moe_layer_freq": 2, "first_k_dense_replace": 1)") ==
        Layers{2});
  CHECK(with_experts("arctic", R"("moe_layer_frequency": 2)") == Layers{1, 3});
}

TEST_CASE("a refusal names the part and the reason that a reader can check") {
  CHECK_THAT(refusal(inside("mistral3", R"({"model_type": "mistral9"})")),
             STEPCAST_HOLDS("model_type 'mistral9' of its part for text is not supported yet"));
  CHECK_THAT(refusal(R"({"ssm_cfg": {"layer": "Mamba1"}, "d_model": 64, "n_layer": 2})"),
             STEPCAST_HOLDS("layers that are state-space models cannot be described"));
  CHECK_THAT(refusal(sized("chatglm", R"("inner_hidden_size": 96)")),
             STEPCAST_HOLDS("its positions have two dimensions"));
  CHECK_THAT(refusal(sized("skywork", R"("num_experts": [16])")),
             STEPCAST_HOLDS("models of kind 'skywork' have none"));
  CHECK_THAT(refusal(sized("Dream")), STEPCAST_HOLDS("it fills in masked tokens"));
}

}  // namespace huggingface_defaults_spec

// SPDX-License-Identifier: Apache-2.0
// Families of config.json whose models a line of keys describes well enough, and models whose
// layers differ.
#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "model/transformer.hpp"
#include "scenarios/documents/error.hpp"
#include "scenarios/documents/file.hpp"
#include "scenarios/documents/layer_rule.hpp"
#include "scenarios/foreign/huggingface.hpp"
#include "tests/catch.hpp"

namespace huggingface_families_spec {

namespace {

model::Transformer read(const std::string& text, std::vector<std::string>* notes = nullptr) {
  return scenarios::read_huggingface(text, "c.json", notes);
}

// A small model of this type with more keys.
std::string small(const std::string& type, const std::string& more) {
  return R"({"model_type": ")" + type +
         R"(", "num_hidden_layers": 4, "hidden_size": 64, "num_attention_heads": 4,
 "vocab_size": 100, "intermediate_size": 96, "max_position_embeddings": 4096,
 )" + more +
         "}";
}

std::string refusal(const std::string& text) {
  try {
    read(text);
  } catch (const scenarios::Error& wrong) {
    CHECK(scenarios::only_unsupported(wrong));
    return wrong.what();
  }
  return {};
}

}  // namespace

// A line of the file is a model's number of parameters, as its page gives it, and its config.json,
// shortened.
TEST_CASE("a model of every other family has its published number of parameters within 0.1 %") {
  std::istringstream lines(scenarios::read_file(std::filesystem::path(STEPCAST_SOURCE_DIR) /
                                                "tests/scenarios/configs/families.txt"));
  int tried = 0;
  for (std::string line; std::getline(lines, line); ++tried) {
    INFO(line);
    const auto space = line.find(' ');
    CHECK(static_cast<double>(model::parameters(read(line.substr(space + 1)))) ==
          Approx(std::stod(line.substr(0, space))).epsilon(1e-3));
  }
  CHECK(tried > 25);
}

TEST_CASE("mixtures by the code of dense models have experts in every layer") {
  const auto xverse = read(
      R"({"model_type": "xverse", "hidden_size": 2560, "intermediate_size": 1728, "moe_top_k": 6,
 "num_attention_heads": 32, "num_experts": 64, "num_hidden_layers": 28, "num_shared_experts": 2,
 "max_position_embeddings": 8192, "tie_word_embeddings": false, "vocab_size": 100534})");
  CHECK(static_cast<double>(model::parameters(xverse)) == Approx(25.8e9).epsilon(2e-3));
  CHECK(static_cast<double>(model::active_parameters(xverse)) == Approx(4.2e9).epsilon(2e-2));
  const auto minicpm = read(
      R"({"model_type": "minicpm", "hidden_size": 2304, "intermediate_size": 5760,
 "num_attention_heads": 36, "num_key_value_heads": 36, "num_experts": 8, "num_experts_per_tok": 2,
 "num_hidden_layers": 40, "max_position_embeddings": 4096, "vocab_size": 122753})");
  const auto embedding = 2304.0 * 122753;
  CHECK(static_cast<double>(model::parameters(minicpm)) - embedding ==
        Approx(13.6e9).epsilon(2e-3));  // its page counts without the embedding
  CHECK_FALSE(read(small("minicpm", "\"num_experts\": 0")).moe);
  CHECK_FALSE(read(small("xverse", "\"num_experts\": 0")).moe);
}

TEST_CASE("the decoder of a model that sees is read by the kind of its text") {
  std::vector<std::string> notes;
  const auto aria = read(
      R"({"model_type": "aria", "text_config": {"model_type": "aria_moe_lm", "hidden_size": 2560,
 "intermediate_size": 13568, "moe_intermediate_size": 1664, "moe_num_experts": 64,
 "moe_num_shared_experts": 2, "moe_topk": 6, "num_attention_heads": 20, "num_hidden_layers": 28,
 "num_key_value_heads": 20, "max_position_embeddings": 65536, "vocab_size": 100352},
 "vision_config": {"model_type": "aria_vision_model"}})",
      &notes);
  CHECK(static_cast<double>(model::parameters(aria)) == Approx(24.9e9).epsilon(2e-3));
  CHECK(std::ranges::find(notes,
                          "only the part that reads and writes text; what sees or hears is left "
                          "out") != notes.end());
  CHECK(read(small("llava_llama", "\"mm_vision_tower\": \"clip\"")) ==
        read(small("llama", "\"mlp_bias\": false")));
  CHECK(read(small("llava_qwen", "\"mm_vision_tower\": \"clip\"")).qkv_biases);
  CHECK(read(small("minicpmv", "\"version\": 2.6")).qkv_biases);
  CHECK(refusal(small("minicpmv", "\"version\": 2.5")).find("only that of 2.6 is known") !=
        std::string::npos);
  CHECK(read(small("chameleon", "\"vq_config\": {}")).query_key_norm);
}

TEST_CASE("a file without a kind is of the kind that its class has") {
  const std::string sizes =
      R"("num_hidden_layers": 4, "hidden_size": 64, "num_attention_heads": 4, "vocab_size": 100,
 "intermediate_size": 96, "max_position_embeddings": 4096})";
  std::vector<std::string> notes;
  const auto made = read(R"({"architectures": ["Qwen3ForCausalLM"], )" + sizes, &notes);
  CHECK(made.query_key_norm);
  CHECK(notes.front() == "model_type = qwen3: absent; that of Qwen3ForCausalLM");
  CHECK_THROWS_WITH(read(R"({"architectures": ["MyModel"], )" + sizes),
                    "c.json:1:1: missing key 'model_type'; it names the kind of model");
  CHECK_THROWS(read(R"({"model_type": "mine", "architectures": ["LlamaForCausalLM"], )" + sizes));
}

TEST_CASE("Grok 2 has an MLP beside its experts, a head of its own and a kind that says nothing") {
  const std::string sizes =
      R"("hidden_size": 8192, "intermediate_size": 32768, "moe_intermediate_size": 16384,
 "num_hidden_layers": 64, "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 128,
 "num_local_experts": 8, "num_experts_per_tok": 2, "residual_moe": true, "vocab_size": 131072,
 "max_position_embeddings": 131072})";
  const std::string named = R"({"architectures": ["Grok1ForCausalLM"], "model_type": )";
  constexpr double published = 269.5e9;
  for (const auto* kind : {"\"git\", ", "\"grok\", "}) {
    const auto model = read(named + kind + sizes);
    CHECK(model.moe->shared_experts == 1);
    CHECK(model.moe->shared_ffn == 32'768);
    CHECK_FALSE(model.tied_embeddings);
    CHECK(static_cast<double>(model::parameters(model)) == Approx(published).epsilon(1e-3));
  }
  CHECK(refusal(R"({"model_type": "git", )" + sizes).find("'git' is not supported") !=
        std::string::npos);
}

TEST_CASE("MiniMax-M2 is told from older models of its kind by its class") {
  const auto of = [](const std::string& name) {
    return small("minimax", R"("architectures": [")" + name + R"("], "num_local_experts": 8,
                 "num_experts_per_tok": 2)");
  };
  CHECK(read(of("MiniMaxM2ForCausalLM")).moe->experts == 8);
  CHECK(refusal(of("MiniMaxForCausalLM")).find("linear attention") != std::string::npos);
}

TEST_CASE("a class that does not predict the next token with a head over words is refused") {
  const auto of = [](const std::string& name) {
    return refusal(small("llama", R"("architectures": [")" + name + R"("])"));
  };
  CHECK(of("LlamaForCausalLM").empty());
  CHECK(of("LlamaForSequenceClassification")
            .find("architectures: LlamaForSequenceClassification does not predict the next token "
                  "of a text: it sorts texts into classes, or scores them") != std::string::npos);
  CHECK(of("LlamaForCausalLMEagle3").find("it drafts tokens from the layers of another model") !=
        std::string::npos);
}

TEST_CASE("a note on key and value heads is left out where multi_query decides their number") {
  const auto noted = [](const std::string& type, const std::string& more) {
    std::vector<std::string> notes;
    const auto heads = read(small(type, more), &notes).kv_heads;
    return std::to_string(heads) +
           (std::ranges::any_of(
                notes, [](const std::string& note) { return note.starts_with("kv_heads"); })
                ? " noted"
                : "");
  };
  CHECK(noted("RefinedWebModel", R"("multi_query": true)") == "1");
  CHECK(noted("gpt_bigcode", R"("multi_query": true)") == "1");
  CHECK(noted("llama", R"("mlp_bias": false)") == "4 noted");
}

TEST_CASE("a list of layers with windows is the rule that it follows") {
  using scenarios::window_rule;
  using Rule = scenarios::WindowRule;
  CHECK(window_rule({true, true, true}) == Rule{1, 0});
  CHECK(window_rule({true, false, true, false}) == Rule{2, 0});
  CHECK(window_rule({true, false, false, true}) == Rule{3, 0});
  CHECK(window_rule({true, true, false, true, true, false, true}) == Rule{1, 3});
  CHECK_FALSE(window_rule({false, false}));
  CHECK_FALSE(window_rule({false, true}));
  CHECK_FALSE(window_rule({true, true, false, false}));
  CHECK_FALSE(window_rule({}));
}

TEST_CASE("a list of layers says which have a window, whatever the family does") {
  const auto window = [](const std::string& types, std::vector<std::string>* notes = nullptr) {
    return read(small("qwen3",
                      R"("use_sliding_window": true, "sliding_window": 512, "layer_types": [)" +
                          types + "]"),
                notes)
        .window;
  };
  const std::string wide = R"("full_attention")", narrow = R"("sliding_attention")";
  const auto four = [](const std::string& a, const std::string& b, const std::string& c,
                       const std::string& d) { return a + "," + b + "," + c + "," + d; };
  CHECK_FALSE(window(four(wide, wide, wide, wide)));
  CHECK(window(four(narrow, narrow, narrow, narrow)) == model::Window{512, 1});
  CHECK(window(four(narrow, narrow, narrow, wide)) == model::Window{512, 1, 4});
  CHECK(window(four(narrow, wide, narrow, wide)) == model::Window{512, 2});
  std::vector<std::string> notes;
  CHECK(window(four(wide, narrow, narrow, narrow), &notes) == model::Window{512, 1, 4});
  CHECK(std::ranges::count(notes,
                           "approximated: 1 of 4 layers look back all the way; 1 are taken to, the "
                           "last of every 4") == 1);
  CHECK_THAT(refusal(small("qwen3", R"("layer_types": ["full_attention", "conv"])")),
             STEPCAST_HOLDS("its layers of kind 'conv' cannot be described"));
}

TEST_CASE("Qwen's first layers look back all the way, by a count") {
  const auto window = [](const std::string& more) {
    return read(small("qwen2", R"("sliding_window": 512, )" + more)).window;
  };
  CHECK_FALSE(window(R"("use_sliding_window": false, "max_window_layers": 0)"));
  CHECK_FALSE(window(R"("use_sliding_window": true, "max_window_layers": 4)"));
  CHECK(window(R"("use_sliding_window": true, "max_window_layers": 0)") == model::Window{512, 1});
}

TEST_CASE("a file that asks for parts that its kind does not have is refused") {
  CHECK_THAT(refusal(small("llama", R"("num_local_experts": 8)")),
             STEPCAST_HOLDS("it has experts, and models of kind 'llama' have none"));
  CHECK_THAT(refusal(small("llama", R"("use_cla": true)")),
             STEPCAST_HOLDS("use_cla: some layers take the keys and values"));
  CHECK_THAT(refusal(small("deci", R"("num_key_value_heads_per_layer": [4, 2, 4, 4])")),
             STEPCAST_HOLDS("layers differ"));
  CHECK_THAT(refusal(small("granitemoehybrid", R"("layer_types": ["mamba", "attention"])")),
             STEPCAST_HOLDS("its layers of kind 'mamba'"));
}

TEST_CASE("layers with experts may be listed one by one") {
  const auto moe = [](const std::string& list) {
    return *read(small("deepseek", R"("n_routed_experts": 8, "num_experts_per_tok": 2,
 "moe_intermediate_size": 32, "moe_layer_freq": )" +
                                       list))
                .moe;
  };
  CHECK(moe("[0, 1, 1, 1]").first_dense_layers == 1);
  CHECK(moe("[0, 1, 1, 1]").every == 1);
  CHECK(moe("2").every == 2);
  CHECK_THROWS_WITH(moe("[0, 1, 0, 1]"), STEPCAST_HOLDS("only the first layers"));
}

TEST_CASE("groups of experts and weights of few bits are said, as a model says nothing of them") {
  std::vector<std::string> notes;
  read(small("deepseek", R"("n_routed_experts": 8, "num_experts_per_tok": 2, "n_group": 4,
 "topk_group": 2, "moe_intermediate_size": 32, "quantization_config": {"quant_method": "fp8"})"),
       &notes);
  CHECK(std::ranges::count(notes,
                           "a token chooses experts of 2 of 4 groups: write training.routing: "
                           "{locality: group_limited, groups: 4, top_groups: 2}") == 1);
  CHECK(std::ranges::count(
            notes,
            "stored in few bits; the forecast trains in the precision of training.precision") == 1);
}

// Vicuna's file, which LLaVA-1.5 7B names, says little more than its name.
TEST_CASE("a part inside of another model's file takes its class's sizes") {
  CHECK(model::parameters(read(R"({"model_type": "llava", "vision_config": {},
 "text_config": {"model_type": "llama", "vocab_size": 32064}})")) ==
        6'738'415'616 + std::int64_t{2} * 64 * 4096);
  CHECK_THROWS_WITH(read(R"({"model_type": "llama", "vocab_size": 32064})"),
                    STEPCAST_HOLDS("missing key 'hidden_size'"));
}

TEST_CASE("the part for text says whether embeddings are tied, or its class, never the wrapper") {
  const auto tied = [](const std::string& top, const std::string& type, const std::string& inside) {
    return read("{" + top + R"("model_type": "seer", "text_config": )" + small(type, inside) + "}")
        .tied_embeddings;
  };
  const std::string yes = R"("tie_word_embeddings": true)", no = R"("tie_word_embeddings": false)";
  const std::string sizes = R"("head_dim": 16, "num_key_value_heads": 4)";
  CHECK(tied(no + ",", "llama", yes));
  CHECK_FALSE(tied(yes + ",", "llama", no));
  CHECK(tied(no + ",", "gemma", sizes));           // the default of GemmaConfig
  CHECK_FALSE(tied(yes + ",", "mistral", sizes));  // the default of MistralConfig
  CHECK_FALSE(tied("", "gemma", sizes + "," + no));
  CHECK_THROWS_WITH(tied(R"("tie_word_embeddings": 1,)", "llama", sizes),
                    "c.json:1:25: tie_word_embeddings: expected true or false");
}

// With heads of 256 and 64 values in the hidden state, a head has 64 * 256 = 16,384 parameters: 16
// heads of queries, keys, values and outputs each in Gemma, 8 + 4 + 4 + 8 in Gemma 2. The MLP has 3
// * 64 * 96, the embedding 100 * 64.
TEST_CASE("Gemma's heads have 256 values where the file does not say how many") {
  const auto count = [](const std::string& type) {
    return model::parameters(read(R"({"model_type": ")" + type +
                                  R"(", "num_hidden_layers": 1, "hidden_size": 64,
 "vocab_size": 100, "intermediate_size": 96})"));
  };
  const std::int64_t rest = 3 * 64 * 96 + 100 * 64 + 64;
  CHECK(count("gemma") == 64 * 16'384 + 2 * 64 + rest);
  CHECK(count("gemma2") == 24 * 16'384 + 4 * 64 + rest);
}

TEST_CASE("StableLM's block may be parallel, with one norm") {
  const auto with = [](const std::string& parallel) {
    return read(small("stablelm", R"("use_parallel_residual": )" + parallel));
  };
  CHECK(with("true").parallel_block);
  CHECK_FALSE(with("false").parallel_block);
  // Its layernorm has weights and biases, 2 * 64 in each of four layers.
  CHECK(model::parameters(with("false")) - model::parameters(with("true")) == 4 * 2 * 64);
}

TEST_CASE("heads that are missing or wrong are not compared with key and value heads") {
  const auto with = [](const std::string& heads) {
    return read(R"({"model_type": "llama", "num_hidden_layers": 1, "hidden_size": 64,
 "vocab_size": 100, "intermediate_size": 96,)" +
                heads + R"( "num_key_value_heads": 3})");
  };
  CHECK_THROWS_WITH(with(""), "c.json:1:1: missing key 'num_attention_heads'");
  CHECK_THROWS_WITH(with(R"("num_attention_heads": 0,)"),
                    "c.json:2:68: num_attention_heads: 0 where a whole number from 1 to "
                    "1,000,000,000 belongs");
  CHECK_THROWS_WITH(with(R"("num_attention_heads": 4,)"),
                    "c.json:2:94: 3 key and value heads do not divide 4 heads");
  CHECK_THROWS_WITH(read(R"({"model_type": "gemma2", "num_hidden_layers": 1, "hidden_size": 64,
 "vocab_size": 100, "intermediate_size": 96, "num_key_value_heads": 3})"),
                    "c.json:2:69: 3 key and value heads do not divide 8 heads");
}

TEST_CASE("layers with experts may be listed by words or truths, dense ones first") {
  const auto dense = [](const std::string& more) {
    return read(small("deepseek", R"("n_routed_experts": 8, "num_experts_per_tok": 2,
 "moe_intermediate_size": 32, )" + more))
        .moe->first_dense_layers;
  };
  const std::string words = R"("mlp_layer_types": ["dense", "sparse", "sparse", "sparse"])";
  const std::string truths = R"("is_moe_layer": [false, false, true, true])";
  CHECK(dense(words) == 1);
  CHECK(dense(words + R"(, "moe_layer_freq": 1)") == 1);
  CHECK(dense(words + R"(, "first_k_dense_replace": 1)") == 1);
  CHECK(dense(truths) == 2);
  CHECK(dense(R"("is_moe_layer": true)") == 0);
  CHECK_THROWS_WITH(
      dense(words + R"(, "first_k_dense_replace": 2)"),
      "c.json:4:50: mlp_layer_types: layer 1 is with experts, and by other keys without");
  CHECK_THROWS_WITH(
      dense(truths + R"(, "first_k_dense_replace": 1)"),
      "c.json:4:47: is_moe_layer: layer 1 is without experts, and by other keys with");
  CHECK_THROWS_WITH(dense(words + ", " + truths),
                    STEPCAST_HOLDS("is_moe_layer: layer 1 is without experts"));
  CHECK_THROWS_WITH(
      dense(R"("is_moe_layer": [false, true, false, true])"),
      "c.json:4:47: is_moe_layer: only the first layers can be without experts in a list");
  CHECK_THROWS_WITH(dense(R"("is_moe_layer": [false, true])"),
                    "c.json:4:47: is_moe_layer: a list of 2 of 4 layers");
  CHECK_THROWS_WITH(dense(R"("is_moe_layer": [0, 1, 1, 1])"),
                    "c.json:4:47: is_moe_layer: expected a list of true and false");
  CHECK_THROWS_WITH(dense(R"("mlp_layer_types": ["dense", "wide", "sparse", "sparse"])"),
                    STEPCAST_HOLDS("mlp_layer_types: layers of kind 'wide' cannot be described"));
}

TEST_CASE("a list of layers with experts may follow the period that the file gives beside it") {
  const auto moe = *read(small("qwen3_moe", R"("num_experts": 8, "num_experts_per_tok": 2,
 "decoder_sparse_step": 2, "mlp_layer_types": ["dense", "sparse", "dense", "sparse"])"))
                        .moe;
  CHECK(moe.every == 2);
  CHECK(moe.first_dense_layers == 1);
}

TEST_CASE("a decoder's kind with attention in both directions or to an encoder is refused") {
  CHECK(
      refusal(small("gemma3_text", R"("use_bidirectional_attention": true)")) ==
      "c.json:3:33: use_bidirectional_attention: it is an encoder, which does not predict the next "
      "token");
  CHECK(refusal(small("llama", R"("is_causal": false)")) ==
        "c.json:3:15: is_causal: it is an encoder, which does not predict the next token");
  CHECK(refusal(small("gpt2", R"("add_cross_attention": true)")) ==
        "c.json:3:25: add_cross_attention: its layers also look at what an encoder gives; only "
        "decoders alone can be described");
  CHECK(read(small("llama", R"("is_causal": true, "add_cross_attention": false,
 "use_bidirectional_attention": false)"))
            .layers == 4);
}

// A dense layer's MLP has 3 * 64 * 96 parameters, each expert 3 * 64 * 32.
TEST_CASE("a file may switch off experts or latent attention that its kind has") {
  const std::string plain = R"("use_mla": false, "kv_lora_rank": null, "qk_nope_head_dim": 0,)";
  const auto plainly = read(small("deepseek_v2", plain + R"("n_routed_experts": 8,
 "num_experts_per_tok": 2, "moe_intermediate_size": 32)"));
  CHECK_FALSE(plainly.latent);
  CHECK(plainly.head_dim == 16);
  CHECK(plainly.moe->experts == 8);
  const std::string none = R"("n_routed_experts": null, "num_experts_per_tok": null)";
  const auto dense = read(small("deepseek_v2", plain + none));
  CHECK_FALSE(dense.moe);
  CHECK(model::parameters(dense) == 4 * (4 * 64 * 64 + 3 * 64 * 96 + 2 * 64) + 2 * 100 * 64 + 64);
  const auto latent = read(small("deepseek_v2", R"("kv_lora_rank": 8, "qk_nope_head_dim": 8,
 "qk_rope_head_dim": 8, "v_head_dim": 16, )" + none));
  CHECK(latent.latent);
  CHECK_FALSE(latent.moe);
  CHECK_THROWS_WITH(read(small("deepseek_v2", plain + R"("num_experts_per_tok": 2)")),
                    "c.json:1:1: missing key 'num_local_experts'");
  const auto llama4 = read(small("llama4_text", R"("num_local_experts": 0, "num_experts_per_tok": 0,
 "interleave_moe_layer_step": 0, "intermediate_size_mlp": 80)"));
  CHECK_FALSE(llama4.moe);
  CHECK(llama4.ffn == 80);
}

TEST_CASE("names of later classes are those of the kinds that they equal") {
  const std::string experts = R"("num_local_experts": 8, "num_experts_per_tok": 2)";
  CHECK(read(small("phi4_multimodal", "\"a\": 1")) == read(small("phi4mm", "\"a\": 1")));
  CHECK(read(small("grinmoe", experts)) == read(small("phimoe", experts)));
}

TEST_CASE("Llama 4's list of layers with experts takes the place of every so many") {
  const auto moe = [](const std::string& listed) {
    return *read(small("llama4_text", R"("num_local_experts": 4, "num_experts_per_tok": 1,
 "interleave_moe_layer_step": 1, "intermediate_size_mlp": 80, "moe_layers": )" +
                                          listed))
                .moe;
  };
  CHECK(moe("[1, 3]").every == 2);
  CHECK(moe("[1, 3]").first_dense_layers == 1);
  CHECK(moe("[0, 1, 2, 3]").every == 1);
  CHECK(moe("null").every == 1);
  CHECK_THROWS_WITH(moe("[0, 1, 3]"), STEPCAST_HOLDS("moe_layers: only the first layers"));
}

}  // namespace huggingface_families_spec

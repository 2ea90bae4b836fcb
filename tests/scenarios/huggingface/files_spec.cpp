// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "model/transformer.hpp"
#include "scenarios/documents/error.hpp"
#include "scenarios/documents/yaml.hpp"
#include "scenarios/foreign/huggingface.hpp"
#include "scenarios/foreign/huggingface_families.hpp"
#include "tests/catch.hpp"

namespace huggingface_spec {

using scenarios::read_huggingface;

namespace {

const std::filesystem::path configs =
    std::filesystem::path(STEPCAST_SOURCE_DIR) / "tests/scenarios/configs";

model::Transformer config(const std::string& name, std::vector<std::string>* defaulted = nullptr) {
  return read_huggingface(scenarios::read_file(configs / (name + ".json")), name + ".json",
                          defaulted);
}

struct Published {
  std::string name;
  std::int64_t parameters;
};

}  // namespace

// Numbers of parameters are as the models' pages on huggingface.co print them (safetensors
// metadata) or as the library's own num_parameters() gives. They leave out prediction modules and
// vision towers: DeepSeek-V3's 684,489,845,504 are 671,026,419,200 + 11,610,068,224 of the module
// and its copies of embedding and head; Llama 4's have 871,932,416 more for vision.
TEST_CASE("an imported model has the published number of parameters") {
  const auto [name, parameters] =
      GENERATE(values<Published>({{"gpt2", 124'439'808},
                                  {"gpt2-medium", 354'823'168},
                                  {"gpt-neox-20b", 20'554'567'680},
                                  {"redpajama-3b", 2'775'864'320},
                                  {"gpt-bigcode", 1'124'886'528},
                                  {"llama2-7b", 6'738'415'616},
                                  {"llama2-13b", 13'015'864'320},
                                  {"llama2-70b", 68'976'648'192},
                                  {"llama3.1-8b", 8'030'261'248},
                                  {"llama3.1-70b", 70'553'706'496},
                                  {"llama3.1-405b", 405'853'388'800},
                                  {"smollm-1.7b", 1'711'376'384},
                                  {"mistral-7b-v0.3", 7'248'023'552},
                                  {"qwen1.5-1.8b", 1'836'828'672 - 151'936 * 2048},  // it is tied
                                  {"qwen2-7b", 7'615'616'512},
                                  {"qwen3-0.6b", 596'049'920},
                                  {"qwen3-1.7b", 1'720'574'976},
                                  {"qwen3-8b", 8'190'735'360},
                                  {"qwen3-32b", 32'762'123'264},
                                  {"phi-3.5-mini", 3'821'079'552},
                                  {"phi-4-mini", 3'836'021'760},
                                  {"gemma-2b", 2'506'172'416},
                                  {"gemma-2-9b", 9'241'705'984},
                                  {"gemma-2-27b", 27'227'128'320},
                                  {"gemma-3-1b", 999'885'952},
                                  {"starcoder2-7b", 7'173'923'840},
                                  {"stablelm-3b-4e1t", 2'795'443'200},
                                  {"aya-23-8b", 8'028'033'024},
                                  {"falcon-7b", 6'921'720'704},
                                  {"falcon-40b", 41'303'293'952},
                                  {"mixtral-8x7b", 46'702'792'704},
                                  {"mixtral-8x22b", 140'620'634'112},
                                  {"qwen1.5-moe-a2.7b", 14'315'784'192},
                                  {"qwen3-30b-a3b", 30'532'122'624},
                                  {"qwen3-235b-a22b", 235'093'634'560},
                                  {"qwen3-coder-480b-a35b", 480'154'875'392},
                                  {"deepseek-v2-lite", 15'706'484'224},
                                  {"deepseek-v3", 671'026'419'200},
                                  {"kimi-k2", 1'026'408'232'448},
                                  {"gpt-oss-20b", 20'914'757'184},
                                  {"gpt-oss-120b", 116'829'156'672},
                                  {"llama-4-scout", 108'641'793'536 - 871'932'416},
                                  {"llama-4-maverick", 401'583'781'376 - 871'932'416},
                                  {"dbrx", 131'596'523'520},
                                  {"pythia-12b", 11'846'072'320},
                                  {"mpt-7b", 6'649'286'656},
                                  {"command-r7b", 8'028'033'024},
                                  {"smollm3-3b", 3'075'098'624},
                                  {"seed-oss-36b", 36'151'104'512},
                                  {"exaone-4-32b", 32'003'216'384},
                                  {"deepseek-moe-16b", 16'375'728'128},
                                  {"ernie-4.5-21b-a3b", 21'825'437'888},
                                  {"hunyuan-a13b", 80'393'183'232}}));
  CAPTURE(name);
  CHECK(model::parameters(config(name)) == parameters);
}

TEST_CASE("a family that the description cannot hold exactly is within 0.01 % and says so") {
  const auto [name, parameters] = GENERATE(values<Published>({{"gpt-j-6b", 6'050'882'784},
                                                              {"phi-2", 2'779'683'840},
                                                              {"olmo-2-7b", 7'298'617'344},
                                                              {"olmo-2-13b", 13'716'198'400},
                                                              {"olmo-2-32b", 32'234'279'936},
                                                              {"olmoe-1b-7b", 6'919'161'856},
                                                              {"olmo-3-32b", 32'233'522'176},
                                                              {"opt-6.7b", 6'658'473'984},
                                                              {"bloom-176b", 176'247'271'424},
                                                              {"phi-3.5-moe", 41'873'153'344},
                                                              {"minimax-m2.5", 228'689'764'864}}));
  CAPTURE(name);
  std::vector<std::string> defaulted;
  const auto count = static_cast<double>(model::parameters(config(name, &defaulted)));
  CHECK(count / static_cast<double>(parameters) == Approx(1).epsilon(1e-4));
  REQUIRE_FALSE(defaulted.empty());
  CHECK_THAT(defaulted.back(), STEPCAST_HOLDS("approximated"));
}

// The models have the same sizes as the models of text that they were made of.
TEST_CASE(
    "the part that reads and writes text is read from a model that also sees, which is said") {
  const auto [name, parameters] =
      GENERATE(values<Published>({{"qwen3-vl-32b", 32'762'123'264},      // Qwen3-32B
                                  {"qwen3-vl-30b-a3b", 30'532'122'624},  // Qwen3-30B-A3B
                                  {"kimi-k2.5", 1'026'408'232'448},      // Kimi-K2
                                  {"devstral-small-2-24b", 23'572'403'200},
                                  {"gemma-3-27b", 27'009'002'240}}));
  CAPTURE(name);
  std::vector<std::string> defaulted;
  CHECK(model::parameters(config(name, &defaulted)) == parameters);
  CHECK(std::ranges::count(defaulted,
                           "only the part that reads and writes text; what sees or hears is left "
                           "out") == 1);
}

// The 34 layers have attention of 2560·(8+8)·256 + 2048·2560 = 15,728,640 parameters, an MLP of
// 3·2560·10,240 = 78,643,200 and norms of 4·2560 + 2·256 = 10,752 each; besides, the embedding has
// 262,208·2560, and there is a last norm.
TEST_CASE("sizes that a file leaves out because they are the class's own are filled in and said") {
  std::vector<std::string> defaulted;
  const auto model = config("gemma-3-4b", &defaulted);
  CHECK(model.heads == 8);
  CHECK(model.kv_heads == 4);
  CHECK(model.head_dim == 256);
  CHECK(model.max_sequence == 131'072);
  CHECK(model::parameters(model) == std::int64_t{34} * (15'728'640 + 78'643'200 + 10'752) +
                                        std::int64_t{262'208} * 2560 + 2560);
  CHECK(std::ranges::count(defaulted, "vocab_size = 262208: absent; the default of the class") ==
        1);
}

// The page of GLM-4.5-Air counts 110,468,824,832, which are the model, its module, and the module's
// copies of embedding and head.
TEST_CASE("a prediction module is counted beside the model") {
  const auto air = config("glm-4.5-air");
  CHECK(air.multi_token_prediction == 1);
  CHECK(model::parameters(air) + model::prediction_parameters(air) +
            std::int64_t{2} * 151'552 * 4096 ==
        110'468'824'832);
}

// Numbers are in billions, as the cards print them: some cards count the embedding, others do not.
TEST_CASE("a model's active parameters are those of its card") {
  const auto active = [](const std::string& name) {
    return static_cast<double>(model::active_parameters(config(name))) * 1e-9;
  };
  CHECK(active("qwen3-235b-a22b") == Approx(22.19).epsilon(0.005));
  CHECK(active("mixtral-8x7b") == Approx(12.88).epsilon(0.005));
  CHECK(active("kimi-k2") == Approx(32.86).epsilon(0.005));
  CHECK(active("gpt-oss-120b") - 201'088 * 2880e-9 == Approx(5.13).epsilon(0.005));
  CHECK(active("gpt-oss-20b") - 201'088 * 2880e-9 == Approx(3.61).epsilon(0.005));
}

TEST_CASE("every config here is read, or refused because of a computation of its model") {
  std::vector<std::string> refused;
  for (const auto& file : std::filesystem::directory_iterator(configs)) {
    if (file.path().extension() != ".json") continue;
    CAPTURE(file.path().string());
    try {
      const auto model = config(file.path().stem().string());
      CHECK(model::parameters(model) > 100'000'000);
    } catch (const scenarios::Error& wrong) {
      CHECK(scenarios::only_unsupported(wrong));
      refused.push_back(file.path().stem().string());
    }
  }
  std::ranges::sort(refused);
  CHECK(refused == std::vector<std::string>{"deepseek-v3.2", "deepseek-v4-flash", "gemma-4-26b-a4b",
                                            "glm-5", "glm-5.1", "mamba2-780m", "nemotron-3-nano",
                                            "qwen3-next-80b-a3b"});
}

TEST_CASE("a model with a computation that cannot be described is refused with the reason") {
  CHECK_THROWS_WITH(
      config("deepseek-v3.2"),
      "deepseek-v3.2.json:20:17: model_type 'deepseek_v32' is not supported: an indexer "
      "chooses the tokens that each attention layer looks at, and neither its "
      "parameters nor its sparsity can be described");
  CHECK_THROWS_WITH(
      config("nemotron-3-nano"),
      "nemotron-3-nano.json:27:17: model_type 'nemotron_h' is not supported: most of its "
      "layers are state-space models or have no attention");
}

TEST_CASE("infinity, which transformers writes, is no reason to refuse a file") {
  CHECK_THROWS_WITH(config("mamba2-780m"),
                    "mamba2-780m.json:2:17: model_type 'mamba2' is not supported: its layers are "
                    "state-space models, without attention");
}

TEST_CASE("a part for text of a kind that cannot be described is refused with that kind's reason") {
  CHECK_THROWS_WITH(
      read_huggingface(R"({"model_type": "seer", "text_config": {"model_type": "qwen3_5_text"}})",
                       "c.json", nullptr),
      "c.json:1:16: model_type 'qwen3_5_text' of its part for text is not supported: most of its "
      "layers have linear attention, which cannot be described");
}

TEST_CASE("a part for text may stand under other names, or inside a thinker") {
  const std::string llama =
      R"({"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64, "vocab_size": 100,
          "num_attention_heads": 8, "intermediate_size": 96})";
  for (const std::string key : {"text_config", "llm_config", "language_config"})
    CHECK(read_huggingface(R"({"model_type": "seer", ")" + key + "\": " + llama + "}", "c.json",
                           nullptr)
              .ffn == 96);
  CHECK(read_huggingface(
            R"({"model_type": "talker", "thinker_config": {"text_config": )" + llama + "}}",
            "c.json", nullptr)
            .ffn == 96);
}

TEST_CASE("a number that is written for every layer is one number where all agree") {
  const auto read = [](const std::string& widths) {
    return read_huggingface(
        R"({"model_type": "hunyuan_v1_moe", "num_hidden_layers": 2, "hidden_size": 64,
            "num_attention_heads": 4, "vocab_size": 100, "intermediate_size": 96, "num_experts": 8,
 "moe_topk": [2, 2], "moe_intermediate_size": )" +
            widths + "}",
        "c.json", nullptr);
  };
  CHECK(read("[48, 48]").moe->expert_ffn == 48);
  CHECK(read("48").moe->expert_ffn == 48);
  CHECK(read("48").moe->top_k == 2);
  CHECK_THROWS_WITH(read("[48, 32]"),
                    "c.json:3:47: moe_intermediate_size: layers differ; only one number for all "
                    "can be described");
}

TEST_CASE("ERNIE names the layers that have experts by a range") {
  const auto ernie = config("ernie-4.5-21b-a3b");
  CHECK_FALSE(is_moe_layer(ernie, 0));
  CHECK(is_moe_layer(ernie, 1));
  CHECK(is_moe_layer(ernie, 27));
  const auto read = [](const std::string& range) {
    return read_huggingface(
        R"({"model_type": "ernie4_5_moe", "num_hidden_layers": 8, "hidden_size": 64,
            "num_attention_heads": 4, "vocab_size": 100, "intermediate_size": 96,
            "moe_num_experts": 8, "moe_k": 2, )" +
            range + "}",
        "c.json", nullptr);
  };
  // An interval of 2 gives experts to odd layers, from the first behind the start.
  const auto second = read(R"("moe_layer_start_index": 2, "moe_layer_interval": 2)");
  CHECK(second.moe->first_dense_layers == 3);
  CHECK(second.moe->every == 2);
  CHECK_THROWS_WITH(read(R"("moe_layer_start_index": 1, "moe_layer_end_index": 6)"),
                    STEPCAST_HOLDS("moe_layer_end_index: the last layers have no experts"));
}

TEST_CASE("OPT with an embedding narrower than its layers is refused") {
  CHECK_THROWS_WITH(
      read_huggingface(R"({"model_type": "opt", "num_hidden_layers": 24, "hidden_size": 1024,
 "num_attention_heads": 16, "ffn_dim": 4096, "vocab_size": 50272, "word_embed_proj_dim": 512})",
                       "c.json", nullptr),
      "c.json:2:90: word_embed_proj_dim: an embedding of 512 beside a hidden size of 1024; "
      "projections between the two cannot be described");
}

TEST_CASE("an imported model is named by its file, or by the folder of a bare config.json") {
  const auto text = scenarios::read_file(configs / "llama3.1-8b.json");
  CHECK(read_huggingface(text, "models/llama3.1-8b.config.json", nullptr).name == "llama3.1-8b");
  CHECK(read_huggingface(text, "Llama-3.1-8B/config.json", nullptr).name == "Llama-3.1-8B");
  CHECK(config("phi-2").name == "phi-2");  // the file says microsoft/phi-2
}

TEST_CASE("Qwen3's head size is its own, not hidden over heads") {
  const auto model = config("qwen3-0.6b");
  CHECK(model.hidden == 1024);
  CHECK(model.heads == 16);
  CHECK(model.head_dim == 128);
  CHECK(model.query_key_norm);
}

TEST_CASE("the first Falcons have one key head, whatever their file prints") {
  CHECK(config("falcon-7b").kv_heads == 1);
  CHECK(config("falcon-7b").norms_per_layer == 1);
  CHECK(config("falcon-40b").kv_heads == 8);
  CHECK(config("falcon-40b").norms_per_layer == 2);
}

TEST_CASE("windows are read where they are narrower than the longest sequence") {
  CHECK(config("gemma-2-9b").window == model::Window{4096, 2});
  CHECK(config("starcoder2-7b").window == model::Window{4096, 1});
  CHECK_FALSE(config("qwen2-7b").window);
  CHECK_FALSE(config("mimo-7b").window);
  CHECK(config("gemma-3-27b").window == model::Window{1024, 1, 6});
  CHECK(config("olmo-3-32b").window == model::Window{4096, 1, 4});
  CHECK(config("exaone-4-32b").window == model::Window{4096, 1, 4});
}

TEST_CASE("defaults for keys that a file leaves out are listed") {
  std::vector<std::string> defaulted;
  config("gpt2", &defaulted);
  CHECK(defaulted == std::vector<std::string>{
                         "kv_heads = 12: absent; every head has its own keys and values",
                         "head_dim = 64: hidden / heads", "ffn = 3072: absent; four times hidden",
                         "tied_embeddings = true: 'tie_word_embeddings' is absent; the family's "
                         "default"});
}

TEST_CASE("an unknown kind of model is named, with the nearest kinds") {
  const auto answer = [](const std::string& type) -> std::string {
    try {
      read_huggingface(R"({"model_type": ")" + type + "\"}", "c.json", nullptr);
    } catch (const scenarios::Error& wrong) {
      CHECK(scenarios::only_unsupported(wrong));
      return wrong.what();
    }
    return {};
  };
  const auto begins = [](const std::string& type) {
    return "c.json:1:16: model_type '" + type +
           "' is not supported yet; docs/jobs.md lists the kinds that are";
  };
  CHECK(answer("mixtrel") == begins("mixtrel") + "; did you mean 'mixtral' or 'mistral'?");
  CHECK(answer("llama5") == begins("llama5") + "; did you mean 'llama' or 'llama4'?");
  CHECK(answer("qwen2_vll") ==
        begins("qwen2_vll") + "; did you mean 'qwen2', 'qwen2_vl' or 'qwen3_vl'?");
  CHECK(answer("biogpt") == begins("biogpt"));
}

TEST_CASE("a field that no description can hold is the reason to refuse an unknown kind") {
  const auto refused = [](const std::string& field) {
    return "c.json:1:16: model_type 'seer' is not supported: " + field;
  };
  const auto read = [](const std::string& field) {
    return read_huggingface(R"({"model_type": "seer", )" + field + "}", "c.json", nullptr);
  };
  CHECK_THROWS_WITH(read(R"("is_encoder_decoder": true)"),
                    refused("it has an encoder and a decoder that looks at it; only decoders alone "
                            "can be described"));
  for (const std::string key :
       {"\"cross_attention_layers\": [3, 8]", "\"cross_layer_interval\": 4"})
    CHECK_THROWS_WITH(read(key),
                      refused("some of its layers look at an image instead of the text"));
  CHECK_THROWS_WITH(read(R"("ssm_cfg": {})"),
                    refused("layers that are state-space models cannot be described"));
  CHECK_THROWS_WITH(read(R"("is_encoder_decoder": false)"), STEPCAST_HOLDS("not supported yet"));
}

TEST_CASE("the page of jobs lists every kind of model that a config.json may name") {
  const auto page =
      scenarios::read_file(std::filesystem::path(STEPCAST_SOURCE_DIR) / "docs/jobs.md");
  const auto list = page.substr(page.find("## Model files"));
  for (const auto& family : scenarios::families)
    CHECK_THAT(list, STEPCAST_HOLDS("`" + std::string(family.type) + "`"));
  for (const auto& alias : scenarios::aliases)
    CHECK_THAT(list, STEPCAST_HOLDS("`" + std::string(alias.type) + "`"));
}

TEST_CASE("mixtures are read under each family's names") {
  const auto mixtral = *config("mixtral-8x7b").moe;
  CHECK(mixtral == model::Moe{.experts = 8, .top_k = 2, .expert_ffn = 14336});
  const auto qwen2 = *config("qwen1.5-moe-a2.7b").moe;  // its file has a width, not a count
  CHECK(qwen2.shared_experts == 1);
  CHECK(qwen2.shared_ffn == 5632);
  CHECK(qwen2.shared_gate);
  const auto deepseek = config("deepseek-v3");
  CHECK(deepseek.moe == model::Moe{.experts = 256,
                                   .top_k = 8,
                                   .expert_ffn = 2048,
                                   .shared_experts = 1,
                                   .shared_ffn = 2048,
                                   .first_dense_layers = 3,
                                   .router_bias = true});
  CHECK(deepseek.latent == model::LatentAttention{1536, 512, 128, 64, 128});
  CHECK(deepseek.head_dim == 192);
  CHECK(deepseek.multi_token_prediction == 1);
  CHECK(config("deepseek-v2-lite").latent->q_lora_rank == 0);
  CHECK(config("kimi-k2").multi_token_prediction == 0);
  CHECK(config("minimax-m2.5").multi_token_prediction == 3);
  const auto maverick = config("llama-4-maverick");  // every second layer, the last one included
  CHECK(maverick.ffn == 16384);
  CHECK_FALSE(is_moe_layer(maverick, 0));
  CHECK(is_moe_layer(maverick, 47));
  const auto oss = config("gpt-oss-120b");
  CHECK(oss.window == model::Window{128, 2});
  CHECK(oss.attention_sinks);
  CHECK(oss.output_bias);
}

TEST_CASE("a value that a mixture cannot have is reported") {
  const auto read = [](const std::string& more) {
    return read_huggingface(
        R"({"model_type": "qwen3_moe", "num_hidden_layers": 4, "hidden_size": 64,
            "num_attention_heads": 4, "vocab_size": 100, "intermediate_size": 96,)" +
            more + "}",
        "c.json", nullptr);
  };
  CHECK_THROWS_WITH(read(R"("num_experts": 8, "num_experts_per_tok": 9)"),
                    "c.json:2:123: 9 of 8 experts per token; a token sees each at most once");
  CHECK_THROWS_WITH(read(R"("num_experts": 70000, "num_experts_per_tok": 2)"),
                    "c.json:2:97: 70000 experts; expected 1 to 65536: no model has so many");
  CHECK_THROWS_WITH(read(R"("num_experts_per_tok": 2)"),
                    "c.json:1:1: missing key 'num_local_experts'");
  CHECK_THROWS_WITH(read(R"("num_experts": 8, "num_experts_per_tok": 2, "mlp_only_layers": [2])"),
                    "c.json:2:145: mlp_only_layers: only the first layers can be without experts");
  CHECK_THROWS_WITH(read(R"("num_experts": 8, "num_experts_per_tok": 2, "mlp_only_layers": 3)"),
                    "c.json:2:145: mlp_only_layers: expected a list of whole numbers");
  CHECK(read(R"("num_experts": 8, "num_experts_per_tok": 2, "mlp_only_layers": [0, 1])")
            .moe->first_dense_layers == 2);
}

TEST_CASE("a mistake in a config.json is reported with its place") {
  const auto read = [](std::string_view text) { return read_huggingface(text, "c.json", nullptr); };
  CHECK_THROWS_WITH(read("{\"a\": 1,\n  \"b\" 2}"), "c.json:2:7: this is not JSON");
  CHECK_THROWS_WITH(read(""), "c.json:1:1: the file is empty");
  CHECK_THROWS_WITH(read("[1]"), "c.json:1:1: expected a JSON object; is this a config.json?");
  CHECK_THROWS_WITH(read("{}"), "c.json:1:1: missing key 'model_type'; it names the kind of model");
  CHECK_THROWS_WITH(
      read(R"({"model_type": "llama", "num_hidden_layers": 2.5, "hidden_size": "big",
               "num_attention_heads": 8, "vocab_size": 100, "intermediate_size": -1})"),
      "c.json:1:46: num_hidden_layers: 2.5 where a whole number from 1 to 1,000,000,000 belongs\n"
      "c.json:1:66: hidden_size: \"big\" where a whole number from 1 to 1,000,000,000 belongs\n"
      "c.json:2:39: hidden size 1 is not divisible by 8 heads, and there is no head_dim\n"
      "c.json:2:82: intermediate_size: -1 where a whole number from 1 to 1,000,000,000 belongs");
}

TEST_CASE("a number beyond a double is a mistake where it is a size, and no matter elsewhere") {
  const auto read = [](const std::string& more) {
    return read_huggingface(R"({"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64,
 "num_attention_heads": 8, "vocab_size": 100,
 )" + more + "}",
                            "c.json", nullptr);
  };
  CHECK_THROWS_WITH(
      read("\"intermediate_size\": 1e999"),
      "c.json:3:23: intermediate_size: 1e999 where a whole number from 1 to 1,000,000,000 belongs");
  CHECK_THROWS_WITH(read("\"intermediate_size\": NaN"),
                    "c.json:3:23: intermediate_size: NaN where a whole number from 1 to "
                    "1,000,000,000 belongs");
  CHECK(read(R"("intermediate_size": 96, "a": 1e999, "b": Infinity, "c": [-Infinity, NaN])").ffn ==
        96);
}

TEST_CASE("all mistakes of a config.json are told in the order of the file") {
  CHECK_THROWS_WITH(
      read_huggingface("{\"text_config\": {\"vocab_size\": [],\n \"hidden_act\": 3},\n"
                       "\"tie_word_embeddings\": \"no\", \"model_type\": \"glm4\"}",
                       "c.json", nullptr),
      "c.json:1:1: missing key 'num_hidden_layers'\n"
      "c.json:1:1: missing key 'hidden_size'\n"
      "c.json:1:1: missing key 'num_attention_heads'\n"
      "c.json:1:1: missing key 'intermediate_size'\n"
      "c.json:1:32: vocab_size: [] where a whole number from 1 to 1,000,000,000 belongs\n"
      "c.json:2:16: hidden_act: expected text\n"
      "c.json:3:24: tie_word_embeddings: expected true or false");
  CHECK_THROWS_WITH(read_huggingface("{\"model_type\": 3}", "c.json", nullptr),
                    "c.json:1:16: model_type: expected text");
}

}  // namespace huggingface_spec

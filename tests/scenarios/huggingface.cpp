// SPDX-License-Identifier: Apache-2.0
#include "scenarios/huggingface.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include "model/transformer.hpp"
#include "scenarios/error.hpp"
#include "scenarios/yaml.hpp"
#include "tests/catch.hpp"

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

// Totals as the models' pages on huggingface.co print them (safetensors metadata) or as the
// library's own num_parameters() gives.
TEST_CASE("an imported model has the published number of parameters") {
  const auto [name, parameters] = GENERATE(values<Published>({{"gpt2", 124'439'808},
                                                              {"gpt-neox-20b", 20'554'567'680},
                                                              {"gpt-bigcode", 1'124'886'528},
                                                              {"llama2-7b", 6'738'415'616},
                                                              {"llama3.1-8b", 8'030'261'248},
                                                              {"llama3.1-405b", 405'853'388'800},
                                                              {"mistral-7b-v0.3", 7'248'023'552},
                                                              {"qwen2-7b", 7'615'616'512},
                                                              {"qwen3-8b", 8'190'735'360},
                                                              {"qwen3-0.6b", 596'049'920},
                                                              {"phi-3.5-mini", 3'821'079'552},
                                                              {"gemma-2b", 2'506'172'416},
                                                              {"gemma-2-9b", 9'241'705'984},
                                                              {"gemma-3-1b", 999'885'952},
                                                              {"starcoder2-7b", 7'173'923'840},
                                                              {"stablelm-3b-4e1t", 2'795'443'200},
                                                              {"aya-23-8b", 8'028'033'024},
                                                              {"falcon-7b", 6'921'720'704},
                                                              {"falcon-40b", 41'303'293'952}}));
  CAPTURE(name);
  CHECK(model::parameters(config(name)) == parameters);
}

TEST_CASE("a family that the description cannot hold exactly is within 0.01 % and says so") {
  const auto [name, parameters] = GENERATE(values<Published>(
      {{"gpt-j-6b", 6'050'882'784}, {"phi-2", 2'779'683'840}, {"olmo-2-7b", 7'298'617'344}}));
  CAPTURE(name);
  std::vector<std::string> defaulted;
  const auto count = static_cast<double>(model::parameters(config(name, &defaulted)));
  CHECK(count / static_cast<double>(parameters) == Approx(1).epsilon(1e-4));
  REQUIRE_FALSE(defaulted.empty());
  CHECK_THAT(defaulted.back(), STEPCAST_HOLDS("approximated"));
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
}

TEST_CASE("what a file leaves out is listed") {
  std::vector<std::string> defaulted;
  config("gpt2", &defaulted);
  CHECK(defaulted == std::vector<std::string>{
                         "kv_heads = 12: absent; every head has its own keys and values",
                         "head_dim = 64: hidden / heads", "ffn = 3072: absent; four times hidden",
                         "tied_embeddings = true: 'tie_word_embeddings' is absent; the family's "
                         "default"});
}

TEST_CASE("a kind of model that is not supported is named, with those that are") {
  try {
    config("mixtral-8x7b");
    FAIL("a mixture of experts was read");
  } catch (const scenarios::Error& wrong) {
    CHECK(scenarios::only_unsupported(wrong));
    CHECK_THAT(wrong.what(), STEPCAST_HOLDS("model_type 'mixtral' is not supported yet") &&
                                 STEPCAST_HOLDS("llama") && STEPCAST_HOLDS("gpt_neox"));
  }
}

TEST_CASE("a mistake in a config.json is reported with its place") {
  const auto read = [](std::string_view text) { return read_huggingface(text, "c.json", nullptr); };
  CHECK_THROWS_WITH(read("{\"a\": 1,\n  \"b\" 2}"), "c.json:2:7: this is not JSON");
  CHECK_THROWS_WITH(read(""), "c.json:1:1: the file is empty");
  CHECK_THROWS_WITH(read("[1]"), "c.json: expected a JSON object; is this a config.json?");
  CHECK_THROWS_WITH(read("{}"), "c.json: missing key 'model_type'; it names the kind of model");
  CHECK_THROWS_WITH(
      read(R"({"model_type": "llama", "num_hidden_layers": 2.5, "hidden_size": "big",
               "num_attention_heads": 8, "vocab_size": 100, "intermediate_size": -1})"),
      "c.json: num_hidden_layers: 2.5 where a whole number from 1 to 1,000,000,000 belongs\n"
      "c.json: hidden_size: \"big\" where a whole number from 1 to 1,000,000,000 belongs\n"
      "c.json: hidden size 1 is not divisible by 8 heads, and there is no head_dim\n"
      "c.json: intermediate_size: -1 where a whole number from 1 to 1,000,000,000 belongs");
}

// SPDX-License-Identifier: Apache-2.0
// DeepSpeed's files hold what DeepSpeed and the Trainer of transformers ask for before they start.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/launch/framework_limits.hpp"
#include "report/launch/launch.hpp"
#include "scenarios/scenario_file.hpp"
#include "tests/catch.hpp"
#include "tests/report/golden.hpp"

namespace launch_deepspeed_spec {

using report::Framework;

namespace {

forecast::Scenario scenario(const std::string& plan, const std::string& training = {},
                            int nodes = 2) {
  return scenarios::read_scenario(
      "model: llama3-8b\ncluster: {node: dgx-h100, nodes: " + std::to_string(nodes) +
          "}\ntraining: {sequence_length: 4096, global_batch: 64" + training +
          "}\nsoftware: deepspeed\nplan: {" + plan + "}\n",
      "s");
}

nlohmann::json config(const std::string& plan, const std::string& training = {}) {
  return nlohmann::json::parse(report::launch(scenario(plan, training), Framework::deepspeed).text);
}

std::string script(int nodes) {
  return report::launch(scenario("zero: 3", "", nodes), Framework::deepspeed).beside.at(1).text;
}

}  // namespace

TEST_CASE("DeepSpeed's tensor ranks shard gradients and states, and no parameters") {
  const auto stage = [](const std::string& plan) {
    return config(plan)["zero_optimization"]["stage"].get<int>();
  };
  CHECK(stage("zero: 3") == 3);
  CHECK(stage("zero: 3, tensor: 2") == 2);
  CHECK(stage("zero: 2, tensor: 2") == 2);
  const auto alone = scenario("zero: 3"), divided = scenario("zero: 3, tensor: 2");
  CHECK(report::beyond(alone, Framework::deepspeed).empty());
  CHECK(report::beyond(divided, Framework::deepspeed) ==
        std::vector<std::string>{"zero 3: DeepSpeed does not shard parameters of tensor ranks; 2 "
                                 "is written instead"});
}

TEST_CASE("a model file for DeepSpeed names a class that looks at the model's window, or none") {
  const auto launched = [](const std::string& model) {
    return report::launch(
        scenarios::read_scenario(
            "model: {layers: 4, hidden: 512, heads: 8, vocab: 32000, ffn: 1408, norm: rmsnorm, "
            "tied_embeddings: false, dropout: 0, attention_window: 64, " +
                model +
                "}\ncluster: {node: dgx-h100, nodes: 1}\ntraining: {sequence_length: 1024, "
                "global_batch: 8}\nplan: {zero: 3}\nsoftware: deepspeed\n",
            "s"),
        Framework::deepspeed);
  };
  const auto windowed = launched("activation: swiglu, position: rope, biases: false");
  const auto file = std::ranges::find_if(windowed.beside, [](const auto& one) {
    return one.text.find("ForCausalLM") != one.text.npos;
  });
  REQUIRE(file != windowed.beside.end());
  const auto config = nlohmann::json::parse(file->text);
  CHECK(config["architectures"][0] == "MistralForCausalLM");
  CHECK(config["sliding_window"] == 64);
  CHECK(config["num_key_value_heads"] == 8);
  // No class of this shape has windows: no file is written that trains another model.
  for (const auto& one : launched("activation: gelu, position: alibi, biases: true").beside) {
    INFO(one.name);
    CHECK(one.text.find("sliding_window") == one.text.npos);
  }
}

TEST_CASE("a search for DeepSpeed has ZeRO-3 without tensor ranks, and ZeRO-2 that gathers late") {
  search::Question asked;
  asked.scenario = scenario("recompute: full");
  asked.space.recompute = false;
  const auto limited = report::within_limits(asked, Framework::deepspeed);
  REQUIRE(limited.others.size() == 2);
  using Stages = std::vector<std::int64_t>;
  const auto& sharded = limited.others[0];
  const auto& late = limited.others[1];
  CHECK(limited.space.zero.listed == Stages{0});
  CHECK(limited.space.tensor.most > 1);
  CHECK(sharded.space.zero.listed == Stages{3});
  CHECK(sharded.space.tensor.most == 1);
  CHECK_FALSE(sharded.scenario.plan.overlap.parameters);
  CHECK(late.space.zero.listed == Stages{1, 2});
  CHECK(late.space.tensor.most > 1);
  CHECK(late.scenario.plan.overlap.parameters == false);
  asked.scenario.plan.overlap.parameters = true;  // the plan's word holds
  CHECK(report::within_limits(asked, Framework::deepspeed).others.size() == 1);
}

TEST_CASE("DeepSpeed shards optimizers that it has not tried where its file allows it") {
  constexpr const char* key = "zero_allow_untested_optimizer";
  for (const auto* optimizer : {"sgd", "lamb", "adafactor"}) {
    INFO(optimizer);
    const auto training = std::string(", optimizer: ") + optimizer;
    CHECK(config("zero: 1", training).value(key, false));
    CHECK(config("zero: 2", training).value(key, false));
    CHECK_FALSE(config("zero: 0", training).contains(key));
  }
  for (const auto* optimizer : {"adam", "adamw", "muon"})
    CHECK_FALSE(config("zero: 2", std::string(", optimizer: ") + optimizer).contains(key));
}

TEST_CASE("DeepSpeed's launcher is given the file that names several nodes") {
  const auto several = script(4);
  CHECK_THAT(several,
             STEPCAST_HOLDS("\ndeepspeed --hostfile hostfile --num_nodes 4 --num_gpus 8 "));
  CHECK_THAT(several, STEPCAST_HOLDS("must name the 4 nodes, one a line: NODE slots=8\n"));
  CHECK_THAT(script(1), STEPCAST_HOLDS("\ndeepspeed --num_nodes 1 --num_gpus 8 "));
  CHECK_FALSE(golden::contains(script(1), "hostfile"));
}

TEST_CASE("run_clm.py has a tokenizer and a text to start with") {
  for (const auto* argument : {"--tokenizer_name ", "--dataset_name ", "--dataset_config_name "})
    CHECK_THAT(script(1), STEPCAST_HOLDS(argument));
}

// The Trainer compares it with micro-batch x accumulation x all GPUs.
TEST_CASE("the whole batch stands in ds_config where every GPU has sequences of its own") {
  CHECK(config("zero: 1")["train_batch_size"] == 64);
  CHECK_FALSE(config("zero: 1, tensor: 2").contains("train_batch_size"));
  CHECK_FALSE(config("zero: 1, context: 2").contains("train_batch_size"));
  CHECK(config("zero: 1, pipeline: 2, tensor: 2").contains("train_batch_size"));
}

TEST_CASE("without ZeRO DeepSpeed sums gradients of 16 and 32 bit as they are, but those of bf16") {
  const auto lost = [](const std::string& plan, const std::string& precision) {
    return report::sentences_of(
        report::launch(scenario(plan, ", precision: " + precision), Framework::deepspeed)
            .not_expressed);
  };
  CHECK(lost("zero: 0, gradient_precision: fp32", "fp16") ==
        std::vector<std::string>{
            "gradient_precision fp32: without ZeRO DeepSpeed sums gradients of fp16 parameters in "
            "fp16, which is written instead"});
  CHECK(lost("zero: 0, gradient_precision: fp32", "bf16").empty());
  CHECK(lost("zero: 0", "fp16").empty());
  CHECK(lost("zero: 1, gradient_precision: fp32, overlap: {parameters: false}", "fp16").empty());
}

}  // namespace launch_deepspeed_spec

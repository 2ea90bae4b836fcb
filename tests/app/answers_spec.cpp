// SPDX-License-Identifier: Apache-2.0
// Answers in the words of those who ask: days and money, a plan where none is given, plans of equal
// speed.
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/app/stepcast.hpp"
#include "tests/catch.hpp"

namespace answers_spec {

namespace {

using nlohmann::json;
using tests::stepcast;

std::string written(const std::string& name, const std::string& text) {
  const auto file = std::filesystem::temp_directory_path() / ("stepcast-answers-" + name + ".yaml");
  std::ofstream(file) << text;
  return file.string();
}

const std::string small = written("small", R"(
model: llama3-8b
cluster: {node: dgx-h100, nodes: 2}
training: {sequence_length: 8192, global_batch: 64, tokens: 2 T tokens}
plan: {tensor: 4, zero: 1, sequence_parallel: true}
)");

// A scenario with an open space of few plans.
const std::string open = written("open", R"(
model: llama3-8b
cluster: {node: dgx-h100, nodes: 2}
training: {sequence_length: 8192, global_batch: 64, tokens: 2e12}
search: {pipeline: 1, context: 1, micro_batch: [1, 2], zero: [0, 1]}
)");

}  // namespace

TEST_CASE("tokens of a training give days, GPU hours, money and energy") {
  const auto run = stepcast({"simulate", small, "--json", "--quiet"});
  REQUIRE(run.status == app::success);
  const auto document = json::parse(run.out);
  CHECK(document["scenario"]["training"]["tokens"] == 2e12);
  const auto& whole = document["run"];
  const double step = document["step"]["time_s"];
  const double days = 2e12 / (64 * 8192) * step / 86400;
  CHECK(whole["tokens"] == 2e12);
  CHECK(whole["steps"] == Approx(2e12 / (64 * 8192)));
  CHECK(whole["days"] == Approx(days));
  CHECK(whole["days_low"] < whole["days"]);
  CHECK(whole["gpu_hours"] == Approx(16 * 24 * days));
  CHECK(whole["with_failures"]["days"] > whole["days"]);
  CHECK(whole["capital"] == Approx(whole["capital_full"].get<double>() * days / (4 * 365)));
  CHECK(whole["energy_wh"] == Approx(whole["power_w"].get<double>() * 24 * days));
  CHECK(whole["price_source"].get<std::string>().starts_with("catalog, dgx-h100"));
  CHECK(whole["missing"].size() == 1);  // the price of energy

  const auto text = stepcast({"simulate", small, "--quiet"}).out;
  CHECK_THAT(text, STEPCAST_HOLDS("  training    2 trillion tokens: ") &&
                       STEPCAST_HOLDS(" steps, ") && STEPCAST_HOLDS("  money       "));
  const auto without = stepcast({"simulate", small, "--quiet", "--set", "training.tokens=1e3 GB"});
  CHECK_THAT(without.err,
             STEPCAST_HOLDS("--set 1: training.tokens: '1e3 GB' is a size, not a number "
                            "of tokens; write e.g. '2 T tokens'"));
}

TEST_CASE("the unknown parts of a training's money and energy are said") {
  const auto run = stepcast({"simulate", small, "--json", "--quiet", "--set",
                             "cluster.node={device: h100-80gb-sxm, nics: {count: 8, bandwidth: 50 "
                             "GB/s}}",
                             "--set", "cluster.fabric=ndr-rail-fat-tree"});
  INFO(run.err);
  const auto whole = json::parse(run.out)["run"];
  CHECK(whole["capital_full"] == nullptr);
  CHECK(whole["energy_wh"] == nullptr);
  CHECK(whole["missing"].size() == 3);
}

TEST_CASE("parameters, in all and active, stand in every report") {
  const auto dense = stepcast({"simulate", small, "--quiet"}).out;
  CHECK_THAT(dense, STEPCAST_HOLDS("  llama3-8b (8.03 billion parameters) on 16 GPUs"));
  const auto moe = stepcast({"simulate", small, "--quiet", "--set", "model=mixtral-8x7b"});
  CHECK_THAT(moe.out,
             STEPCAST_HOLDS("mixtral-8x7b (46.7 billion parameters, 12.9 billion active) on"));
  const auto document =
      json::parse(stepcast({"simulate", small, "--json", "--quiet"}).out)["model"];
  CHECK(document["parameters"] == 8'030'261'248);
  CHECK(document["active_parameters"] == 8'030'261'248);
}

TEST_CASE("a scenario without a plan that does not fit is told which command finds one") {
  const auto file = written("large",
                            "model: llama3-70b\ncluster: {node: dgx-h100, nodes: 2}\n"
                            "training: {sequence_length: 4096, global_batch: 64}\n");
  const auto run = stepcast({"simulate", file, "--json"});
  CHECK(run.status == app::success);
  CHECK_THAT(run.err, STEPCAST_HOLDS("the scenario gives no plan, and what is left out") &&
                          STEPCAST_HOLDS("`stepcast simulate " + file + " --plan auto`"));
}

TEST_CASE("--plan auto searches the keys left open, and simulates the best plan") {
  const auto run = stepcast({"simulate", open, "--plan", "auto", "--json", "--quiet"});
  INFO(run.err);
  REQUIRE(run.status == app::success);
  const auto document = json::parse(run.out);
  CHECK(document["memory"]["fits"] == true);
  CHECK(document["searched"]["gap"] <= 0.05);
  CHECK(document["searched"]["interrupted"] == false);
  const auto text = stepcast({"simulate", open, "--plan", "auto", "--quiet"}).out;
  CHECK_THAT(text, STEPCAST_HOLDS("  plan        found by a search among "));
  const auto found = json::parse(stepcast({"search", open, "--json", "--quiet"}).out);
  CHECK(found["best"]["step_time_s"] <= document["step"]["time_s"]);
  CHECK(found["run"]["days"] > 0);
  const std::vector<std::string> proved{"simulate", open,      "--plan", "auto",
                                        "--json",   "--quiet", "--set",  "search.gap=0"};
  const auto best = json::parse(stepcast(proved).out);
  CHECK(best["searched"]["gap"] == found["proof"]["gap"]);
  CHECK(best["searched"]["gap"] < document["searched"]["gap"]);
  CHECK(best["step"]["time_s"] == found["best"]["step_time_s"]);

  const auto none = stepcast({"simulate", open, "--plan", "auto", "--set", "search.data=3"});
  CHECK(none.status == app::no_answer);
  CHECK_THAT(none.err, STEPCAST_HOLDS("stepcast: no plan is possible: "));
  CHECK(stepcast({"simulate", open, "--plan", "best"}).status == app::wrong_input);
}

TEST_CASE("a search lists plans as frameworks take them, and which of them are equal") {
  const auto run = stepcast({"search", open, "--json", "--quiet"});
  REQUIRE(run.status == app::success);
  const auto document = json::parse(run.out);
  REQUIRE_FALSE(document["configurable"].empty());
  CHECK(document["plans"][0]["equal"] == true);
  double before = 0;
  for (const auto& one : document["configurable"]) {
    CHECK(one["finer_step_time_s"] <= one["step_time_s"]);
    CHECK(one["step_time_s"] >= before);
    CHECK_FALSE(one["plan"].contains("layers"));
    before = one["step_time_s"];
  }
  CHECK(document["configurable"][0]["step_time_s"] >= document["best"]["step_time_s"]);
  const auto text = stepcast({"search", open, "--quiet"}).out;
  CHECK_THAT(text, STEPCAST_HOLDS("Choices of degrees, with stages and recomputation as frameworks "
                                  "take them"));
}

TEST_CASE("words of other frameworks are understood where they are no keys here") {
  const auto said = [](const std::string& set) {
    return stepcast({"simulate", small, "--set", set}).err;
  };
  const std::pair<const char*, const char*> words[] = {
      {"plan.tensor_parallel=2", "did you mean 'tensor'?"},
      {"plan.tp=2", "did you mean 'tensor'?"},
      {"plan.pp=2", "did you mean 'pipeline'?"},
      {"plan.dp=2", "did you mean 'data'?"},
      {"plan.recompute=true", "did you mean 'full'?"},
      {"training.precision=bfloat16", "did you mean 'bf16'?"},
      {"training.sequence_length=8k", "write 8192, or 8000"},
      {"training.seq_len=8192", "sequence_length"},
      {"training.batch_size=8", "global_batch"},
      {"training.gradient_accumulation_steps=8", "did you mean 'global_batch'?"},
      {"cluster.network=ndr-rail-fat-tree", "did you mean 'fabric'?"},
      {"plan.fsdp=3", "did you mean 'zero'?"},
      {"plan.num_microbatches=8", "did you mean 'micro_batch'?"},
      {"plan.gradient_accumulation_steps=8", "did you mean 'micro_batch'?"},
      {"plan.ulysses=2", "did you mean 'context_method'?"},
      {"training.steps=100", "did you mean 'tokens'?"},
      {"cluster.gpu_type=h100", "did you mean 'node'?"},
      {"cluster.device=h100", "did you mean 'node'?"},
      {"cluster.node=H100", "did you mean 'dgx-h100'?"},
      {"cluster.node=a100", "did you mean 'dgx-a100-40gb' or 'dgx-a100-80gb'?"},
      {"cluster.fabric=NDR", "did you mean 'ndr-rail-fat-tree'?"},
      {"cluster.fabric=ib",
       "did you mean 'ndr-rail-fat-tree', 'hdr-rail-fat-tree' or 'xdr-rail-fat-tree'?"},
      {"cluster.fabric=infiniband", "did you mean 'ndr-rail-fat-tree', 'hdr-rail-fat-tree'"},
      {"software=megatron", "did you mean 'megatron-core'?"},
      {"software={attention: flash_attention_2}", "did you mean 'flash'?"},
      {"model={base: llama3-8b, hidden_size: 4096}", "did you mean 'hidden'?"},
      {"model={base: llama3-8b, num_layers: 4}", "did you mean 'layers'?"}};
  for (const auto& [set, expected] : words) {
    CAPTURE(set);
    CHECK_THAT(said(set), STEPCAST_HOLDS(expected));
  }
}

TEST_CASE("an unknown word for a degree is the only complaint about it") {
  const auto file = written("parallel",
                            "model: llama3-8b\ncluster: {node: dgx-h100, nodes: 2}\n"
                            "training: {sequence_length: 8192, global_batch: 64}\n"
                            "plan: {tensor_parallel: 4, pipeline: 3}\n");
  const auto said = stepcast({"simulate", file}).err;
  CHECK_THAT(said, STEPCAST_HOLDS("did you mean 'tensor'?") && !STEPCAST_HOLDS("tensor 1"));
}

}  // namespace answers_spec

// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "scenarios/scenario_file.hpp"
#include "tests/catch.hpp"
#include "tests/scenarios/jobs.hpp"

namespace nanotron_job_spec {

using tests::at;

namespace {

std::string with(const std::string& more) {
  return "model:\n  dtype: bfloat16\n  model_config: {num_hidden_layers: 8, hidden_size: "
         "512, num_attention_heads: 8, num_key_value_heads: null, intermediate_size: "
         "1024, vocab_size: 1000, max_position_embeddings: 256}\n"
         "tokens: {micro_batch_size: 2, batch_accumulation_per_replica: 3, "
         "sequence_length: 128}\n" +
         more;
}

std::string value(const std::string& more, const std::string& path) {
  return at(tests::job(with(more)).document, path);
}

const std::string degrees = "parallelism: {dp: 4, tp: 2, pp: 2, tp_mode: REDUCE_SCATTER}\n";

}  // namespace

TEST_CASE("every nanotron job of the tests is a scenario or is refused with a place") {
  tests::check_jobs("nanotron", [](const scenarios::Error& wrong, const auto&) {
    CHECK(wrong.complaints.front().text.find("state-space layers") != std::string::npos);
  });
}

TEST_CASE("degrees of a nanotron job say on how many GPUs it runs, and its batch") {
  CHECK(value(degrees, "cluster.gpus") == "16");
  CHECK(value(degrees, "training.global_batch") == "24");  // 2 x 3 x 4
  CHECK(value(degrees, "plan.sequence_parallel") == "true");
  CHECK(value(degrees, "plan.schedule") == "gpipe");  // where no engine is named
}

TEST_CASE("degrees of a nanotron job that do not make its GPUs are refused, or leave replicas") {
  CHECK(at(tests::job(with(degrees), {"WORLD_SIZE=16"}).document, "plan.data") == "4");
  CHECK_THAT(
      tests::refusal([] { tests::job(with(degrees), {"WORLD_SIZE=8"}); }),
      STEPCAST_HOLDS("parallelism.dp 4: all degrees make 16 ranks, which are not the 8 GPUs"));
  const auto over = [](const std::string& tensor) {
    const std::vector<std::string> sets{"cluster.node=dgx-h100", "plan.tensor=" + tensor};
    return scenarios::load_placed_scenario(scenarios::Source("job", with(degrees)), sets,
                                           {{}, {"WORLD_SIZE=16"}})
        .value;
  };
  CHECK(over("4").plan.data == 2);
  CHECK(over("4").cluster.gpus == 16);
}

TEST_CASE("sizes, sharding and buckets of a nanotron job are a scenario's") {
  CHECK(value("", "model.layers") == "8");
  CHECK(value("", "model.kv_heads").empty());  // null: as many as heads
  CHECK(value("optimizer: {zero_stage: 1, accumulate_grad_in_fp32: true}\n", "plan.zero") == "1");
  CHECK(value("optimizer: {zero_stage: 1, accumulate_grad_in_fp32: true}\n",
              "plan.gradient_precision") == "fp32");
  CHECK(value("parallelism: {dp: 1, tp: 1, pp: 1, recompute_layer: true}\n", "plan.recompute") ==
        "full");
}

TEST_CASE("FlashAttention in nanotron's file is what is forecast") {
  const auto effect = [](const std::string& kernel) {
    const auto job =
        tests::job(degrees + "model:\n  model_config: {_attn_implementation: " + kernel +
                   "}\ntokens: {micro_batch_size: 2}\n");
    return tests::effect_of(job, "model.model_config._attn_implementation " + kernel);
  };
  CHECK(effect("flash_attention_2") == scenarios::Effect::none);
  CHECK(effect("llama3_ring_attention") == scenarios::Effect::not_modelled);
}

TEST_CASE("nanotron has no degree of zero") {
  const auto text = tests::refusal([] { value("parallelism: {dp: 4, tp: 0, pp: 2}\n", "plan"); });
  CHECK(text.find("parallelism.tp 0: a degree is at least 1") != std::string::npos);
}

TEST_CASE(
    "true, yes and on switch a key of nanotron on in any case, and false, no and off do not") {
  const auto recompute = [](const std::string& word) {
    return value("parallelism: {recompute_layer: " + word + "}\n", "plan.recompute");
  };
  for (const auto* word : {"true", "True", "TRUE", "yes", "on"}) CHECK(recompute(word) == "full");
  for (const auto* word : {"false", "False", "no", "off"}) CHECK(recompute(word).empty());
  CHECK(value("optimizer: {accumulate_grad_in_fp32: True}\n", "plan.gradient_precision") == "fp32");
  const auto gathers = [](const std::string& word) {
    return value(
        "parallelism: {dp: 4, tp: 2, pp: 2, tp_linear_async_communication: True, "
        "tp_recompute_allgather: " +
            word + "}\n",
        "software.keep_gathered_inputs");
  };
  CHECK(gathers("True") == "false");
  CHECK(gathers("False").empty());
  CHECK(tests::refusal([&] { recompute("maybe"); }).find("expected true or false") !=
        std::string::npos);
}

}  // namespace nanotron_job_spec

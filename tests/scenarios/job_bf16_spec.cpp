// SPDX-License-Identifier: Apache-2.0
// Linear layers that jobs keep in bf16 beside narrow ones.
#include <string>

#include "tests/catch.hpp"
#include "tests/scenarios/jobs.hpp"

namespace job_bf16_spec {

using scenarios::Effect;
using tests::at;
using tests::effect_of;

namespace {

const std::string megatron =
    "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 4 --hidden-size 64 "
    "--num-attention-heads 4 --seq-length 64 --vocab-size 9 --max-position-embeddings 64 "
    "--micro-batch-size 1 --global-batch-size 8 --bf16 ";

scenarios::JobScenario narrow(const std::string& arguments) {
  return tests::job(megatron + "--fp8-format hybrid --fp8-recipe tensorwise " + arguments);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// "1 2", the first and the last layers that stay in bf16; "none" if the job says nothing of them.
std::string ends(const scenarios::JobScenario& job) {
  const auto* training = job.document.find("training");
  const auto* kept = training->find("in_bf16");
  if (kept == nullptr ||
      (kept->find("first_layers") == nullptr && kept->find("last_layers") == nullptr))
    return "none";
  const auto number = [&](const std::string& key) {
    return kept->find(key) == nullptr ? "0" : at(job.document, "training.in_bf16." + key);
  };
  return number("first_layers") + " " + number("last_layers");
}

scenarios::JobScenario bridge(const std::string& precision, const std::string& overrides = {}) {
  return tests::job(
      "torchrun --nproc_per_node 8 run_recipe.py --recipe llama3_8b_pretrain_config "
      "train.global_batch_size=128 train.micro_batch_size=1 model.seq_length=8192 "
      "mixed_precision=" +
      precision + " " + overrides + "\n");
}

scenarios::JobScenario titan(const std::string& model, const std::string& tables) {
  return tests::job("[model]\n" + model + "[training]\nseq_len = 64\n" + tables, {"WORLD_SIZE=8"});
}

const std::string llama = "name = \"llama3\"\nflavor = \"8B\"\n",
                  qwen = "name = \"qwen3\"\nflavor = \"30B-A3B\"\n",
                  float8 = "converters = [\"quantize.linear.float8\"]\n";

std::string modules(const scenarios::JobScenario& job) {
  const auto* kept = job.document.find("training")->find("in_bf16");
  return kept == nullptr || kept->find("modules") == nullptr
             ? "none"
             : at(job.document, "training.in_bf16.modules");
}

}  // namespace

TEST_CASE("Megatron-LM keeps a layer at each end in bf16, or as many as it is told") {
  CHECK(ends(narrow("")) == "none");
  CHECK(ends(narrow("--first-last-layers-bf16")) == "1 1");
  CHECK(ends(narrow("--first-last-layers-bf16 --num-layers-at-start-in-bf16 0 "
                    "--num-layers-at-end-in-bf16 3")) == "0 3");
  CHECK(ends(narrow("--first-last-layers-bf16 --num-layers-at-start-in-bf16 3 "
                    "--num-layers-at-end-in-bf16 3")) == "3 1");  // of four layers
  const auto unused = narrow("--num-layers-at-end-in-bf16 3");
  CHECK(ends(unused) == "none");
  CHECK(effect_of(unused, "--num-layers-at-end-in-bf16 3") == Effect::none);
  const auto wide = tests::job(megatron + "--first-last-layers-bf16");
  CHECK(effect_of(wide, "--first-last-layers-bf16") == Effect::none);
}

TEST_CASE("Megatron-Core refuses layers in bf16 beside delayed scales") {
  const std::string refused =
      "Megatron-Core refuses it with the delayed recipe of fp8; take another, or leave this out";
  CHECK(contains(
      tests::refusal([] { tests::job(megatron + "--fp8-format hybrid --first-last-layers-bf16"); }),
      "--first-last-layers-bf16: " + refused));
  CHECK(contains(tests::refusal([] {
                   bridge("bf16_with_fp8_delayed_scaling_mixed",
                          "mixed_precision.first_last_layers_bf16=true");
                 }),
                 refused));
}

TEST_CASE("gradients of weights stay in bf16 where a job of delayed scales wants them so") {
  const auto job = tests::job(megatron + "--fp8-format hybrid --no-fp8-wgrad");
  CHECK(at(job.document, "training.in_bf16.gradients") == "weights");
  CHECK(effect_of(job, "--no-fp8-wgrad") == Effect::read);
  const auto other = narrow("--no-fp8-wgrad");
  CHECK(effect_of(other, "--no-fp8-wgrad") == Effect::none);
  CHECK(other.document.find("training")->find("in_bf16") == nullptr);
}

TEST_CASE("recipes of current scaling keep layers in bf16, performance scripts keep none") {
  const std::string current = "bf16_with_fp8_current_scaling_mixed";
  CHECK(ends(bridge(current)) == "1 1");
  CHECK(ends(bridge("nemotron_h_" + current)) == "2 2");
  CHECK(ends(bridge("bf16_with_mxfp8_mixed")) == "none");
  CHECK(ends(bridge("bf16_with_fp8_subchannel_scaling_mixed")) == "none");
  CHECK(ends(bridge(current, "mixed_precision.first_last_layers_bf16=false")) == "none");
  CHECK(ends(bridge(current, "mixed_precision.num_layers_at_end_in_bf16=4")) == "1 4");
  const std::string script =
      "python setup_experiment.py -m llama3 -s 8b -ng 8 -mb 1 -gb 8 -c fp8_cs ";
  const auto plain = tests::job(script + "\n");
  CHECK(ends(plain) == "none");
  for (const auto& one : plain.account.arguments) CHECK_FALSE(contains(one.text, "first_last"));
  CHECK(ends(tests::job(script + "mixed_precision.first_last_layers_bf16=true\n")) == "1 1");
}

TEST_CASE("torchtitan's filters name what stays in bf16; the head and routers always do") {
  const auto filtered = [&](const std::string& filters) {
    return titan(llama + float8, "[quantize.linear.float8]\nfilter_fqns = [" + filters + "]\n");
  };
  CHECK(modules(filtered("\"output\", \"router.gate\"")) == "none");
  CHECK(modules(filtered("\"output\", \"attention\"")) == "attention");
  CHECK(modules(filtered("\"feed_forward\", \"attention\"")) == "attention mlp");
  CHECK(ends(filtered("\"layers.0.\", \"layers.1.\", \"layers.31.\"")) == "2 1");
  CHECK(modules(filtered("\"\"")) == "attention mlp");  // every name holds it
  CHECK(ends(filtered("\"layers.00.\"")) == "none");
  CHECK(ends(filtered("\"layers.31\"")) == "0 1");
  const auto effect = [&](const std::string& filter) {
    return effect_of(filtered('"' + filter + '"'), "quantize.linear.float8.filter_fqns " + filter);
  };
  CHECK(effect("out") == Effect::none);
  CHECK(effect("query") == Effect::not_modelled);  // perhaps of a model that is called otherwise
  const auto why = [&](const std::string& filters) {
    const auto job = filtered(filters);
    const auto judged = std::ranges::find(job.account.arguments, Effect::not_modelled,
                                          &scenarios::JudgedArgument::effect);
    REQUIRE(judged != job.account.arguments.end());
    return judged->why;
  };
  CHECK(why("\"attention.wk\", \"layers.7.\"") ==
        "linear layers whose names hold \"attention.wk\", \"layers.7.\" stay in bf16; the forecast "
        "has them in 8 bit");
  CHECK(why("\"output\", \"auto_filter_small_kn\"") ==
        "auto_filter_small_kn leaves linear layers with few rows or columns in bf16; the forecast "
        "has them in 8 bit");
}

TEST_CASE("torchtitan's converters of linear layers see no routed experts") {
  CHECK(modules(titan(qwen + float8, "")) == "experts");
  CHECK(modules(titan(llama + float8, "")) == "none");
  const std::string both = "converters = [\"quantize.linear.mx\", \"quantize.grouped_mm.mx\"]\n",
                    grouped = "converters = [\"quantize.grouped_mm.mx\"]\n",
                    experts = "[quantize.grouped_mm.mx]\nfqns = [\"experts\"]\n";
  CHECK(modules(titan(qwen + both, experts)) == "none");
  CHECK(modules(titan(qwen + both, "")) == "experts");  // the converter is told of none
  const auto alone = titan(qwen + grouped, experts);
  CHECK(modules(alone) == "attention");  // all that Qwen3 has besides experts
  CHECK(at(alone.document, "training.precision") == "mxfp8");
  CHECK(at(titan(qwen + grouped, "").document, "training.precision") == "bf16");
}

TEST_CASE("torchtitan's recipe gw_hp has the gradients of weights in bf16") {
  const auto job =
      titan(llama + float8, "[quantize.linear.float8]\nrecipe_name = \"rowwise_with_gw_hp\"\n");
  CHECK(at(job.document, "training.fp8_recipe") == "rowwise");
  CHECK(at(job.document, "training.in_bf16.gradients") == "weights");
}

}  // namespace job_bf16_spec

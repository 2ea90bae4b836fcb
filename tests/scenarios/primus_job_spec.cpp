// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <optional>
#include <string>

#include "tests/catch.hpp"
#include "tests/scenarios/jobs.hpp"

namespace primus_job_spec {

using tests::at;

namespace {

std::string experiment(const std::string& model, const std::string& overrides,
                       const std::string& framework = "megatron") {
  return "exp_name: e\nmodules:\n  pre_trainer:\n    framework: " + framework +
         "\n    config: pre_trainer.yaml\n    model: " + model + "\n    overrides:\n" + overrides;
}

std::string value(const std::string& text, const std::string& path) {
  return at(tests::job(text, {"WORLD_SIZE=64"}).document, path);
}

}  // namespace

TEST_CASE("every Primus job of the tests is a scenario or is refused with a place") {
  tests::check_jobs("primus", [](const scenarios::Error& wrong, const auto&) {
    for (const auto& one : wrong.complaints) CHECK(one.place.find(".yaml:") != std::string::npos);
  });
}

TEST_CASE("a Primus job stands on its module and its model, and overrides both") {
  const auto text =
      experiment("llama3_8B.yaml", "      micro_batch_size: 4\n      seq_length: 8192\n");
  CHECK(value(text, "model.layers") == "32");
  CHECK(value(text, "model.norm") == "rmsnorm");
  CHECK(value(text, "model.vocab") == "128256");        // that of the tokenizer's model
  CHECK(value(text, "plan.zero") == "1");               // pre_trainer.yaml
  CHECK(value(text, "training.global_batch") == "16");  // pre_trainer.yaml
  CHECK(value(text, "plan.micro_batch") == "4");
  CHECK(value(experiment("${PRIMUS_MODEL:llama2_7B}.yaml", "      seq_length: 1\n"), "model.ffn") ==
        "11008");
}

TEST_CASE("null in an override puts an argument back to its default") {
  CHECK(value(experiment("llama3_8B.yaml", "      ffn_hidden_size: null\n"), "model.ffn") ==
        "10880");  // 8/3 x 4096 = 10922.7, down to a multiple of 64
}

TEST_CASE("files that a Primus job names stand in configs, and the files that these extend first") {
  const std::map<std::string, std::string> files{
      {"../configs/modules/megatron/pre_trainer.yaml", "bf16: true\nglobal_batch_size: 8\n"},
      {"../configs/models/megatron/mine.yaml",
       "extends: [base/small.yaml]\nhidden_size: 128\nvocab_size: ${VOCAB:1000}\n"},
      {"../configs/models/megatron/base/small.yaml",
       "extends:\n  - ../smallest.yaml\nnum_layers: 4\nhidden_size: 64\n"},
      {"../configs/models/megatron/smallest.yaml", "num_layers: 1\nnum_attention_heads: 2\n"}};
  const auto read = [&](const std::string& name) -> std::optional<std::string> {
    const auto found = files.find(name);
    return found == files.end() ? std::nullopt : std::optional(found->second);
  };
  const auto text = experiment("mine.yaml", "      seq_length: 128\n      micro_batch_size: 1\n");
  const auto job = scenarios::read_job(text, "job", {}, read);
  REQUIRE(job);
  CHECK(at(job->document, "model.layers") == "4");
  CHECK(at(job->document, "model.hidden") == "128");
  CHECK(at(job->document, "model.heads") == "2");
  CHECK(at(job->document, "model.vocab") == "1000");
  CHECK(at(job->document, "training.global_batch") == "8");
  CHECK(
      tests::refusal([&] {
        scenarios::read_job(experiment("other.yaml", "      a: 1\n"), "job", {}, read);
      }) ==
      "job:6:12: primus/configs/models/megatron/other.yaml stands neither beside the job nor above "
      "it; put the job into a copy of Primus, or the folder configs beside it");
}

TEST_CASE("schedules that Primus adds to Megatron-LM are a scenario's") {
  const std::string four = "      pipeline_model_parallel_size: 4\n";
  const auto schedule = [&](const std::string& more) {
    return value(experiment("llama3_8B.yaml", four + more), "plan.schedule");
  };
  CHECK(schedule("") == "1f1b");
  CHECK(schedule("      patch_zero_bubble: true\n") == "zb-h1");
  CHECK(schedule("      patch_zero_bubble: true\n      zero_bubble_v_schedule: true\n"
                 "      zero_bubble_v_schedule_mem_setup: zb\n") == "zb-v");
  CHECK(schedule("      patch_primus_pipeline: true\n      pp_algorithm: zero-bubble\n") ==
        "zb-h1");
  CHECK(value(experiment("llama3_8B.yaml",
                         four + "      decoder_pipeline_manual_split_list: [7, 8, 9, 8]\n"),
              "plan.layers_per_stage") == "7 8 9 8");
}

TEST_CASE("the first layers of virtual stages are recomputed stage by stage") {
  const auto text = experiment("llama3_8B.yaml",
                               "      pipeline_model_parallel_size: 2\n"
                               "      num_virtual_stages_per_pipeline_rank: 2\n"
                               "      recompute_granularity: full\n      recompute_method: block\n"
                               "      recompute_num_layers: 3\n");
  const auto job = tests::job(text);
  const auto* stages = job.document.find("plan")->find("recompute");
  REQUIRE(stages->items.size() == 4);
  CHECK(stages->items[3].find("full_layers")->text == "3");
  CHECK(value(experiment("llama3_8B.yaml",
                         "      recompute_granularity: full\n      recompute_method: block\n"
                         "      recompute_num_layers: 0\n"),
              "plan.recompute") == "none");
}

TEST_CASE(
    "a script gives Primus's own its variables in lines above, or its command Slurm's nodes") {
  const auto gpus = [](const std::string& text) {
    const auto job =
        tests::beside(text, {{"e.yaml", experiment("llama3_8B.yaml", "      seq_length: 128\n")}});
    return at(job.document, "cluster.gpus") + " " + at(job.document, "cluster.nodes");
  };
  const std::string lines = "export NNODES=4\nexport GPUS_PER_NODE=8\n";
  CHECK(gpus(lines + "EXP=e.yaml bash ./examples/run_pretrain.sh\n") == "32 ");
  CHECK(gpus(lines + "export EXP=e.yaml\nbash ./examples/run_pretrain.sh\n") == "32 ");
  CHECK(gpus(lines + "NNODES=2 EXP=e.yaml ./examples/run_pretrain.sh\n") == "16 ");
  CHECK(gpus("primus-cli slurm srun -N 2 -- train pretrain --config e.yaml\n") == " 2");
  CHECK(gpus("primus-cli slurm -N 3 -- train pretrain --config e.yaml\n") == " 3");
}

TEST_CASE("a Primus job of torchtitan takes Primus's defaults") {
  const auto text =
      experiment("llama3.1_8B.yaml", "      training: {seq_len: 4096}\n", "torchtitan");
  CHECK(value(text, "model.hidden") == "4096");
  CHECK(value(text, "plan.recompute") == "none");  // torchtitan's own is every second layer
  CHECK(value(text, "software.compile") == "true");
}

}  // namespace primus_job_spec

// SPDX-License-Identifier: Apache-2.0
// Jobs of training frameworks given to commands in place of a scenario.
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/app/stepcast.hpp"
#include "tests/catch.hpp"

namespace jobs_spec {

namespace {

namespace fs = std::filesystem;

const std::string folder = std::string(STEPCAST_SOURCE_DIR) + "/tests/scenarios/jobs/";
const std::string small = folder +
                          "megatron_functional_tests/"
                          "gpt__gpt3_mcore_te_tp1_pp4_vp1_uneven_pipeline.yaml";

tests::Outcome simulate(const std::string& file, std::vector<std::string> more = {}) {
  more.insert(more.begin(), {"simulate", file});
  return tests::stepcast(more);
}

std::string written(const std::string& name, const std::string& text) {
  const auto file = fs::temp_directory_path() / name;
  std::ofstream(file) << text;
  return file.string();
}

nlohmann::json scenario_of(const tests::Outcome& outcome) {
  REQUIRE(outcome.status == 0);
  return nlohmann::json::parse(outcome.out)["scenario"];
}

}  // namespace

TEST_CASE("a job is simulated, and its arguments are counted") {
  const auto outcome =
      simulate(small, {"--set", "cluster.node=dgx-a100-80gb", "--env", "WORLD_SIZE=8"});
  CHECK(outcome.status == 0);
  CHECK(outcome.out.find("job           megatron @d98e8a64dd: ") != std::string::npos);
  CHECK(outcome.out.find(" 0 unknown\n") != std::string::npos);
  CHECK(outcome.out.find("not modelled: --deterministic-mode: ") != std::string::npos);
}

TEST_CASE("a variable that no file of a job has is counted as unknown") {
  const auto outcome = simulate(small, {"--set", "cluster.node=dgx-a100-80gb", "--env",
                                        "WORLD_SIZE=8", "--env", "TENSOR_SIZE=2"});
  CHECK(outcome.status == 0);
  CHECK(outcome.out.find(" 1 unknown\n              unknown: --env TENSOR_SIZE=2 (the command "
                         "line): no file of the job has a variable of this name\n") !=
        std::string::npos);
  const auto script = written("stepcast-env.sh",
                              "torchrun pretrain_gpt.py --num-layers 12 --hidden-size 512 "
                              "--num-attention-heads $HEADS --seq-length 1024 --bf16 "
                              "--global-batch-size 8 --micro-batch-size 1 --vocab-size 32000\n");
  const auto used = simulate(script, {"--set", "cluster.node=dgx-a100-80gb", "--env",
                                      "WORLD_SIZE=8", "--env", "HEADS=8", "--env", "1=x"});
  CHECK(used.out.find(" 0 unknown\n") != std::string::npos);
  // One scenario names the job, another names none.
  const auto scenario = written("stepcast-env.yaml",
                                "job: stepcast-env.sh\ncluster: "
                                "{node: dgx-a100-80gb, gpus: 8}\n");
  CHECK(simulate(scenario, {"--env", "HEADS=8"}).status == 0);
  CHECK(simulate("scenarios/examples/dialogpt-large-8gpu.yaml",
                 {"--against", scenario, "--env", "HEADS=8"})
            .status == 0);
}

TEST_CASE("keys that a job leaves out are asked for at once") {
  const auto outcome = simulate(small);
  CHECK(outcome.status == 2);
  CHECK(outcome.err.find("cluster.node: a job does not say which machine it runs on; add --set "
                         "cluster.node=NAME") != std::string::npos);
  CHECK(outcome.err.find("cluster.nodes: the number of GPUs stands in no file that was read") !=
        std::string::npos);
}

TEST_CASE("--json lists the effect of each argument") {
  const auto outcome = simulate(
      small, {"--set", "cluster.node=dgx-a100-80gb", "--set", "cluster.nodes=1", "--json"});
  const auto job = nlohmann::json::parse(outcome.out)["job"];
  CHECK(job["framework"] == "megatron");
  const auto& first = job["arguments"][0];
  CHECK(first["argument"] == "--num-layers 12");
  CHECK(first["class"] == "read");
  CHECK(first["keys"] == std::vector<std::string>{"model.layers"});
}

TEST_CASE("what the file of a model has and a forecast lacks is a warning of every report on it") {
  const auto config =
      written("stepcast-seeing.json",
              R"({"model_type": "llava_llama", "num_hidden_layers": 4, "hidden_size": 1024,
 "num_attention_heads": 8, "vocab_size": 32000, "intermediate_size": 2816,
 "max_position_embeddings": 4096, "hidden_act": "mish", "mm_vision_tower": "clip"})");
  const auto scenario = written("stepcast-seen.yaml",
                                "model: {huggingface: stepcast-seeing.json}\n"
                                "cluster: {node: dgx-h100, nodes: 1}\n"
                                "training: {sequence_length: 2048, global_batch: 8}\n"
                                "plan: {micro_batch: 1}\n");
  const std::string part =
      "stepcast-seeing.json: only the part that reads and writes text; what sees or hears is left "
      "out";
  const auto text = simulate(scenario);
  CHECK(text.status == 0);
  CHECK(text.out.find("stepcast-seeing.json: only the part that reads") != std::string::npos);
  CHECK(text.out.find("approximated: its activation, mish") != std::string::npos);
  const auto json = simulate(scenario, {"--json"});
  CHECK(json.err.find("warning: " + part) != std::string::npos);
  const auto notes = nlohmann::json::parse(json.out)["model_notes"];
  REQUIRE(notes.size() == 2);
  CHECK(notes[1] == part);
  const auto job = simulate(small, {"--set", "cluster.node=dgx-h100", "--set", "cluster.nodes=1",
                                    "--set", "model.huggingface=" + config, "--json"});
  CHECK(job.err.find(part.substr(part.find(": "))) != std::string::npos);
  CHECK(tests::stepcast({"search", scenario, "--quiet", "--json"}).err.empty());
  CHECK(tests::stepcast({"search", scenario}).err.find(part) != std::string::npos);
  CHECK(simulate(scenario, {"--against", scenario}).err.find(part) != std::string::npos);
}

TEST_CASE("--set holds before a scenario, a scenario before its job, a job before defaults") {
  const auto scenario = written("stepcast-job.yaml", "job: {file: '" + small +
                                                         "', env: {WORLD_SIZE: 8}}\n"
                                                         "cluster: {node: dgx-a100-80gb}\n"
                                                         "plan: {micro_batch: 2, zero: 1}\n");
  const auto made = scenario_of(simulate(scenario, {"--json", "--set", "plan.zero=0"}));
  CHECK(made["plan"]["zero"] == 0);
  CHECK(made["plan"]["micro_batch"] == 2);
  CHECK(made["training"]["global_batch"] == 32);
  CHECK(made["model"]["ffn"] == 2048);
  CHECK(made["cluster"]["gpus"] == 8);
}

TEST_CASE("an imported job is a scenario that forecasts the same") {
  const std::vector<std::string> sets{"--set", "cluster.node=dgx-a100-80gb", "--set",
                                      "cluster.nodes=1"};
  auto import = sets;
  import.insert(import.begin(), {"import", "megatron", small, "--quiet"});
  const auto imported = tests::stepcast(import);
  REQUIRE(imported.status == 0);
  CHECK(imported.out.find("# --num-layers 12\n") != std::string::npos);
  auto direct = sets;
  direct.emplace_back("--json");
  auto once = nlohmann::json::parse(simulate(small, direct).out),
       again = nlohmann::json::parse(
           simulate(written("stepcast-imported.yaml", imported.out), {"--json"}).out);
  CHECK(once["step"] == again["step"]);
  CHECK(once["memory"] == again["memory"]);
}

TEST_CASE("a job that cannot be forecast is refused with the reason") {
  const auto outcome =
      simulate(folder + "megatron_scripts/nvidia__t5__train_t5_220m_distributed.txt");
  CHECK(outcome.status == 2);
  CHECK(outcome.err.find(":13:1: --decoder-num-layers 12: encoder and decoder are two stacks; "
                         "scenarios have one") != std::string::npos);
}

TEST_CASE("an unknown framework is refused with those that are known") {
  const auto outcome = simulate(small, {"--as", "megatrom"});
  CHECK(outcome.status == 2);
  CHECK(outcome.err ==
        "--as: 'megatrom' is no framework whose jobs are read; expected megatron, "
        "torchtitan, deepspeed, gpt-neox, nanotron, megatron-bridge, nemo, nemo2, automodel, "
        "primus, trainer, "
        "accelerate, llamafactory, axolotl, megatron-swift; did you mean 'megatron'?\n");
}

TEST_CASE("jobs of torchtitan and DeepSpeed are simulated") {
  CHECK(simulate(folder + "torchtitan/v0.2.2__llama3__llama3_8b.toml",
                 {"--set", "cluster.node=dgx-h100", "--env", "WORLD_SIZE=16"})
            .status == 0);
  CHECK(simulate(folder + "deepspeed/deepspeed__model__Megatron_GPT2__ds_config_func_bs4_zero2_"
                          "offload.json",
                 {"--set", "cluster.node=dgx-h100", "--env", "WORLD_SIZE=4", "--set",
                  "model=gpt2-xl", "--set", "training.sequence_length=1024"})
            .status == 0);
}

TEST_CASE("a job of LLaMA-Factory is simulated with DeepSpeed's file that it names") {
  std::filesystem::create_directories(std::filesystem::temp_directory_path() / "stepcast-ds");
  written("stepcast-ds/z3.json",
          R"({"train_micro_batch_size_per_gpu": "auto", "bf16": {"enabled": "auto"},
              "zero_optimization": {"stage": 3, "reduce_bucket_size": "auto"}})");
  const auto job = written("stepcast-factory.yaml",
                           "model_name_or_path: Qwen/Qwen3-4B\nstage: sft\nfinetuning_type: full\n"
                           "cutoff_len: 2048\nbf16: true\nper_device_train_batch_size: 2\n"
                           "deepspeed: stepcast-ds/z3.json\n");
  const auto made = scenario_of(
      simulate(job, {"--json", "--set", "cluster.node=dgx-h100", "--env", "WORLD_SIZE=8"}));
  CHECK(made["plan"]["zero"] == 3);
  CHECK(made["plan"]["bucket"] == 2 * 2560 * 2560);  // hidden x hidden, of 2 bytes
  CHECK(made["training"]["global_batch"] == 16);
}

}  // namespace jobs_spec

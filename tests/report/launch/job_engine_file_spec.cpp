// SPDX-License-Identifier: Apache-2.0
// Scripts of Megatron-DeepSpeed change together with the file of DeepSpeed that they name.
#include "report/launch/job_change.hpp"
#include "scenarios/scenario_file.hpp"
#include "tests/catch.hpp"

namespace job_engine_file_spec {

namespace {

using Sentences = std::vector<std::string>;

// A model of 8 layers on one node of eight GPUs, 32 sequences a step.
const std::string sizes =
    "--num-layers 8 --hidden-size 1024 --num-attention-heads 16 --seq-length 2048 "
    "--max-position-embeddings 2048 --tokenizer-type NullTokenizer --vocab-size 32000";

std::string script(const std::string& before, const std::string& micro, const std::string& path) {
  return before + "deepspeed --num_gpus 8 pretrain_gpt.py " + sizes + " \\\n  --micro-batch-size " +
         micro +
         " \\\n  --global-batch-size 32 --fp16 --no-pipeline-parallel \\\n  --deepspeed "
         "--deepspeed_config " +
         path + " --zero-stage 1\n";
}

std::string written(const std::string& micro) {
  return "cat <<EOT > $CONFIG\n{\n  \"train_batch_size\" : 32,\n  "
         "\"train_micro_batch_size_per_gpu\": " +
         micro +
         ",\n  \"zero_optimization\": {\"stage\": 1},\n  \"fp16\": {\"enabled\": true}\n}\nEOT\n";
}

report::ChangedJob with(const std::string& text, const std::string& set,
                        const scenarios::JobFiles& files = {}) {
  const scenarios::JobHints hints{"megatron", {}};
  const std::vector<std::string> sets{"cluster.node=dgx-h100", "plan.zero=1", set};
  const auto to =
      scenarios::load_placed_scenario(scenarios::Source("train.sh", text), sets, hints).value;
  auto changed = report::changed_job(text, "train.sh", hints, to, files);
  REQUIRE(changed);
  INFO(changed->diff);
  CHECK(changed->left == Sentences{});
  return *changed;
}

constexpr const char* two = "plan.micro_batch=2";

}  // namespace

TEST_CASE("a variable of a script and its DeepSpeed file changes where nothing else uses it") {
  const auto job = [&](const std::string& number) {
    return script("CONFIG=./ds.json\nMBS=" + number + "  # of a GPU\n" + written("$MBS"), "${MBS}",
                  "$CONFIG");
  };
  const auto changed = with(job("4"), two);
  CHECK(changed.text == job("2"));
  CHECK(changed.beside == Sentences{});
}

TEST_CASE("a script and the DeepSpeed file that it writes change in both places") {
  for (const auto& use : {"SAVE=run-mbs$MBS\n", "SAMPLES=$((MBS * 100))\n"}) {
    const auto job = [&](const std::string& micro) {
      return script(std::string("CONFIG=./ds.json\nMBS=4\n") + use + written(micro), micro,
                    "$CONFIG");
    };
    const auto changed = with(job("$MBS"), two);
    CHECK(changed.text == job("2"));
    CHECK(changed.beside == Sentences{});
  }
  const auto numbers = with(script("CONFIG=ds.json\n" + written("4"), "4", "$CONFIG"), two);
  CHECK(numbers.text == script("CONFIG=ds.json\n" + written("2"), "2", "$CONFIG"));
}

TEST_CASE("a stage of ZeRO changes in a script and the DeepSpeed file that it writes") {
  const auto changed =
      with(script("CONFIG=ds.json\n" + written("4"), "4", "$CONFIG"), "plan.zero=2");
  CHECK_THAT(changed.text, STEPCAST_HOLDS("--zero-stage 2"));
  CHECK_THAT(changed.text, STEPCAST_HOLDS("{\"stage\": 2},"));
  CHECK(changed.beside == Sentences{});
}

TEST_CASE("a DeepSpeed file beside a script that still says otherwise is told") {
  const scenarios::JobFiles files = [](const std::string& path) -> std::optional<std::string> {
    if (path != "ds.json") return {};
    return "{\"train_batch_size\": 32, \"train_micro_batch_size_per_gpu\": 4,\n"
           "\"gradient_accumulation_steps\": 1, \"zero_optimization\": {\"stage\": 1}}";
  };
  const auto job = script("", "4", "ds.json");
  const auto micro = with(job, two, files);
  CHECK_THAT(micro.text, STEPCAST_HOLDS("--micro-batch-size 2 "));
  CHECK(micro.beside ==
        Sentences{"ds.json: train_micro_batch_size_per_gpu is 4 there, and --micro-batch-size of "
                  "the changed script is 2",
                  // 32 sequences are two micro-batches of two on each of eight GPUs.
                  "ds.json: gradient_accumulation_steps is 1 there, and the changed job's batch "
                  "makes 2"});
  CHECK(with(job, "plan.zero=2", files).beside ==
        Sentences{"ds.json: zero_optimization.stage is 1 there, and --zero-stage of the changed "
                  "script is 2"});
  CHECK(with(job, "plan.micro_batch=4", files).beside == Sentences{});
}

TEST_CASE("a DeepSpeed file that sed makes changes by its variable, or is told") {
  const auto job = [](const std::string& before, const std::string& micro) {
    return script(before + "sed \"s/CONFIG_MBSIZE/${MBS}/\" template.json > ds.json\n", micro,
                  "ds.json");
  };
  const auto alone = with(job("MBS=4\n", "${MBS}"), two);
  CHECK(alone.text == job("MBS=2\n", "${MBS}"));
  CHECK(alone.beside == Sentences{});
  const auto shared = with(job("MBS=4\nNAME=gpt-$MBS\n", "${MBS}"), two);
  CHECK(shared.text == job("MBS=4\nNAME=gpt-$MBS\n", "2"));
  CHECK(shared.beside == Sentences{"ds.json: train_micro_batch_size_per_gpu of DeepSpeed's file "
                                   "must become 2, too"});
}

}  // namespace job_engine_file_spec

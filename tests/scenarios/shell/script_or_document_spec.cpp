// SPDX-License-Identifier: Apache-2.0
// Texts that are scripts, whatever colons they have, and documents, whatever commands they hold.
#include <string>
#include <vector>

#include "scenarios/scenario_file.hpp"
#include "tests/catch.hpp"
#include "tests/scenarios/jobs.hpp"

namespace script_or_document_spec {

namespace {

const std::string command =
    "torchrun --nproc_per_node=8 pretrain_gpt.py --num-layers 4 --hidden-size 64 "
    "--num-attention-heads 4 --seq-length 64 --max-position-embeddings 64 --micro-batch-size 1 "
    "--vocab-size 320 --bf16\n";

// The number of GPUs of the job in a file of this name; "none": it is no job.
std::string gpus_of(const std::string& text, const std::string& file, const std::string& as = {}) {
  const auto job = scenarios::read_job(text, file, {as, {}});
  if (!job) return "none";
  const auto* cluster = job->document.find("cluster");
  return cluster == nullptr ? "unknown" : cluster->find("gpus")->text;
}

const std::vector<std::string> first_lines{
    "echo \"START TIME: $(date)\"\n", "export NAME=\"run: a\"\n", "TP=$(( 3 > 2 ? 4 : 2 ))\n",
    "while false; do : ; done\n", "# one\necho \"a: b\"\n\n"};

}  // namespace

TEST_CASE("a script without a first line of its own is one whatever colons it has") {
  for (const auto& line : first_lines)
    for (const auto* file : {"x.sh", "x.bash", "x.slurm", "x.sbatch", "x", "-"}) {
      INFO(line << file);
      CHECK(gpus_of(line + command, file) == "8");
      CHECK(gpus_of(line + command, file, "megatron") == "8");
    }
}

TEST_CASE("accelerate launch begins a line of a script") {
  const std::string launch =
      "accelerate launch --num_processes 16 train.py --model_name_or_path Qwen/Qwen3-8B "
      "--per_device_train_batch_size 1\n";
  for (const auto& line : first_lines) {
    INFO(line);
    CHECK(gpus_of(line + launch, "x") == "16");
  }
}

TEST_CASE("a script that starts no training is no scenario, which is said once") {
  std::string all;
  try {
    scenarios::load_placed_scenario(scenarios::Source("x.sh", "echo \"a: b\"\n"), {}, {});
  } catch (const scenarios::Error& wrong) {
    all = wrong.what();
  }
  CHECK(all.starts_with("x.sh:1:1: this is neither a scenario nor a job of a framework"));
  CHECK(all.find('\n') == std::string::npos);
}

TEST_CASE("a document stays one whatever its texts hold") {
  const std::string scenario =
      "# TP=2\nname: a\nnote: |\n  TP=2\n  " + command + "model: {layers: 4}\n";
  CHECK(gpus_of(scenario, "x") == "none");
  CHECK(gpus_of("torchrun: 8\ndeepspeed : true\nmodel: {}\n", "x") == "none");
  CHECK(gpus_of("note: \"a\nTP=2 \"\nmodel: {}\n", "x.yaml") == "none");
  CHECK(gpus_of("{\"a\": \"b\n" + command + "\"}", "x") == "none");
}

}  // namespace script_or_document_spec

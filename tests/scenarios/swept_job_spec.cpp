// SPDX-License-Identifier: Apache-2.0
// Sweeps whose keys follow from axes, and sweeps over jobs, whose defaults do.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "forecast/scenario.hpp"
#include "scenarios/documents/value_json.hpp"
#include "scenarios/scenario_file.hpp"
#include "scenarios/shown.hpp"
#include "scenarios/sweeps/sweep_file.hpp"
#include "tests/catch.hpp"

namespace swept_job_spec {

namespace fs = std::filesystem;

class Folder {
 public:
  explicit Folder(const std::string& name) : path_(fs::temp_directory_path() / name) {
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  void write(const std::string& file, const std::string& text) const {
    std::ofstream(path_ / file) << text;
  }
  scenarios::Grid grid(const std::string& text, const std::vector<std::string>& sets = {}) const {
    return scenarios::read_grid(text, "s.yaml", sets, path_);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::string mistakes(const std::function<void()>& read) {
  try {
    read();
  } catch (const scenarios::Error& wrong) {
    std::string all;
    for (const auto& one : wrong.complaints) all += one.place + ": " + one.text + "\n";
    return all;
  }
  return {};
}

const std::string base = R"(base:
  model: gpt3-175b
  cluster: {node: dgx-a100-80gb, nodes: 16}
  training: {sequence_length: 2048, global_batch: 64}
  plan: {tensor: 8, pipeline: 16}
vary: {cluster.nodes: [16, 32], plan.micro_batch: [1, 2, 4]}
)";

TEST_CASE("a key follows from axes: its values are in the order of their combinations") {
  const Folder folder("stepcast_sweep_follow");
  const auto grid = folder.grid(base + R"(follow:
  training.global_batch: {of: [cluster.nodes], values: [64, 128]}
  plan.zero: {of: [plan.micro_batch, cluster.nodes], values: [0, 1, 1, 0, null, 1]}
)");
  scenarios::PointReader points(grid);
  std::string batches, stages;
  for (int i = 0; i < 6; ++i) {
    const auto point = points.scenario(i);
    REQUIRE(point.value);
    batches += std::to_string(point.value->training.global_batch) + " ";
    stages += std::to_string(point.value->plan.zero);
  }
  CHECK(batches == "64 64 64 128 128 128 ");
  // Nodes come first among the axes: 16 with micro-batches 1, 2, 4, then 32.
  CHECK(stages == "010101");
  const auto again = scenarios::read_grid(scenarios::definition(grid), "again");
  CHECK(scenarios::definition(again) == scenarios::definition(grid));
}

TEST_CASE("a condition sees the values that follow from axes") {
  const Folder folder("stepcast_sweep_follow_condition");
  const auto follow = base + R"(follow:
  plan.tensor: {of: [plan.micro_batch], values: [1, 2, 8]}
)";
  CHECK(count(folder.grid(follow + "only_if: plan.tensor >= 2\n")) == 4);
  // plan.data is GPUs / (tensor x pipeline): 128 / 16 = 8 at the least tensor degree and 16 nodes.
  CHECK(count(folder.grid(follow + "only_if: plan.data == 8\n")) == 2);
}

TEST_CASE("every mistake in what follows is told at its place") {
  const Folder folder("stepcast_sweep_follow_mistakes");
  CHECK(mistakes([&] {
          folder.grid(base + R"(follow:
  plan.zero: {of: [cluster.node], values: [0]}
  plan.context: {of: [cluster.nodes, cluster.nodes], values: [1]}
  plan.expert: {of: [cluster.nodes], values: [1]}
  plan.tensr: {of: [cluster.nodes], values: [1, 2]}
  plan.data: [1, 2]
  plan.micro_batch: {of: [cluster.nodes], values: [1, 2]}
)");
        }) ==
        "s.yaml:8:20: follow.plan.zero.of.0: 'cluster.node' is not varied; name paths under vary "
        "or together\n"
        "s.yaml:9:38: follow.plan.context.of.1: 'cluster.nodes' stands there twice, or with a path "
        "that moves together with it\n"
        "s.yaml:10:46: follow.plan.expert.values: 1 values, but these axes have 2 combinations\n"
        "s.yaml:11:3: follow.plan.tensr: unknown key 'tensr'; expected one of tensor, pipeline, "
        "context, expert, expert_tensor, data, sequence_parallel, context_method, micro_batch, "
        "schedule, virtual_stages, layers_per_stage, zero, reshard_after_forward, gradient_sync, "
        "shard_group, "
        "wrap, recompute, layers, offload, activation_compression, overlap, gradient_precision, "
        "master_weights, gradient_compression, bucket, rank_order; did you mean 'tensor'?\n"
        "s.yaml:12:14: follow.plan.data: expected {of: [PATH], values: [a value for each "
        "combination]}\n"
        "s.yaml:13:3: follow.plan.micro_batch: is varied twice; keep one of them\n");
}

const std::string megatron =
    "torchrun --nproc_per_node 8 --nnodes 4 pretrain_gpt.py --num-layers 4 --hidden-size 1024 "
    "--num-attention-heads 16 --seq-length 1024 --vocab-size 3200 --swiglu --sequence-parallel "
    "--max-position-embeddings 1024 --micro-batch-size 1 --global-batch-size 64 --bf16\n";
const std::string trainer =
    "torchrun --nproc_per_node 8 --nnodes 2 run_clm.py --per_device_train_batch_size 2 "
    "--gradient_accumulation_steps 4 --bf16 --block_size 2048 --fsdp \"full_shard auto_wrap\"\n";

TEST_CASE("what a job derives follows the axes of a sweep over it") {
  const Folder folder("stepcast_sweep_follows");
  folder.write("train.sh", megatron);
  folder.write("run.yaml", "job: train.sh\ncluster: {node: dgx-h100}\n");
  const auto widths = folder.grid("base: run.yaml\nvary: {model.hidden: [1024, 2048]}");
  CHECK(widths.notes.empty());
  scenarios::PointReader points(widths);
  CHECK(points.scenario(0).value->model.ffn == 2688);  // 8/3 of 1,024, down to steps of 64
  CHECK(points.scenario(1).value->model.ffn == 5440);

  const auto given =
      folder.grid("base: run.yaml\nvary: {model.hidden: [1024, 2048]}", {"model.ffn=4096"});
  CHECK(given.followers.empty());
  CHECK(folder
            .grid("base: run.yaml\nvary: {model.hidden: [1024, 2048]}\n"
                  "follow: {model.ffn: {of: [model.hidden], values: [1, 2]}}")
            .followers.size() == 1);
}

TEST_CASE("a batch that follows from the GPUs follows from their axes") {
  const Folder folder("stepcast_sweep_batch");
  folder.write("train.sh", trainer);
  // A scenario in the sweep may name the job, too; null leaves the job's own sixteen GPUs.
  const auto grid = folder.grid(R"(
base: {job: train.sh, model: llama3-8b, cluster: {node: dgx-h100}}
vary: {cluster.nodes: [null, 1, 4], plan.zero: [1, 3]}
)");
  scenarios::PointReader points(grid);
  std::string batches;
  for (int i = 0; i < 6; ++i) {
    const auto point = points.scenario(i);
    INFO(point.reason);
    REQUIRE(point.value);
    batches += std::to_string(point.value->training.global_batch) + " ";
  }
  CHECK(batches == "128 128 64 64 256 256 ");  // 2 x 4 for each of 16, 8 and 32 GPUs
  for (const auto& follower : grid.followers)
    CHECK(follower.axes == std::vector<std::size_t>{0});  // none depends on ZeRO
  // The definition needs no job any more.
  CHECK(scenarios::definition(scenarios::read_grid(scenarios::definition(grid), "again")) ==
        scenarios::definition(grid));
}

TEST_CASE("what neither the job nor the sweep says is asked for once") {
  const Folder folder("stepcast_sweep_wanted");
  folder.write("train.sh", megatron);
  CHECK(mistakes([&] {
          folder.grid("base: train.sh\nvary: {plan.zero: [0, 1]}");
        }).starts_with("s.yaml:1:7: base: cluster.node: "));
  CHECK(mistakes([&] { folder.grid("base: train.sh\nvary: {cluster.node: [dgx-h100]}"); }).empty());
}

TEST_CASE("a search at each point opens the keys of the job's plan that it chooses") {
  const Folder folder("stepcast_sweep_search");
  folder.write("train.sh", megatron);
  const auto grid = folder.grid("base: train.sh\nmode: search\nvary: {cluster.nodes: [1, 2]}",
                                {"cluster.node=dgx-h100"});
  scenarios::PointReader points(grid);
  const auto point = points.question(1);
  INFO(point.reason);
  REQUIRE(point.value);
  CHECK(point.value->scenario.cluster.gpus == 16);
  CHECK(grid.base.find("plan")->find("tensor") == nullptr);
}

std::string resolved(const forecast::Scenario& scenario) {
  std::string all;
  const auto add = [&](const scenarios::Value& part) { all += scenarios::json_of(part) + "\n"; };
  add(scenarios::shown(scenario.model));
  add(scenarios::shown(scenario.cluster));
  add(scenarios::shown(scenario.training));
  add(scenarios::shown(scenario.plan));
  add(scenarios::shown(scenario.software));
  return all;
}

// Values of keys from which jobs derive others.
const std::vector<std::pair<std::string, std::vector<std::string>>> varied{
    {"cluster.node", {"dgx-h100", "dgx-a100-80gb"}},
    {"cluster.nodes", {"1", "2", "4"}},
    {"plan.tensor", {"1", "2", "4"}},
    {"plan.pipeline", {"1", "2"}},
    {"plan.micro_batch", {"1", "2"}},
    {"plan.zero", {"0", "1", "3"}},
    {"training.global_batch", {"32", "64"}},
    {"training.precision", {"bf16", "fp16"}},
    {"training.sequence_length", {"1024", "2048"}},
    {"plan.context", {"1", "2"}},
    {"software.attention", {"flash", "unfused"}},
};

TEST_CASE("a point of a sweep over a job is the job under `--set` of its values") {
  const Folder folder("stepcast_sweep_law");
  folder.write("megatron.sh", megatron);
  folder.write("trainer.sh", trainer);
  std::mt19937 random(7);
  const auto below = [&](std::size_t n) { return random() % n; };
  int same = 0, refused = 0;
  for (int run = 0; run < 40; ++run) {
    const bool of_trainer = run % 2 == 1;
    const std::string over =
        of_trainer ? "job: trainer.sh\nmodel: llama3-8b\n" : "job: megatron.sh\n";
    folder.write("run.yaml", over + "cluster: {node: dgx-h100}\n");
    auto keys = varied;
    std::shuffle(keys.begin(), keys.end(), random);
    keys.resize(1 + below(3));
    std::string vary;
    for (const auto& [key, values] : keys) {
      vary += "  " + key + ": [";
      for (const auto& value : values) vary += (vary.ends_with('[') ? "" : ", ") + value;
      vary += "]\n";
    }
    CAPTURE(vary, over);
    const auto grid = folder.grid("base: run.yaml\nvary:\n" + vary);
    scenarios::PointReader points(grid);
    for (std::int64_t at = 0; at < scenarios::positions(grid); ++at) {
      const auto indices = scenarios::indices_at(grid, at);
      std::vector<std::string> sets;
      for (std::size_t axis = 0; axis < indices.size(); ++axis)
        sets.push_back(keys[axis].first + "=" + keys[axis].second[indices[axis]]);
      CAPTURE(sets);
      const auto point = points.scenario(at);
      std::optional<forecast::Scenario> alone;
      std::string why;
      try {
        alone = scenarios::load_scenario(folder.path() / "run.yaml", sets);
      } catch (const scenarios::Error& wrong) {
        why = wrong.complaints.front().text;
      }
      CAPTURE(point.reason, why);
      REQUIRE(point.value.has_value() == alone.has_value());
      if (!alone) {
        ++refused;
        continue;
      }
      ++same;
      CHECK(resolved(*point.value) == resolved(*alone));
    }
  }
  CHECK(same > 100);
  CHECK(refused > 0);
}

TEST_CASE("mistakes in the job that a sweep names have the sweep's file as their place") {
  const Folder folder("stepcast_sweep_job_place");
  CHECK(mistakes([&] {
          folder.grid("base:\n  job: {files: a.sh}\nvary: {plan.micro_batch: [1, 2]}\n");
        }) ==
        "s.yaml:2:9: job: expected a file, or {file: FILE, as: FRAMEWORK, env: {NAME: VALUE}}\n");
}

}  // namespace swept_job_spec

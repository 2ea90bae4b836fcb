// SPDX-License-Identifier: Apache-2.0
// Plans written as the files that training frameworks start from.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/app/stepcast.hpp"
#include "tests/catch.hpp"

namespace emit_spec {

namespace fs = std::filesystem;

namespace {

const std::string scenario =
    "model: {base: llama2-7b, layers: 4}\ncluster: {node: dgx-h100, nodes: 2}\n"
    "training: {sequence_length: 1024, global_batch: 32}\n"
    "plan: {tensor: 2, sequence_parallel: true, zero: 1}\n";

// A folder of its own, with the scenario in it.
class Folder {
 public:
  explicit Folder(const std::string& name)
      : path_(fs::temp_directory_path() / ("stepcast_emit_" + name)) {
    fs::remove_all(path_);
    fs::create_directories(path_);
    std::ofstream(path_ / "s.yaml") << scenario;
  }
  ~Folder() {
    std::error_code wrong;
    fs::remove_all(path_, wrong);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

std::string read(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("simulate writes the plan that it simulated, not a better one") {
  const Folder folder("printed");
  const auto run = tests::stepcast({"simulate", folder / "s.yaml", "--emit", "megatron"});
  CHECK(run.status == 0);
  CHECK_THAT(run.out, STEPCAST_HOLDS("--tensor-model-parallel-size 2 \\\n  --sequence-parallel"));
  CHECK_THAT(run.out, STEPCAST_HOLDS("--micro-batch-size 1"));
  CHECK(run.out.find("step time") == std::string::npos);
  CHECK_THAT(run.err, STEPCAST_HOLDS("not in the scenario: epsilon of norms: "));
}

TEST_CASE("the launch configuration of a framework is a set of files, and the answer as usual") {
  const Folder folder("set");
  const auto to = folder / "new";
  const auto run = tests::stepcast(
      {"simulate", folder / "s.yaml", "--emit", "deepspeed", "--emit-to", to, "--json"});
  CHECK(run.status == 0);
  const auto answer = nlohmann::json::parse(run.out);
  CHECK(answer.contains("step"));
  CHECK_FALSE(answer.contains("emitted"));
  CHECK(nlohmann::json::parse(read(to + "/ds_config.json"))["tensor_parallel"]["autotp_size"] == 2);
  CHECK(nlohmann::json::parse(read(to + "/config.json"))["num_hidden_layers"] == 4);
  CHECK_THAT(read(to + "/train.sh"), STEPCAST_HOLDS("--block_size 1024"));
  CHECK_THAT(run.err, STEPCAST_HOLDS("wrote " + to + "/ds_config.json\n"));
}

TEST_CASE("a search writes its best plan into a folder") {
  const Folder folder("search");
  const auto run = tests::stepcast({"search", folder / "s.yaml", "--emit", "torchtitan",
                                    "--emit-to", folder / "job", "--quiet"});
  CHECK(run.status == 0);
  CHECK_THAT(read(folder / "job/job.toml"), STEPCAST_HOLDS("tensor_parallel_degree = 2"));
  CHECK(run.err.empty());
}

TEST_CASE("--json has the launch configuration beside the forecast") {
  const Folder folder("json");
  const auto run =
      tests::stepcast({"simulate", folder / "s.yaml", "--emit", "nanotron", "--json", "--quiet"});
  const auto answer = nlohmann::json::parse(run.out);
  CHECK_THAT(answer.at("emitted").get<std::string>(), STEPCAST_HOLDS("\nparallelism:\n"));
}

TEST_CASE("a set of files does no harm") {
  const Folder folder("harm");
  const auto alone = tests::stepcast({"simulate", folder / "s.yaml", "--emit-to", folder / ""});
  CHECK(alone.status == 2);
  CHECK_THAT(alone.err, STEPCAST_HOLDS("no job that could be changed; add --emit megatron"));
  fs::rename(folder / "s.yaml", folder / "config.yaml");
  const auto over = tests::stepcast(
      {"simulate", folder / "config.yaml", "--emit", "nanotron", "--emit-to", folder / ""});
  CHECK(over.status == 2);
  CHECK_THAT(over.err, STEPCAST_HOLDS("which this command reads"));
  CHECK(read(folder / "config.yaml") == scenario);
  const auto file = tests::stepcast({"simulate", folder / "config.yaml", "--emit", "nanotron",
                                     "--emit-to", folder / "config.yaml"});
  CHECK(file.status == 2);
  CHECK_THAT(file.err, STEPCAST_HOLDS("is no folder"));
}

TEST_CASE("a file that is there with other contents is kept beside the one that is written") {
  const Folder folder("kept");
  fs::create_directory(folder / "new");
  const auto file = folder / "new/job.toml";
  std::ofstream(file) << "mine";
  const auto emitted = [&](const std::string& set) {
    return tests::stepcast({"simulate", folder / "s.yaml", "--set", set, "--emit", "torchtitan",
                            "--emit-to", folder / "new"});
  };
  const auto first = emitted("plan.micro_batch=1");
  CHECK_THAT(first.err, STEPCAST_HOLDS("kept the former " + file + " as " + file + ".before\n"));
  CHECK(read(file + ".before") == "mine");
  const auto written = read(file);
  // The same file again is no other; another one is kept, too.
  CHECK(emitted("plan.micro_batch=1").err.find("kept the former") == std::string::npos);
  CHECK(emitted("plan.micro_batch=2").status == 0);
  CHECK(read(file + ".before-2") == written);
  CHECK(read(file + ".before") == "mine");
}

// --- Jobs.

namespace {

const std::string job =
    "torchrun --nproc-per-node 8 --nnodes 2 pretrain_gpt.py \\\n"
    "  --num-layers 8 --hidden-size 1024 --num-attention-heads 16 \\\n"
    "  --vocab-size 32000 --seq-length 1024 --max-position-embeddings 1024 \\\n"
    "  --tensor-model-parallel-size 8 \\\n"
    "  --micro-batch-size 1 \\\n"
    "  --global-batch-size 32 \\\n"
    "  --bf16 --lr 3e-4   # found by hand\n";

}  // namespace

TEST_CASE("the answer to a job is a change of that job") {
  const Folder folder("job");
  std::ofstream(folder / "train.sh") << job;
  const auto to = folder / "new";
  const auto run = tests::stepcast({"search", folder / "train.sh", "--set", "cluster.node=dgx-h100",
                                    "--for", "megatron", "--emit-to", to, "--json"});
  INFO(run.err);
  CHECK(run.status == 0);
  const auto best = nlohmann::json::parse(run.out);
  CHECK(run.err.find("not changed") == std::string::npos);
  CHECK(best.at("limits").at("framework") == "megatron@d98e8a64dd");
  const auto changed = read(to + "/train.sh");
  CHECK_THAT(changed, STEPCAST_HOLDS("  --num-layers 8 --hidden-size 1024 --num-attention-heads"));
  CHECK_THAT(changed, STEPCAST_HOLDS("  --bf16 --lr 3e-4   # found by hand\n"));
  CHECK_THAT(read(to + "/train.sh.diff"), STEPCAST_HOLDS("--- a/train.sh\n+++ b/train.sh\n"));
  const auto again = tests::stepcast(
      {"simulate", to + "/train.sh", "--set", "cluster.node=dgx-h100", "--json", "--quiet"});
  CHECK(nlohmann::json::parse(again.out)["step"]["time_s"] == best["best"]["step_time_s"]);
}

TEST_CASE("a job that is simulated under another plan prints its change") {
  const Folder folder("diff");
  std::ofstream(folder / "train.sh") << job;
  const auto run =
      tests::stepcast({"simulate", folder / "train.sh", "--set", "cluster.node=dgx-h100", "--set",
                       "plan.tensor=4", "--diff", "--quiet"});
  CHECK(run.status == 0);
  CHECK_THAT(run.out, STEPCAST_HOLDS("\n-  --tensor-model-parallel-size 8 \\\n"));
  CHECK_THAT(run.out, STEPCAST_HOLDS("\n+  --tensor-model-parallel-size 4 \\\n"));
  const auto same = tests::stepcast(
      {"simulate", folder / "train.sh", "--set", "cluster.node=dgx-h100", "--diff", "--quiet"});
  CHECK(same.status == 0);
  CHECK(same.out.empty());  // the job runs that plan already
  const auto over = tests::stepcast({"simulate", folder / "train.sh", "--set",
                                     "cluster.node=dgx-h100", "--emit-to", folder / ""});
  CHECK(over.status == 2);
  CHECK_THAT(over.err, STEPCAST_HOLDS("which this command reads"));
  CHECK(read(folder / "train.sh") == job);
}

TEST_CASE("a script changes whose values and arguments stand in files beside it") {
  const Folder folder("beside");
  std::ofstream(folder / "env.sh") << "export MBS=1\n";
  std::ofstream(folder / "model.txt") << "--num-layers 8 --hidden-size 1024\n";
  auto script = "source \"$(dirname \"$0\")/env.sh\"\n" + std::string(job);
  for (const auto& [part, by] : {std::pair{"--num-layers 8 --hidden-size 1024", "$(cat model.txt)"},
                                 {"--micro-batch-size 1", "--micro-batch-size $MBS"}})
    script.replace(script.find(part), std::string(part).size(), by);
  std::ofstream(folder / "train.sh") << script;
  const auto run =
      tests::stepcast({"simulate", folder / "train.sh", "--set", "cluster.node=dgx-h100", "--set",
                       "plan.micro_batch=2", "--diff"});
  INFO(run.err);
  CHECK(run.status == 0);
  CHECK_THAT(run.out, STEPCAST_HOLDS("\n-  --micro-batch-size $MBS \\\n"));
  CHECK_THAT(run.out, STEPCAST_HOLDS("\n+  --micro-batch-size 2 \\\n"));
}

TEST_CASE("a job that cannot be changed is refused before a search for its change") {
  const Folder folder("late");
  std::ofstream(folder / "swift.sh")
      << "NPROC_PER_NODE=8 megatron sft --load Qwen3-30B-A3B-Base-mcore --train_type full "
         "--max_length 1024 --global_batch_size 16\n";
  const auto page = folder / "page.html";
  const auto run = tests::stepcast({"search", folder / "swift.sh", "--set", "cluster.node=dgx-h100",
                                    "--for", "megatron", "--diff", "--report", page});
  INFO(run.err);
  CHECK(run.status == 2);
  CHECK_THAT(run.err, STEPCAST_HOLDS("swift.sh: its framework has no launch configurations"));
  CHECK_FALSE(fs::exists(page));  // which a search writes before it tells of its plan
}

TEST_CASE("a search for a framework finds a plan that it can run, and the cost of its limits") {
  const Folder folder("limits");
  const auto run = tests::stepcast({"search", folder / "s.yaml", "--set", "plan=null", "--for",
                                    "nanotron", "--emit", "nanotron", "--quiet"});
  CHECK(run.status == 0);
  const auto loud = tests::stepcast(
      {"search", folder / "s.yaml", "--set", "plan=null", "--for", "nanotron@2411b022"});
  CHECK_THAT(loud.out, STEPCAST_HOLDS("limits of nanotron@2411b022: "));
  const auto version = tests::stepcast({"search", folder / "s.yaml", "--for", "nanotron@1"});
  CHECK(version.status == 2);
  CHECK_THAT(version.err, STEPCAST_HOLDS("limits are known of nanotron@2411b022"));
  const auto unknown = tests::stepcast({"search", folder / "s.yaml", "--for", "fsdp"});
  CHECK(unknown.status == 2);
}

}  // namespace emit_spec

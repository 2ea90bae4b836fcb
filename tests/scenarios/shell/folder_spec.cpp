// SPDX-License-Identifier: Apache-2.0
// Files that a script names after it changed its folder.
#include <filesystem>
#include <map>
#include <string>

#include "scenarios/frameworks/read_job.hpp"
#include "tests/catch.hpp"

namespace folder_spec {

namespace {

using Files = std::map<std::string, std::string>;

const std::string command =
    "torchrun --nproc_per_node=8 pretrain_gpt.py --hidden-size 64 --num-attention-heads 4 "
    "--seq-length 64 --max-position-embeddings 64 --micro-batch-size 1 --vocab-size 320 --bf16 "
    "--num-layers ";

// The number of layers of a script with such files in its folder, or what is wrong with it.
std::string layers(const std::string& text, const Files& files) {
  const scenarios::JobFiles beside = [&](const std::string& name) {
    const auto found = files.find(std::filesystem::path(name).lexically_normal().string());
    return found == files.end() ? std::nullopt : std::optional(found->second);
  };
  try {
    const auto job = scenarios::read_job(text, "x.sh", {}, beside);
    if (!job) return "no job";
    return job->document.find("model")->find("layers")->text;
  } catch (const scenarios::Error& wrong) {
    return wrong.what();
  }
}

// The number of layers that a file which is sourced behind these commands says.
std::string sourced(const std::string& commands, const std::string& file = "n.sh") {
  const Files files{{"n.sh", "N=2"},
                    {"a/n.sh", "N=4"},
                    {"a/b/n.sh", "N=8"},
                    {"/c/n.sh", "N=16"},
                    {"../n.sh", "N=32"}};
  return layers(commands + "\nsource " + file + "\n" + command + "$N\n", files);
}

}  // namespace

TEST_CASE("a file that a script sources after it changed its folder lies there") {
  CHECK(sourced("") == "2");
  CHECK(sourced("cd a") == "4");
  CHECK(sourced("cd a", "./n.sh") == "4");
  CHECK(sourced("cd a; cd b") == "8");
  CHECK(sourced("cd a/b && echo x; cd ..") == "4");
  CHECK(sourced("cd /c") == "16");
  CHECK(sourced("D=/c\ncd $D") == "16");
  CHECK(sourced("cd ..") == "32");
  CHECK(sourced("cd \"$(dirname \"$0\")\"") == "2");
  CHECK(sourced("cd a; cd -") == "2");
  CHECK(sourced("pushd a; cd b; popd") == "2");
  CHECK(sourced("cd a", "$(pwd)/n.sh") == "4");
  CHECK(sourced("cd a", "$PWD/n.sh") == "4");
  CHECK(sourced("command cd a") == "4");
  CHECK(sourced("builtin cd a") == "4");
  CHECK(sourced("\\cd a") == "4");
  CHECK(sourced("PWD=a") == "2");  // which changes no folder
  CHECK(sourced("cd a", "/c/n.sh") == "16");
}

TEST_CASE("a program that env starts in a folder works there, and the script does not") {
  const Files files{{"t.sh", command + "2"}, {"a/t.sh", command + "4"}, {"n.sh", "N=2"}};
  for (const std::string in :
       {"-C a", "-Ca", "--chdir=a", "--chdir a", "-u X -C a", "-i -C a Y=1"}) {
    INFO(in);
    CHECK(layers("env " + in + " bash t.sh\n", files) == "4");
    CHECK(layers("nohup env " + in + " bash ./t.sh &\n", files) == "4");
    CHECK(layers("env " + in + " true\nbash t.sh\n", files) == "2");
    CHECK(layers("env " + in + " " + command + "8\n", files) == "8");
  }
  CHECK(layers("env bash t.sh\n", files) == "2");
  CHECK(layers("env bash -c true -C a\nsource n.sh\n" + command + "$N\n", files) == "2");
  CHECK(layers("env -C $D bash t.sh\n", files) == "no job");
}

TEST_CASE("the folder of a script stays where it is") {
  const std::string own = "S=$(cd $(dirname $0) && pwd)\n";
  CHECK(sourced(own + "cd a", "$S/n.sh") == "2");
  CHECK(sourced(own + "cd /c; cd $S/a") == "4");
  CHECK(sourced("S=$(dirname $0)/a; cd /c", "$S/n.sh") == "4");
}

TEST_CASE("a folder changes in a subshell for it alone") {
  CHECK(sourced("(cd a; ls)") == "2");
  CHECK(layers("(cd a; source n.sh; " + command + "$N)\n", {{"n.sh", "N=2"}, {"a/n.sh", "N=4"}}) ==
        "4");
}

TEST_CASE("a file in a folder that only a shell can tell is not taken from beside the script") {
  CHECK(sourced("cd $X").find("N has no value in this file, and n.sh") != std::string::npos);
  CHECK(sourced("if nvidia-smi; then cd a; fi").find("N has no value") != std::string::npos);
  CHECK(sourced("cd $X", "/c/n.sh") == "16");
}

TEST_CASE("a file that a training program is given lies in the folder that it runs in") {
  const std::string deepspeed =
      "torchrun --nproc_per_node 8 pretrain_gpt.py --yaml-cfg conf.yaml\n";
  const std::string conf =
      "language_model:\n  num_layers: 4\n  hidden_size: 64\n  num_attention_heads: 4\n"
      "seq_length: 64\nmax_position_embeddings: 64\nmicro_batch_size: 1\nvocab_size: 320\n"
      "bf16: true\n";
  const Files files{
      {"conf.yaml", conf},
      {"a/conf.yaml", "language_model: {num_layers: 8}\n" + conf.substr(conf.find("seq_length"))}};
  CHECK(layers(deepspeed, files) == "4");
  CHECK(layers("S=$PWD\ncd a\n" + deepspeed + "\n", {{"conf.yaml", conf}}) != "4");
  CHECK(layers("cd a\n" + deepspeed, {{"a/conf.yaml", conf}}) == "4");
  CHECK(layers("cd $X\n" + deepspeed, files) ==
        "x.sh:1:1: the script changes its folder here, in which conf.yaml is looked for: X has no "
        "value in this file; add --env X=VALUE; or name the file by an absolute path");
  const auto written = "cat <<EOF > conf.yaml\n" + conf + "EOF\n";
  CHECK(layers("cd $X\n" + written + deepspeed, {}) == "4");
  CHECK(layers(written + "cd $X\n" + deepspeed, {}).find("is looked for") != std::string::npos);
  CHECK(layers("cd $X\n" + written + "cd $Y\n" + deepspeed, {}).find("is looked for") !=
        std::string::npos);
}

TEST_CASE("a file may be named by the number of Slurm's job, which any number stands for") {
  const std::string conf =
      "language_model:\n  num_layers: 4\n  hidden_size: 64\n  num_attention_heads: 4\n"
      "seq_length: 64\nmax_position_embeddings: 64\nmicro_batch_size: 1\nvocab_size: 320\n"
      "bf16: true\n";
  for (const std::string name : {"SLURM_JOB_ID", "SLURM_JOBID"}) {
    const auto file = "c.$" + name + ".yaml";
    CHECK(layers("cat <<EOF > " + file + "\n" + conf +
                     "EOF\ntorchrun --nproc_per_node 8 pretrain_gpt.py --yaml-cfg " + file + "\n",
                 {}) == "4");
  }
}

}  // namespace folder_spec

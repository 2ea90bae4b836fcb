// SPDX-License-Identifier: Apache-2.0
// Files beside a script that its conditions ask for and its words show, and functions that print.
#include <string>

#include "tests/catch.hpp"
#include "tests/scenarios/jobs.hpp"

namespace read_files_spec {
using tests::at;

const std::string train =
    "torchrun --nproc_per_node=8 pretrain_gpt.py --hidden-size 64 --num-attention-heads 4 "
    "--seq-length 64 --max-position-embeddings 64 --micro-batch-size 1 --vocab-size 320 --bf16 ";

scenarios::JobScenario job(const std::string& text) {
  return tests::beside(text + "\n", {{"env.sh", "N=8\n"},
                                     {"./env.sh", "N=8\n"},
                                     {"/env.sh", "N=8\n"},
                                     {"args.txt", "--num-layers 8\n--seed 3\n"}});
}

std::string layers(const std::string& text) { return at(job(text).document, "model.layers"); }

TEST_CASE("a script that asks whether a file is there has it where it lies beside the script") {
  const auto behind = [](const std::string& before) {
    return layers(before + "\n" + train + "--num-layers ${N:-4}");
  };
  CHECK(behind("[ -f env.sh ] && source env.sh") == "8");
  CHECK(behind("if [[ -e ./env.sh ]]; then\n  . ./env.sh\nfi") == "8");
  CHECK(behind("if [ ! -f env.sh ]; then N=2; else N=16; fi") == "16");
  for (const std::string file : {"other.sh", "/env.sh"})  // of another machine
    CHECK(tests::refusal([&] {
            behind("if [ -f " + file + " ]; then N=2; fi");
          }).find("N is set under a condition in line 1") != std::string::npos);
}

TEST_CASE("what a file beside the script holds is what cat prints of it") {
  CHECK(layers(train + "$(cat args.txt)") == "8");
  CHECK(layers(train + "$(< args.txt)") == "8");
  CHECK(layers("ARGS=$(cat args.txt)\n" + train + "$ARGS") == "8");
  CHECK(tests::refusal([] {
          job(train + "$(cat other.txt)");
        }).find("other.txt, which a command reads here, is not beside this file") !=
        std::string::npos);
}

TEST_CASE("a file that the script changes, or may write, is refused where it is read") {
  const auto refused = [](const std::string& before, const std::string& read) {
    INFO(before << " " << read);
    CHECK(tests::refusal([&] {
            job(before + "\n" + read);
          }).find("only a shell can tell what it holds") != std::string::npos);
  };
  const std::string shown = train + "--num-layers $(cat args.txt)";
  refused("echo 32 > args.txt", shown);
  refused("sed -i s/8/9/ args.txt", train + "$(< args.txt)");
  refused("if nvidia-smi; then\ncat > args.txt <<E\n4\nE\nfi", shown);
  refused("sed -i s/8/9/ env.sh", "source env.sh\n" + train + "--num-layers $N");
  const std::string script = "cat > a.sh <<E\n" + train + "--num-layers 4\nE\n";
  refused(script + "sed -i s/4/8/ a.sh", "bash a.sh");
  CHECK(layers(script + script + "bash a.sh") == "4");
  CHECK(layers("echo 32 > args.txt\ncat > args.txt <<E\n4\nE\n" + shown) == "4");
  CHECK(layers("echo 32 > log.txt\n" + train + "$(cat args.txt)") == "8");
}

TEST_CASE("a function that prints one line without arguments is that line") {
  CHECK(layers("args() { echo --num-layers 8; }\n" + train + "$(args)") == "8");
  CHECK(layers("args() {\n  echo \"--num-layers $N\"\n}\nN=16\n" + train + "$(args)") == "16");
  for (const std::string body : {"echo --num-layers $1", "args", "echo --num-layers; echo 8"}) {
    INFO(body);
    CHECK(tests::refusal([&] {
            job("args() { " + body + "; }\n" + train + "$(args 8)");
          }).find("needs a shell") != std::string::npos);
  }
}

TEST_CASE("a file that a script sources from its own folder is not said to be missing") {
  const auto read =
      job("source \"$(dirname \"${BASH_SOURCE[0]}\")/env.sh\"\n" + train + "--num-layers $N");
  CHECK(at(read.document, "model.layers") == "8");
  for (const auto& argument : read.account.arguments)
    CHECK(argument.text.find("source") == std::string::npos);
  const auto missing = job("source \"$(dirname \"$0\")/other.sh\"\n" + train + "--num-layers 4");
  const auto& source = missing.account.arguments.front();
  CHECK(source.why ==
        "variables that a file sets which is not beside this one; what it would change is forecast "
        "as it stands here");
}

}  // namespace read_files_spec

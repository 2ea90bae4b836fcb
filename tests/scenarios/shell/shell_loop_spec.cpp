// SPDX-License-Identifier: Apache-2.0
// Loops whose conditions are known, and the arguments of a script or function that they read.
#include <string>
#include <vector>

#include "scenarios/jobs/scripts/shell_script.hpp"
#include "tests/catch.hpp"

namespace shell_loop_spec {

namespace {

// The values of the training command's arguments, trouble in angle brackets.
std::string values(const std::string& text, const std::vector<std::string>& env = {}) {
  std::string all;
  for (const auto& argument :
       scenarios::read_shell_script(text, scenarios::arguments_of("megatron"), env).arguments) {
    if (argument.values.empty()) all += (all.empty() ? "" : " ") + argument.name;
    for (const auto& value : argument.values)
      all += (all.empty() ? "" : " ") +
             (value.trouble.empty() ? value.text : "<" + value.trouble + ">");
  }
  return all;
}

const std::string train = "python pretrain_gpt.py --num-layers ", more = " --hidden-size ";

// Reads "--layers N", "-w N", "--width=N" and "--verbose" as scripts do.
const std::string branches =
    "case \"$1\" in\n  -l|--layers) N=\"$2\"; shift 2 ;;\n  --width=*) W=\"${1#*=}\"; shift ;;\n"
    "  -w) shift; W=$1; shift ;;\n  --verbose) VERBOSE=1; shift ;;\n";
const std::string parse = "parse() {\n  while [[ $# -gt 0 ]]; do\n" + branches +
                          "  *) echo \"unknown option $1\"; exit 1 ;;\n  esac\n  done\n}\n";
const std::string run = train + "$N" + more + "$W\n";

}  // namespace

TEST_CASE("a function that reads its arguments in a loop sets what they say") {
  CHECK(values(parse + "parse --layers 4 --verbose --width=64\n" + run) == "4 64");
  CHECK(values(parse + "N=2 W=32\nparse -w 64\n" + run) == "2 64");
  CHECK(values(parse + "N=2 W=32\nparse\n" + run) == "2 32");
  CHECK(values(parse + "ARGS=(-l 4 -w 64)\nparse \"${ARGS[@]}\"\n" + run) == "4 64");
  CHECK(values("set -- -l 4 --width=64\n" + parse + "parse \"$@\"\n" + run) == "4 64");
}

TEST_CASE("a script that reads its arguments has those of --env, and none without") {
  const std::string loop = "N=2 W=32\nwhile (( $# )); do\n" + branches + "*) break ;; esac\ndone\n";
  const std::vector<std::string> given{"1=--layers", "2=4", "3=--width=64"};
  CHECK(values(loop + run) == "2 32");
  CHECK(values(loop + run, given) == "4 64");
  CHECK(values("N=2 W=32\n" + parse + "parse \"$@\"\n" + run) == "2 32");
  CHECK(values("N=2 W=32\n" + parse + "parse \"$@\"\n" + run, given) == "4 64");
  CHECK(values("for one; do case $one in n=*) N=${one#n=} ;; esac; done\n" + run,
               {"1=n=4", "2=x", "W=64"}) == "4 64");
  CHECK(values("N=2\nfor one; do N=$one; done\n" + train + "$N\n") == "2");
  CHECK(values(train + "\"$@\"\n", {"1=4", "2=--bf16"}) == "4 --bf16");
  CHECK(values(train + "\"${@:2}\"\n", {"1=x", "2=4"}) == "4");
}

TEST_CASE("a loop that never fails ends with the turn that breaks") {
  const auto loop = [](const std::string& other) {
    return "N=2\nwhile true; do\n" + branches + other + " esac\ndone\n" + train + "$N\n";
  };
  CHECK(values(loop("--) shift; break ;;\n*) break ;;")) == "2");
  CHECK(values(loop("*) break ;;"), {"1=-l", "2=4"}) == "4");
  CHECK(values("set -- -l 4 -- 6\n" + loop("--) shift; break ;;") + "N=$1\n" + train +
               "$N --bf16\n") == "6 --bf16");
  CHECK(values("REST=()\nwhile [ -n \"$1\" ]; do REST+=(\"$1\"); shift; done\nset -- "
               "\"${REST[@]}\"\n" +
                   train + "${1:-8}\n",
               {"1=4"}) == "4");
}

TEST_CASE("a loop runs as long as its known condition holds, and as breaks let it") {
  CHECK(values("N=0\nwhile [ $N -lt 4 ]; do N=$((N + 1)); done\n" + train + "$N\n") == "4");
  CHECK(values("N=1\nuntil ((N >= 8)); do N=$((N * 2)); done\n" + train + "$N\n") == "8");
  CHECK(values("N=0\nwhile [ $N -lt 9 ] && [ $N -ne 5 ]; do N=$((N + 1)); done\n" + train +
               "$N\n") == "5");
  CHECK(values("for N in 2 4 6; do if [ $N -eq 4 ]; then break; fi; done\n" + train + "$N\n") ==
        "4");
  CHECK(values("W=0\nfor N in 2 4 6; do [ $N -eq 4 ] && continue; W=$((W + N)); done\n" + run) ==
        "6 8");
  CHECK(values("for N in 1 2; do for W in 3 4; do [ $W -eq 4 ] && continue 2; done; done\n" +
               run) == "2 4");
  CHECK(values("for N in 1 2; do for W in 3 4; do break 2; done; done\n" + run) == "1 3");
}

TEST_CASE("a loop that only a shell can end leaves what it sets in doubt, as if no turn had run") {
  const auto asks = [](const std::string& text) {
    return values(text).find("--env N=VALUE") != std::string::npos;
  };
  CHECK(asks("N=1\nwhile true; do N=$((N + 1)); done\n" + train + "$N\n"));
  CHECK(asks("N=1\nwhile nvidia-smi; do N=2; done\n" + train + "$N\n"));
  CHECK(asks("N=1\nwhile [ $N -lt 4 ]; do N=$((N + 1)); nvidia-smi && break; done\n" + train +
             "$N\n"));
  CHECK(asks("N=1\nwhile [ $N -lt 4 ]; do N=$((N + 1)); N=$(nproc); done\n" + train + "$N\n"));
  CHECK(values("N=0\nuntil [ $N -ge 5 ]; do\n" + train + "4 && break\nN=$((N + 1))\ndone\n") ==
        "4");
  CHECK(values("while true; do\n" + train + "4\nsleep 9\ndone\n") == "4");
}

TEST_CASE("what a copy of the shell sets goes with it, also inside of another one") {
  const auto after = [](const std::string& text) { return values("N=2\n" + text); };
  const auto trains = train + "$N";
  CHECK(after("{ ( N=8; echo $N ); " + trains + "; } 2>&1 | tee log\n") == "2");
  CHECK(after("for i in 1; do (N=8); " + trains + "; done 2>&1 | tee log\n") == "2");
  CHECK(after("for i in 1 2; do N=$i; done | tee a\n" + trains + " 2>&1 | tee log\n") == "2");
  CHECK(after("(N=8)\n(" + trains + ")\n") == "2");
  CHECK(after("{ N=8; } &\n" + trains + " | tee log\n") == "2");
  CHECK(after("set_to() { N=$1; }\nset_to 8 a b c d | cat\n" + trains + "\n") == "2");
  CHECK(after("{ N=8; " + trains + "; } | tee log\n") == "8");
  CHECK(after("for i in 1 2; do N=$(( N * 2 )); [ $i = 2 ] && " + trains + "; done | tee a\n") ==
        "8");
  CHECK(after("{ f() { N=4; }; f; " + trains + "; } | tee a\n") == "4");
  std::string pipes;
  for (int i = 0; i < 70; ++i) pipes += "echo | cat\n";
  CHECK(after(pipes + "(N=8)\n" + trains + "\n") == "2");
}

TEST_CASE("a break in a copy of the shell leaves no loop around it") {
  const auto left =
      values("N=2\nfor N in 4 8 16; do { [ $N = 8 ] && break; } | tee a; done\n" + train + "$N\n");
  CHECK(left.find("changes in the loop in line 2") != left.npos);
}

// The branch of the fifth turn would be dropped if the loop's first turn stood for all.
TEST_CASE("what a loop of unknown turns sets is in doubt in all of them") {
  const auto trouble = [](const std::string& text, const std::vector<std::string>& env = {}) {
    return values("N=2 i=0\n" + text + "\n" + train + "$N\n", env).find("add --env ") !=
           std::string::npos;
  };
  CHECK(trouble("while [ $i -lt 300 ]; do if [ $i -eq 5 ]; then N=8; fi; i=$((i+1)); done"));
  CHECK(trouble("for j in {1..100}; do if [ $i -eq 7 ]; then N=4; fi; i=$((i+1)); done"));
  CHECK(trouble("while true; do if [ $i -ge 2 ]; then N=8; fi; i=$((i+1)); ls x && break; done"));
  CHECK(trouble("while [ $# -gt 0 ]; do case $1 in -n) N=$2 ;; esac; shift; ls x || break; done",
                {"1=-d", "2=-n", "3=4"}));
  CHECK_FALSE(trouble("while [ $# -gt 0 ]; do case $1 in -n) N=$2 ;; esac; shift || break; done",
                      {"1=-d", "2=-n", "3=4"}));
  CHECK_FALSE(trouble("while false; do N=4; done"));
  CHECK_FALSE(trouble("for j in $(list); do M=4; done"));
  CHECK(values("N=2\nwhile [ $# -gt 0 ]; do case $1 in -n) N=$2 ;; *) echo no break $1 ;; esac\n"
               "shift; done\n" +
                   train + "$N\n",
               {"1=-d", "2=-n", "3=4"}) == "4");
}

TEST_CASE("a value in front of a command in a loop is set for that command alone") {
  const auto after = [](const std::string& text) {
    return values("N=2\n" + text + "\n" + train + "$N\n");
  };
  CHECK(after("while IFS= read -r line; do M=$line; done < hosts") == "2");
  CHECK(after("while IFS=, read -r a b; do M=$a; done < hosts\nset -- $N; N=$1") == "2");
  CHECK(after("while ! nvidia-smi; do N=6 sleep 1; done") == "2");
  CHECK(after("while ! nvidia-smi; do M=1 N=6; done").find("add --env N=") != std::string::npos);
}

TEST_CASE("a pattern that repeats a group is told of texts of up to 16 letters") {
  const auto fits = [](int letters) {
    return values(
        "shopt -s extglob\nN=2\nX=" + std::string(static_cast<std::size_t>(letters), 'a') +
        "\ncase $X in +(a|aa)) N=8 ;; esac\n" + train + "$N\n");
  };
  CHECK(fits(16) == "8");
  CHECK(fits(17).find("add --env N=VALUE") != std::string::npos);
}

}  // namespace shell_loop_spec

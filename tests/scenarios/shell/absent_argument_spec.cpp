// SPDX-License-Identifier: Apache-2.0
// Arguments that a script is not given: empty for the script, asked for by the training program.
#include <string>
#include <vector>

#include "scenarios/jobs/scripts/shell_script.hpp"
#include "tests/catch.hpp"

namespace absent_argument_spec {

namespace {

using Env = std::vector<std::string>;

const std::string command = "torchrun pretrain_gpt.py --hidden-size 64 --num-layers ";

// The value of --num-layers behind these commands, with trouble in angle brackets, and the names of
// the arguments behind it.
std::string layers(const std::string& commands, const std::string& value = "$N",
                   const Env& env = {}) {
  std::string text = "none";
  const auto job = scenarios::read_shell_script(commands + "\n" + command + value + "\n",
                                                scenarios::arguments_of("megatron"), env);
  for (const auto& argument : job.arguments) {
    if (text != "none") text += " " + argument.name;
    if (argument.name != "--num-layers") continue;
    text.clear();
    for (const auto& one : argument.values)
      text += one.trouble.empty() ? one.text : "<" + one.trouble + ">";
  }
  return text;
}

}  // namespace

TEST_CASE("an argument that a script is not given is empty in a condition") {
  CHECK(layers("if [ -z \"$1\" ]; then N=2; else N=4; fi") == "2");
  CHECK(layers("if [ -z \"$1\" ]; then N=2; else N=4; fi", "$N", {"1=x"}) == "4");
  CHECK(layers("if [ -z $1 ]; then N=2; else N=4; fi") == "2");
  CHECK(layers("if [ $1 == a ]; then N=2; else N=4; fi") == "4");
  CHECK(layers("if [[ $1 == a ]]; then N=2; else N=4; fi") == "4");
  CHECK(layers("if [[ $1 -gt 2 ]]; then N=2; else N=4; fi") == "4");
  CHECK(layers("if [ $1 -lt 2 ]; then N=2; else N=4; fi") == "4");
  CHECK(layers("if [ \"x$1\" = x ]; then N=2; else N=4; fi") == "2");
  CHECK(layers("if [ -z \"$@\" ]; then N=2; else N=4; fi") == "2");
  CHECK(layers("case $1 in a) N=2;; *) N=4;; esac") == "4");
  CHECK(layers("N=4; [ -n \"$1\" ] && N=2") == "4");
  CHECK(layers("f() { if [ -z \"$1\" ]; then N=2; else N=4; fi; }; f $1") == "2");
}

TEST_CASE("a variable of an argument that a script is not given is empty until it has a default") {
  const std::string stage = "N=$2; if [ \"$N\" == \"\" ]; then N=3; fi";
  CHECK(layers(stage) == "3");
  CHECK(layers(stage, "$N", {"2=8"}) == "8");
  CHECK(layers("X=$1; N=${X:-4}") == "4");
  CHECK(layers("X=$1; : ${X:=4}; N=$X") == "4");
  CHECK(layers("X=$1; N=4${X:+2}") == "4");
  CHECK(layers("f() { N=${1:-4}; }; f $1") == "4");
}

TEST_CASE("loops over arguments that a script is not given take no turn") {
  const std::string shifts =
      "N=4; while [[ \"$1\" != \"\" ]]; do case $1 in -n) shift; N=$1;; "
      "esac; shift; done";
  CHECK(layers(shifts) == "4");
  CHECK(layers("N=4; while getopts \"t:n:\" opt; do case $opt in n) N=$OPTARG;; esac; done") ==
        "4");
  CHECK(layers("N=4; while getopts \"n:\" opt; do N=$OPTARG; done", "$N", {"1=-n", "2=8"}) == "8");
  CHECK(layers("N=4; for a in \"$@\"; do N=$a; done") == "4");
}

TEST_CASE("a training program's argument asks for the argument that a script is not given") {
  CHECK(layers("", "$1") == "<it is $1, an argument of the script; add --env 1=VALUE>");
  CHECK(layers("N=$1; [ -z \"$N\" ] && echo none") ==
        "<N: it is $1, an argument of the script; add --env N=VALUE>");
  CHECK(layers("N=x$1") == "<N: it is $1, an argument of the script; add --env N=VALUE>");
  CHECK(layers("X=$1; N=$((X * 2))") ==
        "<X: it rests on $1, an argument of the script; add --env X=VALUE>");
  CHECK(layers("if [ \"$1\" = 8b ]; then\nN=32\nelse\nexit 1\nfi") ==
        "<N is set in line 2 under a condition on an argument (it is $1, an argument of the "
        "script); add --env 1=VALUE>");
}

TEST_CASE("what is set only with an argument of the script is left out without it") {
  const std::string more = "if [ -n \"$1\" ]; then X=\"--bf16\"; fi";
  CHECK(layers(more, "4 $X --swiglu") == "4 --swiglu");
  CHECK(layers(more, "4 --swiglu $X") == "4 --swiglu");
  CHECK(layers(more, "4 --swiglu $X", {"1=x"}) == "4 --swiglu --bf16");
  CHECK(layers("if [ -n \"$1\" ]; then X=2; fi", "4$X") == "4");
}

TEST_CASE("a condition that asks for an argument of the script says how none is given") {
  CHECK(layers("if [ $(($1 * 2)) -gt 4 ]; then N=2; else N=4; fi") ==
        "<N is set in line 1 under a condition that is not known (it rests on $1, an argument of "
        "the script); add --env 1=VALUE (--env 1= for none)>");
  CHECK(layers("if [ $# -eq 0 ]; then N=2; else N=4; fi", "$N", {"1="}) == "2");
}

}  // namespace absent_argument_spec

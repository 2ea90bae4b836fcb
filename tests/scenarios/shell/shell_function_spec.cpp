// SPDX-License-Identifier: Apache-2.0
// Functions, arguments and loops of a script, files that it starts, and the run that it is.
#include <map>
#include <string>
#include <vector>

#include "scenarios/jobs/scripts/shell_script.hpp"
#include "scenarios/shell/arithmetic.hpp"
#include "scenarios/shell/changed_text.hpp"
#include "scenarios/shell/words.hpp"
#include "tests/catch.hpp"

namespace shell_function_spec {

namespace {

using Files = std::map<std::string, std::string>;

scenarios::FrameworkJob job_of(const std::string& text, const std::vector<std::string>& env = {},
                               const Files& files = {}) {
  return scenarios::read_shell_script(
      text, scenarios::arguments_of("megatron"), env, [&](const std::string& name) {
        const auto found = files.find(name);
        return found == files.end() ? std::nullopt : std::optional(found->second);
      });
}

// The values of the arguments, trouble in angle brackets.
std::string values(const scenarios::FrameworkJob& job) {
  std::string all;
  for (const auto& argument : job.arguments) {
    if (argument.values.empty()) all += argument.name + " ";
    for (const auto& value : argument.values)
      all += (value.trouble.empty() ? value.text : "<" + value.trouble + ">") + " ";
  }
  if (!all.empty()) all.pop_back();
  return all;
}
std::string values(const std::string& text, const std::vector<std::string>& env = {},
                   const Files& files = {}) {
  return values(job_of(text, env, files));
}

const std::string train = "python pretrain_gpt.py --num-layers ", more = " --hidden-size ";

}  // namespace

TEST_CASE("a function runs where it is called, with its own arguments") {
  CHECK(values("run() {\n  " + train + "$1" + more + "${2:-64} ${3:-}\n}\nrun 4\n") == "4 64");
  CHECK(values("function run {\n" + train + "$#" + more + "${#}\n}\nrun a 'b c'\n") == "2 2");
  CHECK(values("function run() { " + train + "\"$@\"; }\nrun 4 --bf16\n") == "4 --bf16");
  CHECK(values("N=3\nrun() { local N=4 M; M=5; " + train + "$N" + more + "$M; }\nrun\n") == "4 5");
  CHECK(values("N=3\nset_n() { local N=4; }\nset_n\n" + train + "$N\n") == "3");
  CHECK(values("N=3\nset_n() { N=4; return 0; N=5; }\nset_n\n" + train + "$N\n") == "4");
  CHECK(values("run() { " + train + "$N; }\nN=2 run\n") == "2");
  CHECK(values("run() { shift; " + train + "$1; }\nrun 1 2\n") == "2");
}

TEST_CASE("a function runs whose name is made of variables") {
  const auto both =
      "small() { " + train + "4" + more + "$2; }\nlarge() { " + train + "80 --bf16; }\n";
  CHECK(values(both + "N=small\n$N x 64") == "4 64");
  CHECK(values("run_7b() { " + train + "4; }\nrun_70b() { " + train + "80; }\nrun_$1\n",
               {"1=7b"}) == "4");
  CHECK(values(both + "\"$@\"\n", {"1=small", "2=it's", "3=64"}) == "4 64");
  CHECK(values(both + "A=1 \"$1\"\n", {"1=large"}) == "80 --bf16");
  CHECK(values(both + "PYTHON=python3\n$PYTHON pretrain_gpt.py --num-layers 2\n") == "2");
}

TEST_CASE("where nobody knows which of several functions trains, its name is asked for") {
  const auto both = "run_7b() { " + train + "4 --bf16 --swiglu; }\nrun_70b() { " + train +
                    "80 --bf16 --swiglu; }\n";
  const std::string why = "several functions start a training, and ";
  CHECK(values(both + "run_$1\n").find("<" + why + "run_$1 calls one of them: ") == 0);
  CHECK(values(both + "\"$@\"\n").find(why + "\"$@\" calls one of them; add --env 1=NAME>") !=
        std::string::npos);
  CHECK(values("run_7b() { " + train + "4; }\nhelp() { echo $1; }\nrun_$1\n") == "4");
}

TEST_CASE("a function that nobody calls does not train, unless nothing else does") {
  CHECK(values("big() { " + train + "99 --bf16 --swiglu; }\nsmall() { " + train +
               "4; }\nsmall\n") == "4");
  CHECK(values("big() { " + train + "99; }\n\"$1\"\n") == "99");
}

TEST_CASE("functions that call themselves are refused as too long") {
  CHECK(values("run() { run; run; }\nrun\n" + train + "4\n") ==
        "<the script is longer than any that was seen>");
}

TEST_CASE("a script whose loops and functions run too long is refused") {
  std::string text = "f0() { :; }\n";
  for (int i = 1; i < 8; ++i)
    text += "f" + std::to_string(i) + "() { for x in 1 2 3 4 5 6 7 8; do f" +
            std::to_string(i - 1) + "; done; }\n";
  CHECK(values(text + "f7\n" + train + "4\n") == "<the script is longer than any that was seen>");
}

TEST_CASE("a script's own arguments may be set and shifted") {
  const std::string two = "A=$1; shift; B=$1; shift\n" + train + "$A" + more + "$B\n";
  CHECK(values(two, {"1=4", "2=64"}) == "4 64");
  CHECK(values("set -- 4 64\n" + two) == "4 64");
  CHECK(values("set -euo pipefail\nset -- 4 \"$@\" --bf16\n" + train + "\"$@\"\n") == "4 --bf16");
  CHECK(values("shift 2\n" + train + "$1\n") ==
        "<it is $3, an argument of the script; add --env 3=VALUE>");
  CHECK(values("set -- 1\nnvidia-smi && shift\n" + train + "$1\n") ==
        "<the arguments are shifted where only a shell can tell>");
  CHECK(values("set -- 1\n[ -n \"$X\" ] && set -- 2\n" + train + "$1\n")
            .find("under a condition that is not known (X has no value in this file)") !=
        std::string::npos);
}

TEST_CASE("a loop over known words takes its turns") {
  CHECK(values("A=()\nfor x in --bf16 --swiglu; do A+=($x); done\n" + train + "4 ${A[@]}\n") ==
        "4 --bf16 --swiglu");
  CHECK(values("for n in 4; do for h in 64; do " + train + "$n" + more + "$h; done; done\n") ==
        "4 64");
  CHECK(values("for n in $(nproc); do :; done\n" + train + "$n\n") ==
        "<n changes in the loop in line 1, of which one turn is a job; add --env n=VALUE>");
}

TEST_CASE("commands behind an exit or an exec are not run") {
  for (const std::string end : {"exit", "exit 0", "exec sleep 1"})
    CHECK(values(train + "4\n" + end + "\n" + train + "99 --bf16\n") == "4");
  CHECK(values("if nvidia-smi; then exit; fi\nexec > log\n" + train + "4\n") == "4");
  CHECK(values("[ $# -lt 1 ] && exit 1\n" + train + "4\n") == "4");
  CHECK(values("bash -s <<EOF\nexit\nEOF\n" + train + "4\n") == "4");
}

TEST_CASE("scripts that a script writes or that lie beside it are run where it starts them") {
  for (const std::string start :
       {"sbatch --nodes 2 run.sh 4", "sbatch -p $P --nodes 2 run.sh 4",
        "sbatch --time=$T --nodes 2 run.sh 4", "bash run.sh 4", "./run.sh 4"}) {
    CHECK(values("cat > run.sh <<'X'\n" + train + "$1\nX\n" + start + "\n") == "4");
    CHECK(values(start, {}, {{"run.sh", train + "$1\n"}, {"./run.sh", train + "$1\n"}}) == "4");
  }
  const auto job =
      job_of("N=4\ncat <<X > job\n#SBATCH --nodes=$N\nsrun " + train + "$N\nX\nsbatch job");
  CHECK(values(job) == "4");
  REQUIRE(job.launcher.size() == 1);
  CHECK(job.launcher.front().name == "slurm.nodes");
  CHECK(job.launcher.front().values.front().text == "4");
  CHECK(values(train + "4\nbash run.sh\n", {}, {{"run.sh", "exit\n"}}) == "4");
}

// Each of the commands has three arguments.
TEST_CASE("where only a shell can tell which of two runs it is, the condition is asked for") {
  const std::string big = train + "9 --bf16 --swiglu\n", small = train + "4 --bf16 ";
  const auto text = "if [ -n \"$DEBUG\" ]; then\n" + big + "else\n" + small + "--fp16\nfi\n";
  CHECK(values(text, {"DEBUG="}) == "4 --bf16 --fp16");
  CHECK(values(text, {"DEBUG=1"}) == "9 --bf16 --swiglu");
  const auto two = "if [ -n \"$DEBUG\" ]; then\n" + big + "else\n" + train +
                   "4 --bf16 --micro-batch-size 2\nfi\n";
  CHECK(values(two).starts_with(
      "<lines 2 and 4 both start a training, and a condition that is not known (DEBUG has no value "
      "in this file) decides between them; add --env DEBUG=VALUE>"));
  CHECK(values("if nvidia-smi; then\n" + big + "fi\n") == "9 --bf16 --swiglu");
}

TEST_CASE("other runs of a script are named, other processes of the same run are not") {
  const auto others = [](const std::string& text) {
    std::string all;
    for (const auto& option : job_of(text).launcher)
      if (option.name == "other_run") all += option.text + ";";
    return all;
  };
  const std::string one = "torchrun pretrain_gpt.py --num-layers 9 --bf16 --swiglu\n";
  CHECK(others(one + "torchrun pretrain_gpt.py --num-layers 4 --bf16 --swiglu\n") ==
        "another run: torchrun pretrain_gpt.py --num-layers 4 …;");
  CHECK(others("for i in 0 1; do torchrun --node_rank $i pretrain_gpt.py --num-layers 9 --bf16 "
               "--swiglu & done\n") == "");
  CHECK(others("echo " + one + one) == "");
}

TEST_CASE("a test in double brackets joins its parts, arithmetic is a condition") {
  const auto layers = [](const std::string& condition) {
    return values("A=1 B=two T=true\nN=4\nif " + condition + "; then N=8; fi\n" + train + "$N\n");
  };
  CHECK(layers("[[ $A == 2 || $B == two ]]") == "8");
  CHECK(layers("[[ $A == 2 && $B == two ]]") == "4");
  CHECK(layers("[[ $A == 2 || ( $B == two && ! $A == 3 ) ]]") == "8");
  CHECK(layers("[[ $A == 1 &&\n  $B == one ]]") == "4");
  CHECK(layers("[ $A = 2 -o $B = two ]") == "8");
  CHECK(layers("[ $A = 1 -a $B = one ]") == "4");
  CHECK(layers("(( A > 0 ))") == "8");
  CHECK(layers("((A > 1))") == "4");
  CHECK(layers("$T") == "8");
  CHECK(values("A=0\n(( A )) && { N=1; M=2; }\n" + train + "${N:-4}" + more + "${M:-5}\n") ==
        "4 5");
  CHECK(values("{ N=1; } && M=2\n" + train + "$N\n") == "1");
}

TEST_CASE("variables may be unset and calculated") {
  CHECK(values("N=--bf16\nunset N\n" + train + "4 $N\n") == "4");
  CHECK(values("let \"N = 2 * 3\"\nlet M=N+1\n" + train + "$N" + more + "$M\n") == "6 7");
  CHECK(values("N=2\n((N *= 1 + 2))\n((N++))\n" + train + "$N\n") == "7");
  CHECK(scenarios::arithmetic_assignment("((A == 2))").name.empty());
  CHECK(scenarios::arithmetic_assignment("2=3").name.empty());
}

TEST_CASE("operations on a variable's text are those of a shell") {
  const auto of = [](const std::string& text, const std::string& operation) {
    return scenarios::changed_text(text, operation).value_or("?");
  };
  CHECK(of("LLaMa", ",,") == "llama");
  CHECK(of("llama", "^") == "Llama");
  CHECK(of("a.b.yaml", "%.*") == "a.b");
  CHECK(of("a.b.yaml", "%%.*") == "a");
  CHECK(of("x/y/z", "#*/") == "y/z");
  CHECK(of("x/y/z", "##*/") == "z");
  CHECK(of("x/y/z", "%q") == "x/y/z");
  CHECK(of("a-b-a", "/a/c") == "c-b-a");
  CHECK(of("a-b-a", "//a/aa") == "aa-b-aa");
  CHECK(of("a-b", "//-") == "ab");
  CHECK(of("abcd", "/?/x") == "?");
  CHECK(of("abcd", "@Q") == "?");
  CHECK(of(std::string(300, 'a'), "%a") == "?");
}

TEST_CASE("a part of a variable's text begins and ends where sums say") {
  const auto put = [&](const std::string& part) {
    return values("A=x96y ONE=1 N=TP=8\nKEY=TP\nL=${#KEY}\n" + train + part + "\n");
  };
  CHECK(put("${A:1:2}") == "96");
  CHECK(put("${A:$ONE:ONE+1}") == "96");
  CHECK(put("${A:1:-1}") == "96");
  CHECK(put("4${A::0}") == "4");
  CHECK(put("${N:3:1}${N::-4}") == "8");
  CHECK(put("${A: -2:1}") == "6");
  CHECK(put("${N:$L+1}") == "8");
  CHECK(put("4${A:9}") == "4");
  CHECK(put("4${A: -9}") == "4");
  CHECK(put("${A:3:-2}").find("needs a shell") != std::string::npos);
}

TEST_CASE("elements, lengths, alternatives and names of variables are put in") {
  const std::string given = "declare -A H=([8B]=4096 [70B]=8192)\nL=(4 5 6)\nS=70B N=L E=\n";
  const auto put = [&](const std::string& word) { return values(given + train + word + "\n"); };
  CHECK(put("${H[$S]}") == "8192");
  CHECK(put("${L[1]}") == "5");
  CHECK(put("${L[1+1]}") == "6");
  CHECK(put("${#L[@]}") == "3");
  CHECK(put("${#S}") == "3");
  CHECK(put("${!N}") == "4");
  CHECK(put("4 ${S:+--bf16} ${E:+--fp16} ${E+--swiglu} ${U:+--fp16}") == "4 --bf16 --swiglu");
  CHECK(put("${S%B}") == "70");
  CHECK(put("${H[7B]}") == "<${H[7B]} needs a shell>");
}

// bash 5.2 gives N another value in each of these than it had before, or none.
TEST_CASE("loops that are left early, and setters that need a shell, leave variables unknown") {
  for (const std::string before :
       {"for n in 4 8; do N=$n; nvidia-smi && break; done", "for n in {4..$(nproc)}; do N=$n; done",
        "N=1\nfor ((N=1; N<4; N++)); do ls x && break; done", "read N <<< $(nproc)",
        "N=1\n((N<<=64))", "printf -v N %d $(nproc)", "IFS=: read -r M N <<< 2:4:8",
        "N=1\nlet M=N++/0"}) {
    INFO(before);
    CHECK(values(before + "\n" + train + "${N:-99}\n").find("<") == 0);
  }
}

TEST_CASE("elements of arrays are set one by one, by numbers and by names") {
  CHECK(values("L=(1 2)\nL[1]=8\n" + train + "${L[1]}\n") == "8");
  CHECK(values("L=(1 2)\nL[2]=8\n" + train + "${L[2]}\n") == "8");
  CHECK(values("declare -A M\nM[seq]=4096\nM[gbs]=64\nM[seq]=8192\n" + train + "${M[seq]}\n") ==
        "8192");
  CHECK(values("declare -A M\nK=gbs\nM[$K]=64; M[seq]=1\n" + train + "${M[gbs]}\n") == "64");
  for (const std::string before :
       {"L=(1 2)\nL[5]=8", "L=(1 2)\nL[1]+=8", "L=(1 2)\nnvidia-smi && L[1]=8"}) {
    INFO(before);
    CHECK(values(before + "\n" + train + "${L[1]}\n").find("gets an element") != std::string::npos);
  }
}

// bash 5.2 shows the same.
TEST_CASE("elements stand in the order of their numbers, and at keys without quotes") {
  const auto shown = [](const std::string& before, const std::string& word) {
    return values(before + "\n" + train + word + "\n");
  };
  CHECK(shown("L[1]=--bf16; L[0]=8", "${L[@]}") == "8 --bf16");
  CHECK(shown("L[3]=--swiglu; L[2]=--bf16; L[1]=8", "${L[@]}") == "8 --bf16 --swiglu");
  CHECK(shown("i=1; L=(1 2); L[i]=8", "${L[1]}") == "8");
  CHECK(shown("declare -A M; M[l]=8; M['l']=16", "${M[l]}") == "16");
  CHECK(shown("declare -A M=(); M[\"l\"]=8; M[1]=4", "\"${M['l']}\"") == "8");
}

TEST_CASE("an array of which an element is in doubt stays in doubt") {
  for (const std::string before : {"L=($(python a.py)); L[0]=8", "L=(1 $(python a.py)); L[1]=8",
                                   "L[a]=1; L[b]=2", "source none.sh; L[1]=8"}) {
    INFO(before);
    CHECK(values(before + "\n" + train + "${L[@]}\n").find("gets an element") != std::string::npos);
  }
}

TEST_CASE("shells of their own leave no variables behind") {
  for (const std::string apart :
       {"( N=8 )", "( echo; N=8; exit 0 )", "N=8 &", "set_n | cat", "set_n &", "bash <<E\nN=8\nE",
        "cat > n.sh <<E\nN=8\nE\nbash n.sh"})
    CHECK(values("set_n() { N=8; }\nN=4\n" + apart + "\n" + train + "$N\n") == "4");
}

TEST_CASE("a function whose brackets do not close is read up to the end") {
  const std::string open = "launch() (\n cd /tmp\n if [ -n \"$A\" ]; then\n N=4\n)\nlaunch\n";
  CHECK_NOTHROW(values(open + train + "4\n"));
  CHECK_NOTHROW(values("k()(if"));
  CHECK_NOTHROW(values("(k()(if"));
  CHECK_NOTHROW(values("f() ( if [ a = a\n"));
}

TEST_CASE("functions have variables, arguments and definitions as in a shell") {
  const auto four = [](const std::string& text) { CHECK(values(text) == "4"); };
  four("N=8\nf() { local N; " + train + "${N:-4}; }\nf\n");
  four("N=4\nf() { :; }\nN=8 f\n" + train + "$N\n");
  four("if [ a = a ]; then f() { N=4; }; else f() { N=8; }; fi\nf\n" + train + "$N\n");
  four("f() { N=4; }\nif f; then :; fi\n" + train + "$N\n");
  four("function f\n{\n N=8\n}\nN=4\n" + train + "$N\n");
  four("f() { " + train + "${1:?usage}; }\nf 4\n");
  four("f() { " + train + "${1%x}; }\nf 4x\n");
  four("f() { return 1; N=8; }\nN=4\nf\n" + train + "$N\n");
  four("f() { " + train + "${@:2}; }\nf 8 4\n");
  CHECK(values("f() { " + train + "${@: -1}; }\nf 8 4\n") == "4");
}

TEST_CASE("values are added to, chosen and compared as in a shell") {
  const auto is = [](const std::string& text, const std::string& expected) {
    CHECK(values(text) == expected);
  };
  is("N=2\nN+=4\n" + train + "$N\n", "24");
  is("for a in --bf16 --swiglu; do F=\"$F $a\"; done\n" + train + "4 $F\n", "4 --bf16 --swiglu");
  is("A=(--bf16 --swiglu)\n" + train + "4 ${A:+--fp16}\n", "4 --fp16");
  is("declare -A M=([a]=1)\nM+=([a]=4)\n" + train + "${M[a]}\n", "4");
  is("M=gpt-13b N=4\n[[ $M == *13b ]] && N=8\n" + train + "$N\n", "8");
  is("N=4\n[ $N = 4 ] && { N=8; } || { N=2; }\n" + train + "$N\n", "8");
  is("N=4\n[ $N = 5 ] && { N=8; } || { N=2; }\n" + train + "$N\n", "2");
  is("[[ \"${BASH_SOURCE[0]}\" == \"$0\" ]] && N=4\n" + train + "$N\n", "4");
  is("N=$(echo 4)\n" + train + "$N\n", "4");
  is(": ${N:=4}\nN=$N\n" + train + "$N\n", "4");
  is("echo \"" + train + "9 --bf16 --swiglu\" > log\n" + train + "4\n", "4");
  is("cat > a.sh <<E\n" + train + "4\nE\ncat >> a.sh <<E\necho done\nE\nnohup bash ./a.sh\n", "4");
}

}  // namespace shell_function_spec

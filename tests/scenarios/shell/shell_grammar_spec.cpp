// SPDX-License-Identifier: Apache-2.0
// Lists, pipes, conditions and brackets of a shell's language: which commands of them run, in which
// copy of the shell, and whether they succeed.
#include <string>
#include <vector>

#include "scenarios/jobs/scripts/shell_script.hpp"
#include "tests/catch.hpp"

namespace shell_grammar_spec {

namespace {

// The value of N that a training command behind these commands is given, trouble in angle brackets.
std::string after(const std::string& commands, const std::vector<std::string>& env = {}) {
  const auto job = scenarios::read_shell_script(
      commands + "\ntorchrun pretrain_gpt.py --hidden-size 64 --num-layers $N\n",
      scenarios::arguments_of("megatron"), env);
  for (const auto& argument : job.arguments)
    for (const auto& value : argument.values)
      if (argument.name == "--num-layers" || argument.name.empty())
        return value.trouble.empty() ? value.text : "<" + value.trouble + ">";
  return "none";
}

bool asks(const std::string& commands) {
  return after(commands).find("add --env ") != std::string::npos;
}

}  // namespace

TEST_CASE("commands of a condition are run") {
  CHECK(after("N=2; if N=4 && [ $N = 4 ]; then M=1; fi") == "4");
  CHECK(after("if mode=prod && [ $mode = prod ]; then N=4; else N=2; fi") == "4");
  CHECK(after("N=1; if false; then :; elif N=4; [ $N = 2 ]; then N=6; fi") == "4");
  CHECK(after("N=1; if true; then :; elif N=4; then :; fi") == "1");
  CHECK(after("if read -r N <<< 4; then :; fi") == "4");
  CHECK(after("set -- 2 4; if shift; then N=$1; fi") == "4");
  CHECK(after("N=1; while N=$((N + 1)); [ $N -lt 4 ]; do M=1; done") == "4");
  CHECK(after("N=1; until N=$((N * 2)) && [ $N -gt 5 ]; do :; done") == "8");
  CHECK(after("f() { N=4; false; }; N=2; if f; then N=6; fi") == "4");
  CHECK(after("if A=(2 4) && [ ${A[1]} = 4 ]; then N=4; else N=2; fi") == "4");
  CHECK(asks("N=2; if N=$(nproc); then M=1; fi"));
  CHECK(asks("if x=$(nproc); then N=2; else N=4; fi"));
}

TEST_CASE("a list that runs in the background changes variables for itself alone") {
  CHECK(after("N=2; M=4 && N=4 & wait") == "2");
  CHECK(after("N=2; N=4 && M=4 & wait") == "2");
  CHECK(after("N=2; false || N=4 || N=6 & wait") == "2");
  CHECK(after("N=2; if true; then N=4; fi && M=1 & wait") == "2");
  CHECK(after("N=2; N=4; N=6 && M=1 & wait") == "4");
  CHECK(after("N=2; N=4 | cat && M=1 & wait") == "2");
  CHECK(after("N=2; { N=4 && M=1 & }; wait") == "2");
  CHECK(after("N=2; M=1 && ls no & N=4; wait") == "4");
}

TEST_CASE("commands behind the sign of a redirection run in a copy of the shell, beside the list") {
  CHECK(after("N=4; cat <(N=2; cd /tmp; set -- 6)") == "4");
  CHECK(after("N=4; tee log < /dev/null > >(N=2; cat)") == "4");
  CHECK(after("N=4; while read -r N2; do M=$N2; done < <(N=6; ls; exit 1)") == "4");
  CHECK(after("N=4; mapfile -t L < <(grep x hosts) || { echo no; exit 1; }") == "4");
  CHECK(after("N=2; mapfile -t L < <(false) && N=4") == "4");
  CHECK(after("exec > >(exec tee -a log) 2>&1; N=4") == "4");
  CHECK(after("exec &> >(tee -a log); N=4") == "4");
  CHECK(after("f() { cat <(echo a | sed 's/)/b/'; N=2) \"$1\"; N=$1; }; f 4") == "4");
  CHECK(after("N=2; diff <(ls a) <(ls b); N=4") == "4");
  CHECK(asks("N=2; diff <(ls a) <(ls b) && N=4"));
  CHECK(after("set -- <(ls); N=$1").find("it is the name of a pipe") != std::string::npos);
  CHECK(after("N=4; while read -r l; do :; done < <(torchrun pretrain_gpt.py --num-layers 6 "
              "--hidden-size 64 --bf16)\nexit") == "6");
}

TEST_CASE("brackets, loops and conditions are run where the list that they stand in says so") {
  CHECK(after("N=2; false && if true; then N=4; fi") == "2");
  CHECK(after("N=2; false && for i in 4 6; do N=$i; done") == "2");
  CHECK(after("N=2; true || case a in a) N=4;; esac") == "2");
  CHECK(after("N=2; true && if true; then N=4; fi") == "4");
  CHECK(after("N=2; false && A=(1 2) && N=4") == "2");
  CHECK(after("A=(1 2) && N=4") == "4");
  CHECK(after("A=(1 2) || N=4; N=${N:-2}") == "2");
  CHECK(after("N=2; false && (true; false) || N=4") == "4");
  CHECK(after("N=2; (false) || N=4") == "4");
  CHECK(after("N=2; (false; true) || N=4") == "2");
  CHECK(after("N=2; false && { true | cat; } && N=4") == "2");
  CHECK(after("N=2; false && true | cat && N=4") == "2");
  CHECK(after("(torchrun pretrain_gpt.py --num-layers 6 --bf16 --swiglu && exit); N=4") == "6");
  CHECK(after("false && (cd /tmp; torchrun pretrain_gpt.py --num-layers 6 --bf16 --swiglu)\nN=4") ==
        "4");
}

TEST_CASE("words before a command turn its status or time it") {
  CHECK(after("time N=4") == "4");
  CHECK(after("time { N=2; N=4; }") == "4");
  CHECK(after("time -p { N=2; N=4; }") == "4");
  CHECK(after("N=2; time (N=4)") == "2");
  CHECK(after("time for i in 2 4; do N=$i; done") == "4");
  CHECK(after("time torchrun pretrain_gpt.py --num-layers 4 --bf16; N=2") == "4");
  CHECK(after("N=2; ! { false; } && N=4") == "4");
  CHECK(after("N=2; ! (true) || N=4") == "4");
  CHECK(after("N=2; ! true | false && N=4") == "4");
  CHECK(after("N=2; if ! { true && false; }; then N=4; fi") == "4");
  CHECK(after("N=2; ! ! true && N=4") == "4");
  CHECK(after("N=2; ! N=4 || N=6") == "6");
  CHECK(after("N=2; if (true) then N=4; fi") == "4");
  CHECK(after("N=2; if [[ a = a ]] then N=4; fi") == "4");
  CHECK(after("N=2; { if true; then N=4; fi }") == "4");
  CHECK(after("f() ( N=4; torchrun pretrain_gpt.py --num-layers $N --bf16 ); N=2; f") == "4");
  CHECK(after("f() ( N=4; ); N=2; f") == "2");
}

TEST_CASE("a branch of a case ends behind a loop or another case in it") {
  CHECK(after("case a in a) for i in 2 4; do N=$i; done;; b) N=6;; esac") == "4");
  CHECK(after("case a in a) while false; do :; done;; *) N=6;; esac; N=${N:-4}") == "4");
  CHECK(after("case a in a) case b in b) N=4;; esac;; *) N=6;; esac") == "4");
  CHECK(after("for i in 2 4; do case $i in 2) :;; 4) N=$i;; esac; done") == "4");
}

TEST_CASE("a block succeeds as its last command does") {
  CHECK(after("N=2; if false; then :; fi && N=4") == "4");
  CHECK(after("N=2; if true; then false; fi || N=4") == "4");
  CHECK(after("N=2; if false; then :; elif true; then true; else false; fi && N=4") == "4");
  CHECK(after("N=2; case a in b) false;; esac && N=4") == "4");
  CHECK(after("N=2; case a in a) false;; b) true;; esac || N=4") == "4");
  CHECK(after("N=2; for i in 1 2; do [ $i = 1 ]; done || N=4") == "4");
  CHECK(after("N=2; for i in 1 2; do [ $i = 2 ]; done && N=4") == "4");
  CHECK(after("N=2; for i in 1 2; do [ $i = 2 ] && break; done && N=4") == "4");
  CHECK(after("N=2; for i in; do false; done && N=4") == "4");
  CHECK(after("N=2; while false; do :; done && N=4") == "4");
  CHECK(after("i=0; N=2; while [ $i -lt 2 ]; do i=$((i+1)); false; done || N=4") == "4");
  CHECK(after("N=2; if true; then true; fi | false || N=4") == "4");
  CHECK(after("N=2; nvidia-smi; if true; then :; fi && N=4") == "4");
  CHECK(asks("if true; then nvidia-smi; fi && N=4"));
}

TEST_CASE("a function succeeds as the command does that ends it") {
  CHECK(after("f() { for i in 1 2; do [ $i = 1 ] && return 1; done; }; N=2; f || N=4") == "4");
  CHECK(after("f() { for i in 1 2; do [ $i = 1 ] && return 0; done; return 1; }; N=2; f && N=4") ==
        "4");
  CHECK(after("f() { while true; do return 1; done; }; N=2; if f; then N=6; else N=4; fi") == "4");
  CHECK(after("f() { [ $1 = a ]; }; N=2; f a && N=4") == "4");
  CHECK(after("f() { [ $1 = a ]; }; N=2; f b || N=4") == "4");
  CHECK(after("f() { false; return; }; N=2; f || N=4") == "4");
  CHECK(after("f() { false; return $?; }; N=2; f || N=4") == "4");
  CHECK(after("f() { false || return 3; }; N=2; true && f || N=4") == "4");
  CHECK(after("f() { false; }; N=2; ! f && N=4") == "4");
  CHECK(after("f() { return 1; }; N=2; f | true && N=4") == "4");
  CHECK(asks("f() { nvidia-smi && return 1; for i in 1; do return 0; done; }; N=2; f && N=4"));
}

TEST_CASE("a script that ends before it starts a training is refused with the line") {
  const auto refused = [](const std::string& commands, const std::string& end,
                          const std::vector<std::string>& env = {}) {
    return after(commands, env)
        .starts_with("<the script ends here (" + end + "), before it starts a training; ");
  };
  CHECK(refused("N=4; exit 1", "exit 1"));
  CHECK(refused("N=4; exit", "exit"));
  CHECK(refused("N=4; die() { echo $1; exit 1; }; die x", "exit 1"));
  CHECK(refused("N=4; { echo no; exit 1; }", "exit 1"));
  CHECK(refused("N=4; eval exit 3", "exit 3"));
}

TEST_CASE("an end of something else than the script, or one that may be none, is no refusal") {
  CHECK(after("N=4; [ $N = 8 ] && exit 1") == "4");
  CHECK(after("N=4; (N=2; exit 1)") == "4");
  CHECK(after("N=4; { exit 1; } | cat") == "4");
  CHECK(after("N=4; exit 1 & wait") == "4");
  CHECK(after("N=4; die() { exit 1; }; die | cat") == "4");
  CHECK(after("N=4; for i in 1 2; do exit 1; done | cat") == "4");
  CHECK(after("N=4; bash -c 'exit 1'") == "4");
  CHECK(after("N=4; f() { return 1; N=2; }; f") == "4");
  CHECK(after("N=4; (exit 1; torchrun pretrain_gpt.py --num-layers 6 --bf16 --swiglu)") == "4");
  CHECK(after("N=4; nvidia-smi || exit 1") == "4");
  CHECK(after("torchrun pretrain_gpt.py --num-layers 6 --bf16 --swiglu\nexit 1\nN=4") == "6");
  CHECK(after("torchrun pretrain_gpt.py --num-layers 6\nexit 0\nN=4") == "6");
}

TEST_CASE("an end of the script that a condition, a list or a loop chooses is passed over") {
  CHECK(after("N=4; [ $N = 8 ] || { echo no; exit 1; }") == "4");
  CHECK(after("N=4; if [ $N = 4 ]; then exit 3; fi") == "4");
  CHECK(after("N=4; if [ -z \"${SLURM_JOB_ID:-}\" ]; then exit 3; fi") == "4");
  CHECK(after("N=4; if [[ ${EUID:-1} -ne 0 ]]; then exit 3; fi") == "4");
  CHECK(after("N=4; DATA=''; [[ -z $DATA ]] && { echo no; exit 1; }") == "4");
  CHECK(after("N=4; for i in 1 2; do [ $i = 2 ] && exit 1; done") == "4");
  CHECK(after("N=4; for i in 1 2; do exit 1; done") == "4");
  CHECK(after("N=4; die() { exit 1; }; true && die") == "4");
  CHECK(after("N=4; check() { [ -n \"$1\" ] || exit 1; }; check") == "4");
  CHECK(after("N=2; check() { [ -n \"$1\" ] || exit 1; return 0; }; check && N=4") == "4");
  CHECK(after("NARGS=$#; N=4; if [ $NARGS -lt 1 ]; then exit 1; fi") == "4");
  CHECK(after("while [ $# -gt 0 ]; do case $1 in -n) N=$2; shift 2;; *) shift; exit 1;; esac; done",
              {"1=-n", "2=4", "3=-x"}) == "4");
  // It is none behind a training, or in a copy of the shell.
  CHECK(after("A=a; [ $A = a ] && { torchrun pretrain_gpt.py --num-layers 6; exit; }; N=4") == "6");
  CHECK(after("N=4; ([ $N = 4 ] && exit 1; torchrun pretrain_gpt.py --num-layers 6 --bf16 "
              "--swiglu)") == "4");
  // A script that is not given its arguments says how it is used, and would end.
  const std::string usage = "usage() { echo usage; exit 1; }; N=4; ";
  for (const std::string check :
       {"[ $# -lt 1 ] && exit 1", "if [[ $# -ne 2 ]]; then usage; fi", "(( $# )) || usage",
        "[ -z \"$1\" ] && usage", "case $1 in -h|'') usage;; esac", "[ -z \"$@\" ] && exit 0"}) {
    INFO(check);
    CHECK(after(usage + check) == "4");
  }
}

TEST_CASE("an end that is passed over is named where nothing behind it trains") {
  const auto named = [](const std::string& script) {
    const auto job = scenarios::read_shell_script(script, scenarios::arguments_of("megatron"), {});
    return !job.arguments.empty() && !job.arguments[0].values.empty() &&
           job.arguments[0].values[0].trouble.starts_with("the script ends here (exit 2), ");
  };
  const std::string train = "torchrun pretrain_gpt.py --num-layers 4";
  CHECK(named("case ${1:-} in train) " + train + ";; *) exit 2;; esac\n"));
  CHECK_FALSE(named("[ -n \"$1\" ] || exit 2\n" + train + "\n"));
  CHECK_FALSE(named("[ -n \"$1\" ] || exit 2\nrun() { " + train + "; }\n"));
  CHECK_FALSE(named("[ -n \"$1\" ] || exit 2\nARGS=\"--num-layers 4\"\n"));
}

TEST_CASE("a return from no function is a mistake, with which the script goes on") {
  CHECK(after("N=4; return 1 2> /dev/null") == "4");
  CHECK(after("N=2; return 0 || N=4") == "4");
  CHECK(after("N=4; (return 0) && N=2") == "4");
  CHECK(after("f() { bash -c 'return 1'; N=4; }; N=2; f") == "4");
}

TEST_CASE("brackets that an exit ends succeed as it says") {
  CHECK(after("N=2; (exit 0; false) && N=4") == "4");
  CHECK(after("N=2; (exit 1; true) || N=4") == "4");
  CHECK(after("N=2; (exit 1) || N=4") == "4");
  CHECK(after("N=2; (false; exit) || N=4") == "4");
  CHECK(after("N=2; ([ a = b ] || exit 1; true) || N=4") == "4");
  CHECK(after("N=2; (if true; then exit 1; else true; fi; true) || N=4") == "4");
  CHECK(after("N=2; (for i in 1 16; do [ $i -le 8 ] || exit 1; done; true) || N=4") == "4");
  CHECK(after("N=2; check() ( if [ $1 != a ]; then exit 1; fi; true ); check b || N=4") == "4");
  CHECK(after("N=2; check() { [ $1 = a ] || exit 1; }; (check b; true) || N=4") == "4");
  CHECK(after("N=2; true | (exit 1; true) || N=4") == "4");
  CHECK(after("N=2; ( (exit 1; true); true) && N=4") == "4");
  CHECK(asks("N=2; (cd /none || exit 1; true) && N=4"));
  CHECK(asks("N=2; (for i in 1; do nvidia-smi || exit 1; done; true) && N=4"));
  CHECK(after("(nvidia-smi || exit 1; true && N=4; torchrun pretrain_gpt.py --num-layers $N "
              "--bf16 --swiglu)") == "4");
}

TEST_CASE("a variable that is local in a copy of the shell goes with it") {
  CHECK(after("f() ( N=4; local N=6; ); N=2; f") == "2");
  CHECK(after("f() { local N=6 | true; N=4; }; N=2; f") == "4");
  CHECK(after("f() { { local N=6; sleep 0; } & N=4; wait; }; N=2; f") == "4");
  CHECK(after("f() { (local N=6; echo $N); N=4; }; N=2; f") == "4");
  CHECK(after("f() { local N; (local N=6); N=4; }; N=2; f") == "2");
}

TEST_CASE("a list in quotes without words is no word") {
  CHECK(after("f() { for a in \"$@\"; do N=4; done; }; N=2; f") == "2");
  CHECK(after("f() { for a; do N=4; done; }; N=2; f") == "2");
  CHECK(after("N=2; set --; for a in \"$@\"; do N=4; done") == "2");
  CHECK(after("f() { local all=(\"$@\"); N=$((4 + ${#all[@]})); }; f") == "4");
  CHECK(after("f() { N=$#; }; A=(); g() { f \"${A[@]}\" \"\" \"$*\"; }; g") == "2");
  CHECK(after("f() { for a in \"x$@\"; do N=$a; done; }; f") == "x");
}

TEST_CASE("the status of the command before is asked for") {
  CHECK(asks("nvidia-smi; if [ $? -eq 0 ]; then N=4; else N=2; fi"));
  CHECK(asks("N=2; false; if [ $? -ne 0 ]; then N=4; fi"));
  CHECK(asks("N=2; true; rc=$?; [ $rc -eq 0 ] && N=4"));
  CHECK(after("N=4; nvidia-smi; if [ $? -ne 0 ]; then exit 1; fi") == "4");
}

TEST_CASE("the last command of a pipe is run apart unless an option says otherwise") {
  CHECK(after("N=2; echo 4 | N=4") == "2");
  CHECK(after("shopt -s lastpipe; N=2; echo 4 | N=4") == "4");
  CHECK(after("shopt -s lastpipe; N=2; N=4 | cat") == "2");
  CHECK(after("shopt -s lastpipe; N=2; true | { N=4; M=6; } && N=$((N + M))") == "10");
  CHECK(after("shopt -s lastpipe; N=2; for i in 4 6; do true | N=$i; done") == "6");
  CHECK(after("shopt -s lastpipe; N=2; for N in 4 6; do true | break; done") == "4");
  CHECK(after("shopt -s lastpipe; shopt -u lastpipe; N=2; true | N=4") == "2");
  CHECK(after("(shopt -s lastpipe); N=2; true | N=4") == "2");
  CHECK(after("set -m; shopt -s lastpipe; N=2; true | N=4") == "2");
  CHECK(after("set -eo monitor; shopt -s lastpipe; N=2; true | N=4") == "2");
  CHECK(after("set -m; shopt -s lastpipe; set +m; N=2; true | N=4") == "4");
  CHECK(after("set -euo pipefail; set -- -m; shopt -s lastpipe; N=2; true | N=4") == "4");
  CHECK(asks("nvidia-smi && set -m; shopt -s lastpipe; N=2; true | N=4"));
  CHECK(asks("nvidia-smi && shopt -s lastpipe; N=2; true | N=4"));
}

TEST_CASE("extended patterns stand in tests, and in a case where an option says so") {
  CHECK(after("N=2; [[ 7b == @(7b|13b) ]] && N=4") == "4");
  CHECK(after("N=2; [[ 70b != @(7b|13b) && a == a ]] && N=4") == "4");
  CHECK(after("N=2; if [[ ( 7b = !(7b|13b) ) || x == +(x) ]]; then N=4; fi") == "4");
  CHECK(after("N=2; [[ 7b == \"@(7b|13b)\" ]] || N=4").find("add --env N=") != std::string::npos);
  CHECK(after("shopt -s extglob\nN=2; case 7b in @(7b|13b)) N=4;; esac") == "4");
  CHECK(after("N=2; case 7b in @(7b|13b)) N=4;; esac") ==
        "<bash ends the script at the pattern @(7b|13b) of a case; add shopt -s extglob in a line "
        "before it>");
  CHECK(after("shopt -s extglob\nshopt -u extglob\nN=2; case 7b in @(7b)) N=4;; esac")
            .starts_with("<bash ends"));
}

TEST_CASE("counting loops end where a break, a continue or their sums say so") {
  CHECK(after("for ((i=0;i<8;i++)); do N=$i; [ $i = 3 ] && break; done") == "3");
  CHECK(after("N=0; for ((i=0;i<4;i++)); do [ $i = 1 ] && continue; N=$((N + i)); done") == "5");
  CHECK(after("N=0; for ((i=0;i<4;++i)) do ((N+=i)); done") == "6");
  CHECK(
      after("for ((i=0;i<3;i++)); do for ((j=0;j<3;j++)); do N=$i$j; [ $j = 1 ] && break 2; done; "
            "done") == "01");
  CHECK(after("N=0; i=0; while ((i++ < 3)); do N=$((N + i)); done") == "6");
  CHECK(after("N=8; until ((--N == 4)); do :; done") == "4");
  CHECK(after("N=5; while (( N-- > 2 )); do :; done") == "1");
  CHECK(after("for ((N=1;N<3000;N*=2)); do :; done") == "4096");
  CHECK(asks("N=2; for ((i=0;i<8;i++)); do N=$i; nvidia-smi && break; done"));
}

TEST_CASE("sums assign and count, where their parts are needed") {
  CHECK(after("N=2; ((N++ == 2)) && ((N*=4))") == "12");
  CHECK(after("N=2; ((M = N++ + 1, 1)); N=$((N))").find("add --env") != std::string::npos);
  CHECK(after("N=2; ((M = N++ + 1)); N=$N$M") == "33");
  CHECK(after("N=2; ((0 && N++)); ((1 || N++)); ((1 ? 1 : N++)); N=$N") == "2");
  CHECK(after("N=2; ((1 && ++N)); ((0 || --N)); ((0 ? 1 : N++))") == "3");
  CHECK(after("N=2; let N+=2 N*=2") == "8");
  CHECK(after("N=2; let \"N = 2 * 3\" && N=4") == "4");
  CHECK(after("N=2; ((N -= 2)) || N=4") == "4");
  CHECK(after("N=1; ((N <<= 2))") == "4");
  CHECK(after("M=3; ((N = M = 4)); N=$N$M") == "44");
}

TEST_CASE("a loop that reads a known text takes a turn for each line") {
  CHECK(after("while read x y; do N=$y; done <<< '2 4'") == "4");
  CHECK(after("N=0; while read -r x; do N=$((N + x)); done <<E\n2\n4\nE\n") == "6");
  CHECK(after("M=4; while read x; do N=$x; done <<E\n$M\nE\n") == "4");
  CHECK(after("while IFS=, read -r x y; do N=$y; done <<< 2,4") == "4");
  CHECK(after("while read x; do read N; done <<E\n2\n4\nE\n") == "4");
  CHECK(after("while read x; do [ $x = 4 ] && break; N=$x; done <<E\n2\n4\nE\n") == "2");
  CHECK(after("for i in 1 2; do read N; done <<E\n2\n4\nE\n") == "4");
  CHECK(after("if read N <<< 4; then :; else N=2; fi") == "4");
  CHECK(asks("N=2; while read x; do N=$x; done < file"));
  CHECK(asks("N=2; while read x; do N=$x; done <<< $(nproc)"));
  CHECK(asks("N=2; while read x; do read N < file; done <<< 2"));
}

TEST_CASE("texts that a turn of a loop evaluates run in it") {
  CHECK(after("for i in 2 4; do eval \"N=$i\"; done") == "4");
  CHECK(after("for i in 2 4; do eval 'if [ $i = 4 ]; then N=$i; fi'; done") == "4");
  CHECK(after("f() { N=$1; }; for i in 2 4; do eval f $i; done") == "4");
  CHECK(after("N=2; eval false || N=4") == "4");
  CHECK(after("N=2; for i in 4; do echo 'N=6' > x.sh; cat > y.sh <<E\nN=$i\nE\nsource ./y.sh; "
              "done") == "4");
}

TEST_CASE("getopts reads the arguments that are given, and none without") {
  const std::string loop =
      "N=2; while getopts \"n:vw:\" o; do case $o in n) N=$OPTARG;; v) V=1;; esac; done; ";
  CHECK(after(loop, {"1=-n", "2=4"}) == "4");
  CHECK(after(loop, {"1=-vn4"}) == "4");
  CHECK(after(loop, {"1=-w", "2=-n", "3=-n", "4=8"}) == "8");
  CHECK(after(loop, {"1=x", "2=-n", "3=4"}) == "2");
  CHECK(after(loop) == "2");
  CHECK(after(loop + "shift $((OPTIND - 1)); N=$1", {"1=-v", "2=-n", "3=4", "4=6"}) == "6");
  CHECK(after("while getopts :n: o; do case $o in n) N=$OPTARG;; \\?) N=x$OPTARG;; :) N=y;; esac; "
              "done",
              {"1=-n", "2=4", "3=-q"}) == "xq");
  CHECK(after("f() { local OPTIND o; while getopts n: o; do N=$OPTARG; done; }; f -n 2; f -n 4") ==
        "4");
  CHECK(after("getopts ab o -b && N=$o") == "b");
  CHECK(asks("N=2; f() { while getopts n: o; do N=$OPTARG; done; }; f -n 4 $(nproc)"));
}

TEST_CASE("arguments are chosen and shifted as in a shell") {
  CHECK(after("N=${@: -1}", {"1=2", "2=4"}) == "4");
  CHECK(after("N=${@: -2:1}", {"1=2", "2=4"}) == "2");
  CHECK(after("N=${@:2:1}", {"1=2", "2=4", "3=6"}) == "4");
  CHECK(after("N=${@:$#}", {"1=2", "2=4"}) == "4");
  CHECK(after("f() { N=${@: -1}; }; f 2 4 6; N=$N") == "6");
  CHECK(after("f() { shift; N=${*:$(($# - 1)):1}; }; f 2 4 6 8; N=$N") == "6");
  CHECK(after("N=2; shift 3 || N=4; N=$N$1", {"1=6", "2=8"}) == "46");
  CHECK(after("N=2; shift 2 && N=4; N=$N$1", {"1=6", "2=8", "3=1"}) == "41");
  CHECK(after("f() { shift 3; N=$1; }; f 2 4") == "2");
  CHECK(after("N=${@: -1}").starts_with("<"));
  CHECK(after("set -- 2 4; (shift; set -- 6 8); set -- 7 | cat; N=$1") == "2");
}

}  // namespace shell_grammar_spec

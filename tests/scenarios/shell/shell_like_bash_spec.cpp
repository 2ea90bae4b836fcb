// SPDX-License-Identifier: Apache-2.0
// Parts of a shell's language whose values are those of bash, or are asked for.
#include <map>
#include <string>
#include <vector>

#include "scenarios/jobs/scripts/shell_script.hpp"
#include "scenarios/shell/braces.hpp"
#include "tests/catch.hpp"

namespace shell_like_bash_spec {

namespace {

using Files = std::map<std::string, std::string>;

scenarios::FrameworkJob job_of(const std::string& text, const Files& files = {}) {
  return scenarios::read_shell_script(
      text, scenarios::arguments_of("megatron"), {}, [&](const std::string& name) {
        const auto found = files.find(name);
        return found == files.end() ? std::nullopt : std::optional(found->second);
      });
}

// The value of --num-layers in a script, with trouble in angle brackets.
std::string layers_of(const scenarios::FrameworkJob& job) {
  for (const auto& argument : job.arguments)
    for (const auto& value : argument.values)
      if (argument.name == "--num-layers")
        return value.trouble.empty() ? value.text : "<" + value.trouble + ">";
  return "none";
}

const std::string command = "torchrun pretrain_gpt.py --hidden-size 64 --num-layers ";

// The value of N behind these commands.
std::string after(const std::string& commands) {
  return layers_of(job_of(commands + "\n" + command + "$N\n"));
}
bool asked(const std::string& commands) {
  return after(commands).find("add --env N=VALUE") != std::string::npos;
}

// The value in a script that is started by this line with "other.sh" beside it.
std::string started(const std::string& line) {
  return layers_of(job_of(line + "\n", {{"other.sh", command + "${N:-1}\n"}}));
}

std::string listed(const scenarios::FrameworkJob& job, const std::string& name) {
  std::string all;
  for (const auto& option : job.launcher)
    if (option.name == name) all += option.text;
  return all;
}

}  // namespace

TEST_CASE("braces outside of quotes make several words of one") {
  const auto words = [](const std::string& raw) {
    std::string all;
    for (const auto& word : scenarios::braced(raw)) all += (all.empty() ? "" : " ") + word;
    return all;
  };
  CHECK(words("x{1,2}") == "x1 x2");
  CHECK(words("{1..3}") == "1 2 3");
  CHECK(words("{8..2..3}y") == "8y 5y 2y");
  CHECK(words("{a..c}") == "a b c");
  CHECK(words("{a,b{1,2}}{x,}") == "ax a b1x b1 b2x b2");
  for (const auto* same : {"{}", "{a}", "'{1,2}'", "\"{1..3}\"", "${A:-1,2}", "{1..$N}", "{01..3}"})
    CHECK(words(same) == same);
  const std::string many(100'000, '{');
  CHECK(scenarios::braced(many) == std::vector{many});
}

TEST_CASE("loops go over words of braces, of seq and of parts of arrays") {
  CHECK(after("for i in {1..3}; do N=$i; done") == "3");
  CHECK(after("for i in $(seq 8 -2 4); do N=$i; done") == "4");
  CHECK(after("A=(1 2 4); for i in \"${A[@]:0:2}\"; do N=$i; done") == "2");
  CHECK(after("A=(1 2 4); for i in \"${A[@]:2}\"; do N=$i; done") == "4");
  CHECK(after("A=(x{1,2} y); N=${#A[@]}") == "3");
}

TEST_CASE("a variable that a loop sets is said to be in one") {
  CHECK(after("for i in {1..$X}; do\nN=$i\ndone") ==
        "<N is set in line 2 in a loop, or in a function that is not called, which needs a shell; "
        "add --env N=VALUE>");
}

TEST_CASE("outputs of basename, dirname and printf of known words are known") {
  CHECK(after("N=$(basename conf/2.yaml .yaml)") == "2");
  CHECK(after("N=$(basename \"$(dirname conf/4/a.yaml)\")") == "4");
  CHECK(after("N=$(dirname 8/)x; N=${N%x}; N=$(printf '%s%d' '' 6)") == "6");
  CHECK(after("N=$(printf '%5d' 6)").starts_with("<N: it is the output of a command"));
  CHECK(layers_of(job_of("$(printf '%s ' " + command + "2)\n")) == "2");
}

TEST_CASE("a variable without value names a file before it that is not there") {
  CHECK(
      after("source ./env.sh") ==
      "<N has no value in this file, and ./env.sh, sourced in line 1, is not beside it; add --env "
      "N=VALUE>");
}

TEST_CASE("numbers have the bases and the operators of C") {
  CHECK(after("N=$((010))") == "8");
  CHECK(after("N=$((0x10 | 1))") == "17");
  CHECK(after("N=$((1 << 2 & 6 ^ 1))") == "5");
  CHECK(after("N=$((~-3 + 8 >> 1))") == "5");
  CHECK(after("N=$((08))").starts_with("<"));
  CHECK(after("X=010; if [ $X -eq 8 ]; then N=2; else N=4; fi") == "4");
  CHECK(asked("N=4; X=$((N++))"));
  CHECK(after("N=4; X=$((N == 4 ? N - -1 : N <= 4))") == "4");
  CHECK(asked("X=010; if [[ $X -eq 8 ]]; then N=2; else N=4; fi"));
}

TEST_CASE("elements of arrays count from the end, and need no sign in a sum") {
  CHECK(after("A=(1 2 4); N=${A[-1]}") == "4");
  CHECK(after("A=(1 2 4); N=${A[-2]}") == "2");
  CHECK(after("A=(1 2 4); N=${A[-4]}").starts_with("<"));
  CHECK(after("A=(1 2 4); N=$((A[1]+2))") == "4");
  CHECK(after("A=(1 2 4); I=2; N=$((A[I] * 2))") == "8");
  CHECK(after("declare -A H=([7b]=12 [8b]=24); S=8b; N=$(( H[$S]*8/3 ))") == "64");
  CHECK(after("A=(1); N=$((B[0]+2))").starts_with("<"));
  CHECK(after("A=(1); N=$((A[0 + 2))").starts_with("<"));
}

TEST_CASE("numbers may have a base in front of them") {
  CHECK(after("TP=08; N=$((10#$TP))") == "8");
  CHECK(after("N=$((2#101 + 16#f))") == "20");
  CHECK(after("N=$((2#3))").starts_with("<"));
  CHECK(after("N=$((99#3))").starts_with("<"));
}

TEST_CASE("a test may ask whether a variable has a value") {
  CHECK(after("TP=2; if [[ -v TP ]]; then N=2; else N=4; fi") == "2");
  CHECK(after("TP=2; unset TP; if [ -v TP ]; then N=2; else N=4; fi") == "4");
  CHECK(after("if [[ -v TP ]]; then N=2; else N=4; fi").find("add --env TP=VALUE") !=
        std::string::npos);
}

TEST_CASE("printf -v assigns what it prints of known words") {
  CHECK(after("printf -v N \"%s%d\" '' 8") == "8");
  CHECK(after("X=4; printf -v N '%d' \"$X\"") == "4");
  CHECK(asked("printf -v N '%05.2f' 8"));
}

TEST_CASE("a loop that counts takes its turns") {
  CHECK(after("N=0; for ((i=0;i<4;i++)); do N=$((N + 2)); done") == "8");
  CHECK(after("X=3; for (( i = 0; i < X; i += 2 )); do A+=(x); done; N=${#A[@]}") == "2");
  CHECK(after("A=(); for ((i=0;i<1000;i++)); do A+=(x); done; N=${#A[@]}") == "1000");
  CHECK(after("for ((i=8;i>4;i--)); do N=$i; done") == "5");
  CHECK(after("N=1; for ((i=0;i<4;i++)) do N=$((N + 3)); done") == "13");
  CHECK(asked("N=2; for ((i=0;i<3;i++)); do N=$((N * 2)); eval break; done"));
  CHECK(after("for ((i=0;i<2;i++)); do for ((j=0;j<3;j++)); do N=$i$j; done; done") == "12");
  CHECK(after("N=2; for ((i=0;i<0;i++)); do N=4; done") == "2");
  CHECK(asked("for ((i=0;i<X;i++)); do N=$i; done"));
  CHECK(asked("for ((i=0;i<2000;i++)); do N=$i; done"));
  CHECK(asked("for ((i=0;;i++)); do N=$i; done"));
  CHECK(after("for ((i=0;i<4;i++)); do N=$i; break; done") == "0");
}

TEST_CASE("a function's status decides where it is known") {
  CHECK(after("f() { return 1; }; if f; then N=2; else N=4; fi") == "4");
  CHECK(after("f() { [ $1 == a ] && return 0; return 1; }; if ! f b; then N=2; else N=4; fi") ==
        "2");
  CHECK(after("f() { return 0; }; N=1; f && N=2") == "2");
  CHECK(asked("f() { [ -f x ] && return 0; return 1; }; if f; then N=2; else N=4; fi"));
  CHECK(asked("f() { nvidia-smi; }; if f; then N=2; else N=4; fi"));
}

TEST_CASE("read and mapfile take known texts apart") {
  CHECK(after("IFS=, read -ra X <<< \"2,4\"; N=${X[1]}") == "4");
  CHECK(after("read -r X N <<< \"2 4\"") == "4");
  CHECK(after("mapfile -t X <<< $'2\\n4'; N=${X[1]}") == "4");
  CHECK(asked("N=2; read -r N <<< \"$(nproc)\""));
  CHECK(asked("N=2; while read -r N; do :; done < file"));
}

TEST_CASE("lines without text count in mapfile") {
  CHECK(after("mapfile -t L <<< $'1\\n\\n4\\n2'; N=${L[2]}") == "4");
  CHECK(after("mapfile -t L <<< $'1\\n\\n4\\n2'; N=${#L[@]}") == "4");
  CHECK(after("mapfile -t L <<EOF\n1\n\n4\nEOF\nN=${#L[@]}") == "3");
}

TEST_CASE("a default without a colon is for variables without value alone") {
  CHECK(after("E=; A=${E-4}2; N=$A") == "2");
  CHECK(after("E=; A=${E:-4}2; N=$A") == "42");
  CHECK(after("E=; : ${E=4}; N=${E}2") == "2");
  CHECK(after("E=; : ${E:=4}; N=${E}2") == "42");
  CHECK(after("E=1; unset E; N=${E-4}") == "4");
  CHECK(after("N=${E-4}") == "4");
  CHECK(after("f() { N=${1-4}2; }; f ''") == "2");
  CHECK(after("f() { N=${1-4}2; }; f") == "42");
  CHECK(after("A=(); N=${A-4}") == "4");
  CHECK(layers_of(job_of("E=\n" + command + "2 ${E---num-layers 4}\n")) == "2");
}

TEST_CASE("a default that a word assigns stays with its variable") {
  CHECK(after("A=x${E:=4}; N=$E") == "4");
  CHECK(after("A=\"${E:=4}-${F:=2}\"; N=$E$F") == "42");
  CHECK(after("echo ${E:=${F:=2}}; N=$E$F") == "22");
  CHECK(after("E=6; A=${E:=4}; N=$E") == "6");
  CHECK(after("E=6; A='${E:=4}' B=$(echo ${E=4}); N=$E") == "6");
  CHECK(after("A='${E:=4}' B=$(echo ${E=4}); N=${E:-2}") == "2");
  CHECK(after("A=\\${E:=4}; N=${E:-2}") == "2");
  CHECK(layers_of(job_of(command + "${E:=2}\n")) == "2");
  CHECK(after("if unknown; then A=${E:=4}; fi; N=$E").find("is set under a condition in line") !=
        std::string::npos);
}

TEST_CASE("an array without brackets is its first element") {
  CHECK(after("A=(2 4); N=$A") == "2");
  CHECK(after("A=(2 4); A=6; N=$A${A[1]}") == "64");
  CHECK(after("A=(2 4); A+=6; N=$A${A[1]}") == "264");
  CHECK(after("A=(2 4); A+=(6); N=${A[2]}") == "6");
  CHECK(after("A=(2 4); N=${A:-8}") == "2");
  CHECK(after("A=(2 4); A=8; unset A; A=6; N=$A") == "6");
  const std::string list = "A=(--num-layers 4)\ntorchrun pretrain_gpt.py --hidden-size 64 ";
  CHECK(layers_of(job_of(list + "${A[@]}\n")) == "4");
  CHECK(layers_of(job_of(list + "\"${A[@]}\"\n")) == "4");
  CHECK(layers_of(job_of(list + "${A[*]}\n")) == "4");
  CHECK(layers_of(job_of(list + "$A 8\n")) == "8");
}

TEST_CASE("a backslash outside of quotes keeps its sign from the shell") {
  CHECK(after("X=--a\\ 4; set -- $X; N=$2") == "4");
  CHECK(after("X=--a\\ 4; Y=$X; N=${#Y}") == "5");
  CHECK(after("X=a\\$b; N=${#X}") == "3");
  CHECK(after("X=2\\4; N=$X") == "24");
}

TEST_CASE("a comment between lines that go on is no argument") {
  CHECK(layers_of(job_of(command + "`# number` 2 \\\n `# width` --seq-length 8\n")) == "2");
}

TEST_CASE("values are split where IFS says it") {
  CHECK(after("IFS=,; X=\"2,4\"; for i in $X; do N=$i; done") == "4");
  CHECK(after("OLD=$IFS; IFS=:; X=2:4; A=($X); IFS=$OLD; N=${A[1]}") == "4");
  CHECK(after("IFS=$(cat x); X='2 4'; for i in $X; do N=$i; done").starts_with("<"));
}

TEST_CASE("options and declarations of a shell have their effect, or leave a variable in doubt") {
  CHECK(after("shopt -s nocasematch; case FP8 in fp8) N=2;; *) N=4;; esac") == "2");
  CHECK(after("case FP8 in fp8) N=2;; *) N=4;; esac") == "4");
  CHECK(after("shopt -s extglob; case ab in !(x|ab)) N=2;; *) N=4;; esac") == "4");
  CHECK(after("declare -i N=2*2") == "4");
  CHECK(after("declare \"N=2\"") == "2");
  CHECK(after("K=N; export \"$K\"=4") == "4");
  CHECK(asked("N=1; declare -n R=N; R=2"));
}

TEST_CASE("declarations expand all of their words before they assign one") {
  CHECK(after("A=8; export A=4 N=$A") == "8");
  CHECK(after("f() { local A=7; local A=1 B=$((A*4)); N=$B; }; f") == "28");
  CHECK(after("A=8; declare A=4 \"N=$A\"") == "8");
  CHECK(after("A=8; readonly A=4 N=\"${A}0\"") == "80");
  CHECK(after("A=4 N=$A") == "4");
  CHECK(after("export A=4 N=$A").find("--env A=VALUE") != std::string::npos);
}

TEST_CASE("declarations in functions are theirs alone, unless they say otherwise") {
  CHECK(after("N=2; f() { declare N=4; }; f") == "2");
  CHECK(after("N=2; f() { declare -g N=4; }; f") == "4");
  CHECK(after("N=2; f() { declare -g N; }; f") == "2");
  CHECK(after("f() { readonly N=4; }; f") == "4");
  CHECK(after("f() { declare -ga A=(2 4); }; f; N=${A[1]}") == "4");
  CHECK(started("g() { local -x N=6; }; g; N=5; bash other.sh") == "1");
  CHECK(started("g() { bash other.sh; }; N=3 g") == "3");
}

TEST_CASE("variables keep what a declaration says of their values") {
  CHECK(after("declare -i N=2; N+=2") == "4");
  CHECK(after("declare -i N=2; N=3*2") == "6");
  CHECK(after("declare -i N=2; N=\"N + 1\"") == "3");
  CHECK(after("declare -i N=2; declare +i N; N+=2") == "22");
  CHECK(after("declare -i N=2; unset N; N=2; N+=2") == "22");
  CHECK(after("declare -i N=2; f() { local N=1; N+=1; A=$N; }; f; N=$A") == "11");
  CHECK(after("declare -l A=ABC; case $A in abc) N=2;; *) N=4;; esac") == "2");
  CHECK(after("declare -u A; A=abc; case $A in ABC) N=2;; *) N=4;; esac") == "2");
}

TEST_CASE("a program that is started sees exported variables alone") {
  CHECK(started("N=2; bash other.sh") == "1");
  CHECK(started("N=2; source other.sh") == "2");
  CHECK(started("export N=2; bash other.sh") == "2");
  CHECK(started("N=2; export N; bash other.sh") == "2");
  CHECK(started("declare -x N=2; bash other.sh") == "2");
  CHECK(started("set -a; N=2; bash other.sh") == "2");
  CHECK(started("env N=2 bash other.sh") == "2");
  CHECK(started("sbatch --export=ALL,N=2 other.sh") == "2");
  CHECK(started("N=2; bash -c '" + command + "${N:-1}'") == "1");
  CHECK(started("N=2; bash -c \"" + command + "${N:-1}\"") == "2");
  CHECK(started("N=2 srun bash -c '" + command + "${N:-1}'") == "2");
}

TEST_CASE("variables that are exported no more are not seen by programs that are started") {
  CHECK(started("set -a; N=2; set +a; bash other.sh") == "2");
  CHECK(started("set -a; M=4; set +a; N=2; bash other.sh") == "1");
  CHECK(started("set -o allexport; M=4; set +o allexport; N=2; bash other.sh") == "1");
  CHECK(started("set -o allexport; N=2; bash other.sh") == "2");
  CHECK(started("N=2; set -a; bash other.sh") == "1");
  CHECK(started("export N; unset N; N=2; bash other.sh") == "1");
  CHECK(started("export N=2; (unset N); bash other.sh") == "2");
  CHECK(started("(export N=4); N=2; bash other.sh") == "1");
  CHECK(started("N=2; [ -f x ] && export N; bash other.sh") ==
        "<N is exported under a condition in line 1, which needs a shell; add --env N=VALUE>");
  CHECK(started("N=2; [ -f x ] && set -a; N=4; bash other.sh").find("--env N=VALUE") !=
        std::string::npos);
  CHECK(started("export N=2; export -n N; bash other.sh") == "1");
  CHECK(started("export N=2; export -n N; N=4; export M=N; bash other.sh") == "1");
  CHECK(started("declare -x N=2; declare +x N; bash other.sh") == "1");
  CHECK(after("export N=2; export -n N") == "2");
  CHECK(started("export N=2; env -i PATH=/bin bash other.sh") == "1");
  CHECK(started("export N=2; env -i N=4 bash other.sh") == "4");
  CHECK(started("export N=2; env PATH=/bin bash other.sh") == "2");
}

TEST_CASE("values for a program that is started are made of all variables of the shell") {
  CHECK(started("M=2; N=$M bash other.sh") == "2");
  CHECK(started("M=2; env -i N=$M bash other.sh") == "2");
  CHECK(started("M=2; sbatch --export=ALL,N=$M other.sh") == "2");
  CHECK(started("M=2 N=$M bash other.sh") == "2");
}

TEST_CASE("branches of a case may have extended patterns") {
  const auto fits = [](const std::string& text, const std::string& pattern) {
    return after("shopt -s extglob\ncase " + text + " in " + pattern + ") N=2;; *) N=4;; esac") ==
           "2";
  };
  CHECK(fits("7b", "@(7b|13b)"));
  CHECK(fits("llama-7b-chat", "llama-@(7b|13b)*"));
  CHECK(fits("llama-13b", "x|llama-@(7b|13b)"));
  CHECK(fits("''", "?(7b)"));
  CHECK(fits("128", "+([0-9])"));
  CHECK(fits("abb", "a@(c|+(b))"));
  CHECK(fits("70b", "!(7b|13b)"));
  CHECK(!fits("7b", "!(7b|13b)"));
  CHECK(!fits("llama-70b", "llama-@(7b|13b)"));
  CHECK(after("shopt -s extglob\ncase 7b in @(\"$X\"|b)) N=2;; *) N=4;; esac").starts_with("<"));
}

TEST_CASE("loops and groups in a pipe or in the background change variables for themselves alone") {
  for (const std::string apart :
       {"cat x | while read -r line; do N=2; done", "for i in 2 3; do N=$i; done | tee log",
        "for i in 2 3; do N=$i; done &", "{ N=2; } &", "cat x | { read -r M; N=2; }",
        "if true; then N=2; fi | cat", "cat x |\n  while read -r line; do N=2; done",
        "echo b | case a in a) N=2;; esac", "{ for i in 2 3; do N=$i; done; } > log 2>&1 &",
        "(N=2; for i in 2 3; do N=$i; done)", "cat x | while read -r line; do exit; done"}) {
    INFO(apart);
    CHECK(after("N=4\n" + apart) == "4");
  }
  CHECK(after("N=4; { N=2; }") == "2");
  CHECK(after("N=4; for i in 2 3; do N=$i; ls | cat; done") == "3");
  CHECK(after("N=4; while ls | grep -q x; do break; done; for i in 2; do N=$i; done") == "2");
  CHECK(started("{ N=2; for i in 1 2; do N=$((N * 2)); done\n" + command + "$N; } | tee log") ==
        "8");
  CHECK(started("for N in 4; do (M=$N; " + command + "$M) & done; wait") == "4");
}

TEST_CASE("a program that env starts does not see the variables that it takes away") {
  CHECK(started("export N=2; env -u N bash other.sh") == "1");
  CHECK(started("export N=2; env -uN bash other.sh") == "1");
  CHECK(started("export N=2; env --unset=N bash other.sh") == "1");
  CHECK(started("export N=2 M=4; env -u N N=$M bash other.sh") == "4");
  CHECK(started("export N=2; env -u M bash other.sh") == "2");
  CHECK(started("N=2; env -u N " + command + "$N") == "2");
  CHECK(started("export N=2; env -u N bash -c '" + command + "${N:-1}'") == "1");
  CHECK(started("export N=2; env -u N true; bash other.sh") == "2");
}

TEST_CASE("a shell that is started has the functions that are exported") {
  const auto body = "train() { " + command + "${1:-${N:-1}}; }\n";
  CHECK(started(body + "export -f train\nbash -c 'train 4'") == "4");
  CHECK(started(body + "export -f train\nexport N=2\nsrun --nodes 2 bash -c train") == "2");
  CHECK(started(body + "export -f train\nN=2\nbash -c train") == "1");
  CHECK(started(body + "declare -fx train\nbash -c 'train \"$@\"' name 8") == "8");
  CHECK(started(body + "export -f train\ncat > x.sh <<'X'\ntrain 6\nX\nbash x.sh") == "6");
  CHECK(started(body + "export -f train; export -nf train\nbash -c 'train 4' || " + command +
                "2") == "2");
}

TEST_CASE("a part that cut takes of a known line is known") {
  CHECK(after("N=$(echo TP=2 | cut -f2 -d=)") == "2");
  CHECK(after("A=PP=4=5; N=`echo $A | cut -d '=' -f 2`") == "4");
  CHECK(after("N=$(echo 7 | cut -d= -f1)") == "7");  // a line without the sign is whole
  CHECK(after("N=$(echo a:b 3 | cut -d' ' -f2)") == "3");
  CHECK(asked("N=$(echo 1,2 | cut -d, -f1,2)"));
  CHECK(asked("N=$(hostname | cut -d, -f1)"));
  CHECK(after("KEY=$(echo N=2 | cut -f1 -d=)\nexport \"$KEY\"=\"2\"\nN=\"${N:-8}\"") == "2");
}

TEST_CASE("a variable that is set by a name which only a shell can tell is listed") {
  const auto set = [](const std::string& line) {
    return listed(job_of("KEY=$(hostname)\n" + line + "\n" + command + "2\n"), "source");
  };
  CHECK(set("export \"$KEY\"=\"2\"") == "export \"$KEY\"=\"2\"");
  CHECK(set("declare $KEY=2") == "declare $KEY=2");
  CHECK(set("export NAME=$KEY").empty());
  CHECK(set("KEY=NAME; export \"$KEY\"=2").empty());
  CHECK(after("N=1; KEY=$(hostname); export N=4 \"$KEY\"=2") == "4");
  CHECK(after("N=1; KEY=$(hostname); export \"$KEY\"=2 N=4") == "4");
}

TEST_CASE("commands that another command prints for a shell are listed") {
  CHECK(listed(job_of("generate 4 | bash\n" + command + "2\n"), "piped") == "| bash");
  CHECK(listed(job_of("$(generate 4)\n" + command + "2\n"), "piped") == "$(generate 4)");
}

}  // namespace shell_like_bash_spec

// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "scenarios/jobs/scripts/shell_script.hpp"
#include "scenarios/shell/words.hpp"
#include "tests/catch.hpp"

namespace shell_script_spec {

using scenarios::ShellVariables;

namespace {

const auto& table() { return scenarios::arguments_of("megatron"); }

scenarios::FrameworkJob script(const std::string& text, const std::vector<std::string>& env = {}) {
  return scenarios::read_shell_script(text, table(), env);
}

// The arguments as "--a 1 | --b", with trouble in angle brackets.
std::string shown(const std::vector<scenarios::JobArgument>& arguments) {
  std::string all;
  for (const auto& argument : arguments) {
    all += (all.empty() ? "" : " | ") + argument.name;
    for (const auto& value : argument.values)
      all += " " + (value.trouble.empty() ? value.text : "<" + value.trouble + ">");
  }
  return all;
}

std::string expanded(const std::string& raw, const std::vector<std::string>& env = {}) {
  ShellVariables variables(env);
  variables.assign("A", {{"x y", {}, {}}});
  variables.assign("L", {{"p q", {}, {}}, {"r", {}, {}}});
  std::string all;
  for (const auto& word : variables.expanded(raw, {}))
    all += "[" + (word.trouble.empty() ? word.text : "?" + word.trouble) + "]";
  return all;
}

}  // namespace

TEST_CASE("a word is expanded as a shell does it, as far as that takes no shell") {
  CHECK(expanded("a\\ b") == "[a b]");
  CHECK(expanded("'$A'\"$A\"") == "[$Ax y]");
  CHECK(expanded("$A") == "[x][y]");
  CHECK(expanded("-${A}-") == "[-x][y-]");
  CHECK(expanded("\"${L[@]}\"") == "[p q][r]");
  CHECK(expanded("${L[@]}") == "[p][q][r]");
  CHECK(expanded("${B:-8}") == "[8]");
  CHECK(expanded("${B:-${A}}") == "[x][y]");
  CHECK(expanded("\"\"") == "[]");
  CHECK(expanded("$A", {"A=1"}) == "[1]");
}

TEST_CASE("text that needs a shell is named, with what to write instead") {
  CHECK(expanded("$B") == "[?B has no value in this file; add --env B=VALUE]");
  CHECK(expanded("$(nproc)") == "[?it is the output of a command, which needs a shell]");
  CHECK(expanded("`nproc`") == "[?it is the output of a command, which needs a shell]");
  CHECK(expanded("$((1, 2))") == "[?it is calculated, which needs a shell]");
  CHECK(expanded("$((N * 2))") == "[?N has no value in this file; add --env N=VALUE]");
  CHECK(expanded("$(($N * 2))") == "[?N has no value in this file; add --env N=VALUE]");
  CHECK(expanded("$1") == "[?it is $1, an argument of the script; add --env 1=VALUE]");
  CHECK(expanded("${A@Q}") == "[?${A@Q} needs a shell]");
}

TEST_CASE("commands that tell the script's folder are known, as it is started there") {
  for (const auto* raw :
       {"`pwd`", "$(pwd)", "$(dirname \"$0\")", "$( cd $(dirname $0) && pwd )",
        "$(dirname \"${BASH_SOURCE[0]}\")", "${0%/*}", "${BASH_SOURCE[0]%/*}",
        "$( cd -- \"$( dirname -- \"${BASH_SOURCE[0]}\" )\" &> /dev/null && pwd )",
        "$(cd \"$(dirname \"${BASH_SOURCE[0]:-$0}\")\" >/dev/null 2>&1 && pwd -P)",
        "$(realpath $(dirname $0))", "$(dirname $(realpath $0))",
        "$(dirname \"$(readlink -f \"$0\")\")", "$(cd `dirname $0`; pwd)"}) {
    INFO(raw);
    CHECK(expanded(raw) == "[./.]");
  }
  CHECK(expanded("$(cd $(dirname $0)/.. && pwd)") == "[././..]");
  CHECK(expanded("`pwd`/a.json") == "[././a.json]");
  for (const auto* raw : {"$(dirname $(dirname $0))", "$(basename $0)", "$(cd $B && pwd)",
                          "$(dirname $A)", "$(pwd | wc -c)"}) {
    INFO(raw);
    CHECK(expanded(raw).starts_with("[?"));
  }
}

TEST_CASE("a command that a script shows before it runs it is read as it is run") {
  const auto job = script(
      "D=$(nproc)\nrun=\"torchrun --nproc_per_node 8 $D/pretrain_gpt.py --num-layers 2 &> "
      "$D.log\"\n"
      "echo ${run}\neval ${run}\n");
  CHECK(shown(job.arguments) == "--num-layers 2");
  CHECK(job.launcher.size() == 1);
  CHECK(shown(script("echo pretrain.py --num-layers 2\n").arguments) == "--num-layers 2");
}

TEST_CASE("sums of whole numbers are calculated") {
  CHECK(expanded("$((1 + 2 * 3))") == "[7]");
  CHECK(expanded("$(( (17 - 3) / 4 % 2 ))") == "[1]");
  CHECK(expanded("-$((-3 + 1))-") == "[--2-]");
  CHECK(expanded("$((N * $M))", {"N=4", "M=8"}) == "[32]");
  CHECK(expanded("$((${M:-2} * 8))") == "[16]");
  for (const auto* none :
       {"$((1 / 0))", "$((9223372036854775807 + 1))", "$((09))", "$((1 +))", "$((1 << 63))",
        "$((1 = 1))", "$((2 ** -1))", "$((2 ** 63))", "$((1 ? 2))", "$((1 ? 2 : 1 / 0))"})
    CHECK(expanded(none) == "[?it is calculated, which needs a shell]");
  CHECK(expanded("$((A * 2))", {"A=010"}) == "[16]");
  // A shell would also count M down.
  CHECK(expanded("$((16 - --M))", {"M=8"}) == "[?it is calculated, which needs a shell]");
  CHECK(expanded("$((16 - --5))") == "[11]");
}

TEST_CASE("comparisons, conditions and powers of whole numbers are calculated as C binds them") {
  CHECK(expanded("$(( ($TP > 1) ? 1 : 0 ))", {"TP=2"}) == "[1]");
  CHECK(expanded("$(( TP > 1 ? TP == 4 ? 10 : 20 : 0 ))", {"TP=2"}) == "[20]");
  CHECK(expanded("$(( 1 + 1 == 2 && 3 <= 2 + 1 || 0 ))") == "[1]");
  CHECK(expanded("$(( !(2 >= 3) + !5 ))") == "[1]");
  CHECK(expanded("$(( 0 && 1 || 1 && 0 ))") == "[0]");
  CHECK(expanded("$(( 1 != 2 < 3 ))") == "[0]");  // 2 < 3 comes first
  CHECK(expanded("$(( 2 * 2 ** 3 ** 2 ))") == "[1024]");
  CHECK(expanded("$(( 10 - 4 - 3 ))") == "[3]");
  CHECK(expanded("$(( (-1) ** 3 + 0 ** 0 ))") == "[0]");
}

TEST_CASE("lines that a variable is read from are its value") {
  const std::string lines = "--num-layers 4 \\\n--hidden-size $H\nEOF\n";
  const std::string run = "torchrun pretrain_gpt.py $A --bf16";
  CHECK(shown(script("H=64\nread -r -d '' A <<EOF\n" + lines + run).arguments) ==
        "--num-layers 4 | --hidden-size 64 | --bf16");
  CHECK(shown(script("H=64\nA=$(cat <<EOF\n" + lines + ")\n" + run).arguments) ==
        "--num-layers 4 | --hidden-size 64 | --bf16");
  CHECK(shown(script("read -r -d '' A <<'EOF'\n--num-layers $N\nEOF\n" + run).arguments) ==
        "--num-layers $N | --bf16");
  for (const std::string read :
       {"read -r -d '' A <<EOF || true", "IFS='' read -rd '' A <<\"EOF\"",
        "IFS= read -d \"\" -r A <<'EOF' || :", "read -rd $'\\0' A <<EOF"}) {
    INFO(read);
    CHECK(shown(script(read + "\n--num-layers 4\n--hidden-size 64\nEOF\n" + run).arguments) ==
          "--num-layers 4 | --hidden-size 64 | --bf16");
  }
  CHECK(shown(script("read -r A <<EOF\n--num-layers 4\n--hidden-size 64\nEOF\n" + run).arguments) ==
        "--num-layers 4 | --bf16");
  CHECK(shown(script("read -r B A <<EOF\n--x --swiglu\nEOF\n" + run).arguments) ==
        "--swiglu | --bf16");
}

TEST_CASE("trouble inside of a text that needs a shell is that of the argument that it stands in") {
  const auto job = script(
      "A=\"--num-layers 4 --tokenizer-model $MODEL/x --hidden-size $(nproc)\"\n"
      "torchrun pretrain_gpt.py $A --bf16\n");
  CHECK(shown(job.arguments) ==
        "--num-layers 4 | --tokenizer-model <MODEL has no value in this file; add --env "
        "MODEL=VALUE> | --hidden-size <A: it is the output of a command, which needs a shell; add "
        "--env "
        "A=VALUE> | --bf16");
}

TEST_CASE("variables and arrays may be declared") {
  CHECK(shown(script("declare -a A=(--num-layers 4)\ndeclare -ri N=64\nA+=(--hidden-size $N)\n"
                     "torchrun pretrain_gpt.py \"${A[@]}\" --bf16")
                  .arguments) == "--num-layers 4 | --hidden-size 64 | --bf16");
}

TEST_CASE("a command inside of one text is read: of bash -c, ssh and their like") {
  CHECK(shown(script("for h in a b; do ssh $h \"cd /w && torchrun --nnodes 2 pretrain_gpt.py "
                     "--num-layers 4 --bf16\" & done")
                  .arguments) == "--num-layers 4 | --bf16");
  const auto job = script(
      "A=(--hidden-size 64 --bf16)\n"
      "srun --mpi=pmix bash -c \"\n export X=1\n python pretrain_gpt.py "
      "--num-layers 4 ${A[@]}\n\"");
  CHECK(shown(job.arguments) == "--num-layers 4 | --hidden-size 64 | --bf16");
  CHECK(job.program == "pretrain_gpt.py");
}

// `bash train.sh` gives the script no arguments.
TEST_CASE("arguments of the script stay as they are") {
  CHECK(shown(script("torchrun pretrain_gpt.py --num-layers 4 --bf16 \"$@\"").arguments) ==
        "--num-layers 4 | --bf16 | $@");
}

TEST_CASE("arguments come from the command that has most of them") {
  const auto job = script(R"(#!/bin/bash
#SBATCH --nodes=2
export TP=8
GPUS=8  # of a node
MODEL=(
  --num-layers 32   # a comment
  --hidden-size=4096
)
MORE="--bf16 --tensor-model-parallel-size $TP"
MORE+=" --swiglu"
echo --num-layers 99
torchrun --nproc_per_node $GPUS pretrain_gpt.py \
  "${MODEL[@]}" \
  $MORE > log.txt 2>&1
)");
  CHECK(
      shown(job.arguments) ==
      "--num-layers 32 | --hidden-size 4096 | --bf16 | --tensor-model-parallel-size 8 | --swiglu");
  CHECK(shown(job.launcher) == "slurm.nodes 2 | torchrun.nproc_per_node 8");
  CHECK(job.program == "pretrain_gpt.py");
}

TEST_CASE("a variable that is set under a condition has no value") {
  const auto job = script(R"(
TP=1
if [ "$X" = y ]; then
  TP=8
fi
[ -n "$Y" ] && PP=2
case $Z in
  big) EP=4 ;;
esac
python pretrain_gpt.py --num-layers 1 --tensor-model-parallel-size $TP \
  --pipeline-model-parallel-size ${PP:-1} --expert-model-parallel-size $EP
)");
  CHECK(
      shown(job.arguments) ==
      "--num-layers 1 | --tensor-model-parallel-size <TP is set in line 4 under a condition that "
      "is not known (X has no value in this file); add --env X=VALUE> | "
      "--pipeline-model-parallel-size <PP is set in line 6 under a condition that is not known (Y "
      "has no value in this file); add --env Y=VALUE> | --expert-model-parallel-size <EP is set "
      "in line 8 under a condition that is not known (Z has no value in this file); add --env "
      "Z=VALUE>");
}

TEST_CASE("where a condition decides a value, the variable in the condition is asked for") {
  const std::string text = R"(
SIZE=$2
if [ "$SIZE" = 8B ]; then
  N=32
elif [ "$OTHER" = 70B ]; then
  N=80
else
  if [ -z $M ]; then N=4; fi
fi
python pretrain_gpt.py --num-layers $N
)";
  const auto asked = [](std::string_view line) {
    return "--num-layers <N is set in line " + std::string(line) +
           " under a condition that is not known (OTHER has no value in this file); add --env "
           "OTHER=VALUE>";
  };
  CHECK(shown(script(text).arguments) == asked("8"));
  CHECK(shown(script(text, {"SIZE=8B"}).arguments) == "--num-layers 32");
  CHECK(shown(script(text, {"2=8B"}).arguments) == "--num-layers 32");
  CHECK(shown(script(text, {"2=70B", "OTHER=70B"}).arguments) == "--num-layers 80");
  CHECK(shown(script("[ $1 = a ] && N=2\npython a.py --num-layers $N\n").arguments) ==
        "--num-layers <N is set in line 1 under a condition on an argument (it is $1, an argument "
        "of the script); add --env 1=VALUE>");
  CHECK(shown(script("python a.py --num-layers ${2} --hidden-size $2\n", {"2=8"}).arguments) ==
        "--num-layers 8 | --hidden-size 8");
  // No variable decides what a command finds, so none is asked for.
  CHECK(shown(script("if grep -q x y; then N=2; fi\npython a.py --num-layers $N\n").arguments) ==
        "--num-layers <N is set under a condition in line 1, which needs a shell; add --env "
        "N=VALUE>");
}

TEST_CASE("conditions that compare known values are followed, and no other branch is") {
  const auto job = script(R"(
TYPE=bf16 NODES=4 DATA=${1:-MOCK}
TYPES=() FILES=()
if [[ "$TYPE" == "fp8" ]]; then
  TYPES+=(--fp8-format hybrid)
  python pretrain_gpt.py --num-layers 1 --hidden-size 2 --num-attention-heads 1 --bf16
elif [ $NODES -gt 2 ]; then
  TYPES+=(--bf16)
  if [ "$NODES" -ne 4 ]; then TP=2; else TP=4; fi
else
  TYPES+=(--fp16)
  TP=8
fi
if [[ "$TYPE" == fp8 ]] || [[ "$DATA" == MOCK ]] || [[ -z "$UNKNOWN" ]]; then
  FILES+=(--mock-data)
else
  FILES+=(--vocab-size 3)
fi
! [ -z "$NODES" ] && [ "$NODES" = 4 ] && PP=2
[ "$NODES" = 4 ] || PP=3
python pretrain_gpt.py --num-layers 1 "${TYPES[@]}" ${FILES[@]} \
  --tensor-model-parallel-size $TP --pipeline-model-parallel-size $PP
)");
  CHECK(shown(job.arguments) ==
        "--num-layers 1 | --bf16 | --mock-data | --tensor-model-parallel-size 4 | "
        "--pipeline-model-parallel-size 2");
}

TEST_CASE("a case of a known word takes the branch that fits") {
  const std::string text = R"(
KIND=moe
case $SIZE in
  7b) LAYERS=32; L=(--bf16) ;;
  (13b | "14b")
    LAYERS=40  # the branch of two
    case "$KIND" in dense) FFN=1 ;; m*) FFN=2;; *) FFN=3; esac ;;
  *)
    LAYERS=80
    if [ "$KIND" = moe ]; then FFN=4; fi
esac
case $SIZE in 1b) TP=1 ;; [0-9]*b) TP=2 ;; *) TP=4 ;; esac
python pretrain_gpt.py --num-layers $LAYERS --ffn-hidden-size $FFN "${L[@]}" \
  --tensor-model-parallel-size $TP
)";
  const auto with = [&](const std::string& size) {
    return shown(script("SIZE=" + size + text).arguments);
  };
  CHECK(with("14b") == "--num-layers 40 | --ffn-hidden-size 2 | --tensor-model-parallel-size 2");
  CHECK(with("7b") ==
        "--num-layers 32 | --ffn-hidden-size | --bf16 | --tensor-model-parallel-size 2");
  CHECK(with("huge") == "--num-layers 80 | --ffn-hidden-size 4 | --tensor-model-parallel-size 4");
}
TEST_CASE("a branch of a case that nobody knows to fit has no value") {
  const auto in_case = [](const std::string& branches) {
    return shown(
        script("case a in " + branches + " esac\npython pretrain_gpt.py --num-layers ${N:-1}\n")
            .arguments);
  };
  const std::string doubted =
      "--num-layers <N is set under a condition in line 1, which needs a shell; add --env N=VALUE>";
  const std::string by_x =
      "--num-layers <N is set in line 1 under a condition that is not known (X has no value in "
      "this "
      "file); add --env X=VALUE>";
  CHECK(in_case("$X) N=2 ;;") == by_x);
  CHECK(in_case("$X) ;; a) N=2 ;;") == by_x);
  CHECK(in_case("\"*\") N=2 ;;") == "--num-layers 1");
  CHECK(in_case("b) ;& c) N=2 ;;") == "--num-layers 1");
  CHECK(in_case("a) ;& c) N=2 ;;") == doubted);
  CHECK(in_case("a) ;;& c) N=2 ;;") == doubted);
  CHECK(in_case("*a*a*) N=2 ;;") == doubted);
  CHECK(in_case("b) case a in a) ;& c) N=2 ;; esac ;;") == "--num-layers 1");
  CHECK(in_case("a) N=2 ;; $X) N=3 ;; *) N=4 ;;") == "--num-layers 2");
  CHECK(in_case("b) N=2 ;; c|d) N=3 ;;") == "--num-layers 1");
  CHECK(in_case("") == "--num-layers 1");
}
TEST_CASE("a default that is assigned where a variable has no value is its value") {
  const auto job = script(
      "N=2\n: ${N:=3} \"${M:=4}\"\n: ${K:?no}\npython a.py --num-layers $N --hidden-size $M\n");
  CHECK(shown(job.arguments) == "--num-layers 2 | --hidden-size 4");
  CHECK(shown(script(": ${M:=4}\npython a.py --num-layers $M\n", {"M=5"}).arguments) ==
        "--num-layers 5");
}

TEST_CASE("lists of arguments are not taken under a condition that nobody knows") {
  const auto list = [](const std::string& text) {
    return shown(script("L=()\n" + text + "\npython a.py --num-layers 1 ${L[@]}\n").arguments);
  };
  CHECK(list("if [ -n \"$X\" ]; then\n L=(--hidden-size 2)\nelse\n L=(--hidden-size 3)\nfi") ==
        "--num-layers 1 |  <L is set in line 5 under a condition that is not known (X has no value "
        "in this file); add --env X=VALUE>");
  CHECK(list("case $X in\n a) L=(--hidden-size 2) ;;\n b) L=(--hidden-size 3) ;;\nesac")
            .find("L is set in line 4 under a condition that is not known (X ") !=
        std::string::npos);
  CHECK(list("if [ -f x ]; then :; elif true; then L=(--hidden-size 2); fi")
            .find("L is set under a condition") != std::string::npos);
  CHECK(list("if [ -f x ] || false; then L=(--hidden-size 2); fi")
            .find("L is set under a condition") != std::string::npos);
  CHECK(list("if false; then\n L=(--hidden-size 2)\nfi") == "--num-layers 1");
  CHECK(shown(script("if [ a = b ]; then F=--bf16; else G=1; fi\npython a.py --num-layers $G $F\n")
                  .arguments) == "--num-layers 1");
  // Arguments without effect may be given or not, so the condition does not matter.
  CHECK(list("if [ -n \"$X\" ]; then\n L+=(--wandb-project a)\nfi") ==
        "--num-layers 1 | --wandb-project a");
}

TEST_CASE("arguments that a script only collects are read without its command") {
  const auto job = script("OPTIONS=\" --num-layers 2 \\\n --hidden-size 64 \"\neval run $OTHER\n");
  CHECK(shown(job.arguments) == "--num-layers 2 | --hidden-size 64");
}

TEST_CASE("a list of arguments has sections") {
  const auto job = script(R"(# variables
N=4
N=8
SIZE=64
SIZE=${SIZE:-1}
# launcher
--nproc_per_node 8
# arguments
--num-layers $N
--hidden-size $SIZE
--recompute-modules mlp moe_act
)");
  CHECK(shown(job.arguments) ==
        "--num-layers <N has several values in this file, the last in line 3; add --env N=VALUE> | "
        "--hidden-size 64 | --recompute-modules mlp moe_act");
  CHECK(shown(job.launcher) == "torchrun.nproc_per_node 8");
}

TEST_CASE("a here-document is no part of the commands") {
  const auto job = script("cat <<EOF > x.json\n--num-layers 7\nEOF\npython a.py --num-layers 2\n");
  CHECK(shown(job.arguments) == "--num-layers 2");
}

TEST_CASE("a here-document that a shell or Slurm is given is a script") {
  const auto job = script(R"(NODES=${NODES:-16}
TP=8
sbatch <<EOT
#!/bin/bash
#SBATCH --nodes=${NODES}
#SBATCH --gpus-per-node=8
LAYERS=80
srun torchrun --nnodes=\$SLURM_NNODES --nproc_per_node=8 pretrain_gpt.py \
  --num-layers \$LAYERS --tensor-model-parallel-size $TP --lr \$1
EOT
echo submitted
)");
  CHECK(shown(job.launcher) ==
        "slurm.nodes 16 | slurm.gpus_per_node 8 | torchrun.nnodes 16 | torchrun.nproc_per_node 8");
  CHECK(
      shown(job.arguments).starts_with("--num-layers 80 | --tensor-model-parallel-size 8 | --lr "));
  CHECK(job.launcher.back().at.line == 8);
  const auto literal = script("N=3\nbash -s <<'E'\nN=4\npython a.py --num-layers $N\nE\n");
  CHECK(shown(literal.arguments) == "--num-layers 4");
}

TEST_CASE("options of #SBATCH stand before the first command, as Slurm reads them") {
  const auto job =
      script("#!/bin/bash\n#SBATCH -N 2\n\n# a\nset -x\n#SBATCH -N 8\nsrun python a.py\n");
  CHECK(shown(job.launcher) == "slurm.nodes 2");
}

TEST_CASE("an assignment of --env that is none is refused") {
  CHECK_THROWS_WITH(ShellVariables(std::vector<std::string>{"=3"}), "--env: '=3' is no NAME=VALUE");
}

TEST_CASE("a redirection leaves its descriptor, sign and file out of the arguments") {
  for (const auto* redirection :
       {"2>&1", "2> err", "1>out 2>err", "> out 2>&1", "&> out", "2>&1 | tee log"})
    CHECK(shown(script(std::string("run --num-layers 2 --bf16 ") + redirection).arguments) ==
          "--num-layers 2 | --bf16");
  // A number with a blank before the sign is a word.
  CHECK(shown(script("run --bf16 --num-layers 2 > out").arguments) == "--bf16 | --num-layers 2");
}

TEST_CASE("a placeholder that is still to be filled in is one word, and no redirection") {
  CHECK(shown(script("run --load <CHECKPOINT DIR> --bf16 --save <path>").arguments) ==
        "--load <CHECKPOINT DIR> | --bf16 | --save <path>");
  CHECK(
      shown(script("V=<path>/vocab.json # <Specify path>\nrun --vocab-file $V --bf16").arguments) ==
      "--vocab-file <path>/vocab.json | --bf16");
  CHECK(shown(script("sh -c \"run --merge-file <PATH TO merges> --bf16\"").arguments) ==
        "--merge-file <PATH TO merges> | --bf16");
  CHECK(shown(script("#SBATCH <OPTIONS> --nodes=4\nsrun a").launcher) == "slurm.nodes 4");
  CHECK(shown(script("run --num-layers 2 <in >out --bf16").arguments) == "--num-layers 2 | --bf16");
}

TEST_CASE("eval runs its words as a command, without the redirections in them") {
  const std::string set = "CMD=\"run --num-layers 2 --bf16 &> ${OUT}/$(date).log\"\n";
  CHECK(shown(script(set + "eval $CMD\n").arguments) == "--num-layers 2 | --bf16");
  CHECK(shown(script(set + "eval ${CMD} --hidden-size 64\n").arguments) ==
        "--num-layers 2 | --bf16 | --hidden-size 64");
  CHECK(shown(script("eval 'if true; then L=12; else L=24; fi'\nrun --num-layers $L").arguments) ==
        "--num-layers 12");
  CHECK(shown(script("eval eval eval run --num-layers 2").arguments) == "--num-layers 2");
  CHECK(shown(script("X='eval $X'\neval $X --bf16").arguments) == "--bf16");
}

}  // namespace shell_script_spec

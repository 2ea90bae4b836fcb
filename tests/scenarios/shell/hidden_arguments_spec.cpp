// SPDX-License-Identifier: Apache-2.0
// Training commands of which only a shell can tell what they pass to their program: nothing else of
// the script stands in for it.
#include <string>
#include <vector>

#include "scenarios/jobs/scripts/shell_script.hpp"
#include "tests/catch.hpp"
#include "tests/scenarios/jobs.hpp"

namespace hidden_arguments_spec {

namespace {

const std::string some = "--num-layers 32 --hidden-size 4096", set = "ARGS=\"" + some + "\"\n",
                  train = "torchrun --nproc_per_node 8 pretrain_gpt.py ";

// The launcher's options, the program, and its arguments with trouble in angle brackets.
std::string read(const std::string& text, const std::vector<std::string>& env = {}) {
  const auto job = scenarios::read_shell_script(text, scenarios::arguments_of("megatron"), env, {});
  std::string all;
  for (const auto& option : job.launcher) all += option.text + " | ";
  all += job.program;
  for (const auto& argument : job.arguments) {
    if (!argument.name.empty()) all += " " + argument.name;
    for (const auto& value : argument.values)
      all += " " + (value.trouble.empty() ? value.text : "<" + value.trouble + ">");
  }
  return all;
}

const std::string launched = "--nproc_per_node 8 | pretrain_gpt.py ";

}  // namespace

TEST_CASE("a list of arguments that is in doubt is named, and not read without what is in doubt") {
  const auto array = "ARGS=(" + some + ")\n[ \"$SP\" = 1 ] && ARGS+=(--sequence-parallel)\n";
  const auto doubt = launched +
                     "<ARGS is set in line 2 under a condition that is not known (SP has no value "
                     "in this file); add --env "
                     "SP=VALUE>";
  CHECK(read(array + train + "\"${ARGS[@]}\"") == doubt);
  CHECK(read(array + train + "\"${ARGS[@]}\"", {"SP=0"}) == launched + some);
  CHECK(read(array + "srun -N 2 python pretrain_gpt.py \"${ARGS[@]}\"")
            .starts_with("-N 2 | pretrain_gpt.py <ARGS is set in line 2 under a condition"));
  CHECK(read("if [ \"$SIZE\" = 7b ]; then\n" + set + "else\n" + set + "fi\n" + train + "$ARGS")
            .ends_with("SIZE has no value in this file); add --env SIZE=VALUE>"));
}

TEST_CASE(
    "a list of arguments that a command prints is named, and another one does not replace it") {
  for (const std::string list : {"$(./get_args.sh)", "$(echo \"$ARGS\" | sed s/32/16/)"}) {
    INFO(list);
    CHECK(read(set + train + list).starts_with(launched + "<"));
    CHECK(read(set + "NEW=" + list + "\n" + train + "$NEW").starts_with(launched + "<"));
    CHECK(read(set + "NEW=" + list + "\ntorchrun $NEW").find(some) == std::string::npos);
  }
}

TEST_CASE("a launched program whose arguments are in doubt stands over one that is not launched") {
  const std::string hidden = train + "$(./get_args.sh)\n",
                    other = "python convert.py --num-layers 32\n";
  for (const auto& text : {hidden + other, other + hidden})
    CHECK(read(text).starts_with(launched + "<"));
  CHECK(read(train + some + "\npython convert.py $(./get_args.sh)\n") == launched + some);
  CHECK(read("srun mkdir $(./folder.sh)\npython pretrain_gpt.py " + some) ==
        "pretrain_gpt.py " + some);
}

TEST_CASE("a command that is a variable in doubt is named, and no list replaces it") {
  const auto either = set + "if [ \"$BIG\" = 1 ]; then CMD=\"" + train + "$ARGS\"; else CMD=\"" +
                      train + "--num-layers 2\"; fi\n";
  for (const std::string command : {"$CMD", "eval \"$CMD\"", "eval ${CMD}"}) {
    INFO(command);
    CHECK(read(either + command).find("<CMD is set in line 2 under a condition") !=
          std::string::npos);
    CHECK(read(either + command, {"BIG=0"}) == launched + "--num-layers 2");
  }
  CHECK(read(set + "eval \"$(conda shell.bash hook)\"\n").ends_with("|  " + some));
}

TEST_CASE("variables that hold arguments are a job where no command hides its own") {
  CHECK(read(set) == " " + some);
  CHECK(read(set + "echo Training with train.py $(hostname)\n") == " " + some);
}

TEST_CASE("a job of any framework is refused where all its arguments are in doubt") {
  const auto refused = [](const std::string& text, const std::string& as) {
    return tests::refusal([&] { tests::job(text, {}, as); });
  };
  const auto doubt = [&](const std::string& list, const std::string& more) {
    return "X=(" + list + ")\nif [ \"$BIG\" = 1 ]; then X+=(" + more + "); fi\n";
  };
  const std::string why =
      "X is set in line 2 under a condition that is not known (BIG has no value in this file)";
  CHECK(refused(doubt("--model_name_or_path meta-llama/Llama-2-7b-hf --bf16 "
                      "--per_device_train_batch_size 4",
                      "--deepspeed zero3.json") +
                    "deepspeed --num_gpus 8 train.py \"${X[@]}\"\n",
                "trainer")
            .find(why) != std::string::npos);
  CHECK(
      refused(doubt("--job.config_file llama3_8b.toml", "--parallelism.tensor_parallel_degree=2") +
                  "torchrun --nproc_per_node=8 -m torchtitan.train \"${X[@]}\"\n",
              "torchtitan")
          .find(why) != std::string::npos);
  CHECK(refused(doubt("train.global_batch_size=512", "model.tensor_model_parallel_size=4") +
                    "torchrun --nproc_per_node=8 run_recipe.py --recipe llama3_8b_pretrain_config "
                    "\"${X[@]}\"\n",
                "megatron-bridge")
            .find(why) != std::string::npos);
}

}  // namespace hidden_arguments_spec

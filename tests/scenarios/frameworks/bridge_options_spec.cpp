// SPDX-License-Identifier: Apache-2.0
// Options of Megatron-Bridge's performance scripts, each as the key of a scenario that it means.
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/scenarios/jobs.hpp"

namespace bridge_options_spec {

namespace {

std::string command(const std::string& more) {
  return "python setup_experiment.py -m llama3 -mr 8b -ng 16 -mb 1 -gb 128 " + more + "\n";
}

}  // namespace

TEST_CASE("options of a performance script have a letter, a name and an older name") {
  for (const std::string tensor : {"-tp 2", "--tensor_model_parallel_size 2",
                                   "--tensor_parallel_size 2", "--tensor_model_parallel_size=2"}) {
    INFO(tensor);
    CHECK(tests::value(command(tensor), "plan.tensor") == "2");
    CHECK(tests::value(command(tensor), "plan.sequence_parallel") == "true");  // the scripts' rule
  }
  tests::check_values({{"-tp 1", "plan.sequence_parallel", ""},
                       {"-pp 2", "plan.pipeline", "2"},
                       {"--pipeline_parallel_size 2", "plan.pipeline", "2"},
                       {"-pp 2 -vp 4", "plan.virtual_stages", "4"},
                       {"-pp 2 -vp 4", "plan.schedule", "interleaved"},
                       {"-cp 2", "plan.context", "2"},
                       {"-sl 4096", "training.sequence_length", "4096"},
                       {"", "cluster.gpus", "16"},
                       {"", "training.global_batch", "128"},
                       {"", "plan.micro_batch", "1"},
                       {"-mb 2", "plan.micro_batch", "2"}},
                      command);
}

TEST_CASE("a model of the performance scripts is named whole, or by family and size") {
  const auto layers = [](const std::string& names) {
    return tests::value("python setup_experiment.py " + names + " -ng 8 -mb 1 -gb 128\n",
                        "model.layers");
  };
  CHECK(layers("-m llama3 -mr 8b") == "32");
  CHECK(layers("-m llama3 -s 8b") == "32");
  CHECK(layers("--model_name llama3 --model_size 70b") == "80");
  CHECK(layers("--model_family_name llama3 --model_recipe_name llama3_70b") == "80");
  CHECK(layers("-m llama31 -mr 405b") == "126");
}

TEST_CASE("precision of the performance scripts is a type, with fp8's recipe or apart from it") {
  const auto precision = [](const std::string& type) {
    return tests::value(command(type), "training.precision") + " " +
           tests::value(command(type), "training.fp8_recipe");
  };
  struct Case {
    const char *type, *precision;
  };
  for (const auto& one : std::vector<Case>{{"-c bf16", "bf16 "},
                                           {"-c fp8_cs", "fp8 tensorwise"},
                                           {"-c fp8_ds", "fp8 delayed"},
                                           {"-c fp8_sc", "fp8 blockwise"},
                                           {"-c fp8_mx", "mxfp8 "},
                                           {"-c fp8", "fp8 delayed"},
                                           {"-c fp8 -fr cs", "fp8 tensorwise"},
                                           {"-c fp8 -fr mx", "mxfp8 "},
                                           {"-c bf16 -fr mx", "bf16 "},
                                           {"-c nvfp4", "nvfp4 "}}) {
    INFO(one.type);
    CHECK(precision(one.type) == one.precision);
  }
}

TEST_CASE(
    "what only starts a performance script's run is without effect, and adapters are refused") {
  for (const std::string option : {"-a me", "-p batch", "-i image", "-l logs", "-hf token",
                                   "-wdk key", "--dryrun", "--detach", "-d llm"}) {
    INFO(option);
    const auto job = tests::job(command(option));
    CHECK(tests::effect_of(job, option) == scenarios::Effect::none);
  }
  tests::check_refusals({{"-t lora", "only adapters are trained"}}, command);
}

}  // namespace bridge_options_spec

// SPDX-License-Identifier: Apache-2.0
// Jobs of LLaMA-Factory whose layers Megatron-LM runs.
#include <string>

#include "tests/catch.hpp"
#include "tests/scenarios/jobs.hpp"

namespace llamafactory_job_spec {

using scenarios::Effect;
using tests::at;

const std::string recipe =
    "model_name_or_path: Qwen/Qwen2.5-7B\nstage: sft\nfinetuning_type: full\ncutoff_len: 4096\n"
    "per_device_train_batch_size: 1\ngradient_accumulation_steps: 8\nbf16: true\n";
const std::string stages = recipe + "pipeline_model_parallel_size: 4\n";

scenarios::JobScenario started(const std::string& command, const std::string& file) {
  return tests::beside(command + "\n", {{"a.yaml", file}}, {"WORLD_SIZE=8"});
}

// 1 sequence x 8 steps x 2 replicas of 4 stages on 8 GPUs.
TEST_CASE("pipeline ranks of LLaMA-Factory's job divide the ranks of its batch") {
  CHECK(at(started("llamafactory-cli train a.yaml", recipe).document, "training.global_batch") ==
        "64");
  const auto job = started("llamafactory-cli train a.yaml", stages);
  CHECK(at(job.document, "plan.pipeline") == "4");
  CHECK(at(job.document, "training.global_batch") == "16");
  const auto both =
      started("llamafactory-cli train a.yaml", stages + "tensor_model_parallel_size: 2\n");
  CHECK(at(both.document, "training.global_batch") == "8");
}

TEST_CASE("LLaMA-Factory's layers of Megatron-LM are recomputed where a granularity is given") {
  const auto kept = [](const std::string& command, const std::string& file) {
    return at(started(command, file).document, "plan.recompute");
  };
  const std::string plain = "llamafactory-cli train a.yaml";
  CHECK(kept(plain, recipe) == "full");  // its own layers
  CHECK(kept(plain, stages).empty());
  CHECK(kept(plain, recipe + "use_mca: true\n").empty());
  CHECK(kept("USE_MCA=1 " + plain, recipe).empty());
  CHECK(kept("export USE_MCA=1\n" + plain, recipe).empty());
  CHECK(kept("USE_MCA=0 " + plain, recipe) == "full");
  CHECK(kept("USE_MCA=1 " + plain, recipe + "recompute_granularity: selective\n") == "selective");
}

TEST_CASE("a job of LLaMA-Factory says that Megatron-LM runs its layers") {
  const auto job = started("USE_MCA=1 llamafactory-cli train a.yaml", stages);
  CHECK(tests::effect_of(job, "USE_MCA=1") == Effect::not_modelled);
  CHECK(tests::effect_of(job, "pipeline_model_parallel_size 4") == Effect::read);
  CHECK(at(job.document, "plan.zero") == "1");  // use_distributed_optimizer is on by default
  CHECK(at(job.document, "plan.overlap.data") == "true");
  const auto untold = started("llamafactory-cli train a.yaml", stages);
  CHECK(tests::effect_of(untold, "pipeline_model_parallel_size 4") == Effect::not_modelled);
}

}  // namespace llamafactory_job_spec

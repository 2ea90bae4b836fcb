// SPDX-License-Identifier: Apache-2.0
// States and activations that jobs leave to the host, by the arguments of each framework.
#include <string>

#include "tests/catch.hpp"
#include "tests/scenarios/jobs.hpp"

namespace offloading_job_spec {

using scenarios::Effect;
using tests::at;
using tests::effect_of;

namespace {

scenarios::JobScenario megatron(const std::string& more) {
  return tests::job(
      "torchrun pretrain_gpt.py --num-layers 8 --hidden-size 64 --num-attention-heads 4 "
      "--seq-length 1024 --bf16 " +
          more,
      {"WORLD_SIZE=8"});
}

scenarios::JobScenario axolotl(const std::string& more) {
  return tests::job(
      "base_model: NousResearch/Meta-Llama-3-8B\nsequence_len: 4096\nsample_packing: true\n"
      "micro_batch_size: 2\nbf16: true\noptimizer: adamw_torch\n" +
          more,
      {"WORLD_SIZE=8"});
}

}  // namespace

TEST_CASE("the states of Pai-Megatron's hybrid optimizer wait on the host by a fraction") {
  const auto where = [](const std::string& more) {
    return at(megatron(more).document, "plan.offload.optimizer");
  };
  const std::string fixed = "--optimizer hybridadam --optimizer-offload-policy static ";
  CHECK(where(fixed + "--optimizer-offload-fraction 1.0") == "cpu");
  CHECK(where(fixed + "--optimizer-offload-fraction 0").empty());
  CHECK(where(fixed).empty());
  CHECK(where("--optimizer-offload-fraction 1.0").empty());
  CHECK(where("--use-distributed-optimizer --use-precision-aware-optimizer "
              "--optimizer-cpu-offload") == "cpu");
}

TEST_CASE("a part of the states that is offloaded is said to be forecast as all of them") {
  const auto effect = [](const std::string& fraction) {
    const auto text = "--optimizer-offload-fraction " + fraction;
    return effect_of(megatron("--use-distributed-optimizer --use-precision-aware-optimizer "
                              "--optimizer-cpu-offload " +
                              text),
                     text);
  };
  CHECK(effect("0.5") == Effect::not_modelled);
  CHECK(effect("1.0") == Effect::read);
}

TEST_CASE("what core attention reads stays on the device where Megatron-LM moves it to the host") {
  const auto effect = [](const std::string& modules) {
    const auto text = "--offload-modules " + modules;
    return effect_of(megatron("--fine-grained-activation-offloading " + text), text);
  };
  CHECK(effect("core_attn") == Effect::not_modelled);
  CHECK(effect("moe_act") == Effect::read);
}

TEST_CASE("axolotl moves activations to the host by either of its keys") {
  const auto moved = [](const std::string& more) {
    return at(axolotl(more).document, "plan.offload.activations");
  };
  CHECK(moved("gradient_checkpointing: offload\n") == "cpu");
  CHECK(moved("gradient_checkpointing: true\nactivation_offloading: true\n") == "cpu");
  CHECK(moved("gradient_checkpointing: true\nactivation_offloading: legacy\n") == "cpu");
  CHECK(moved("gradient_checkpointing: true\nactivation_offloading: false\n").empty());
  CHECK(at(axolotl("gradient_checkpointing: true\nactivation_offloading: true\n").document,
           "plan.recompute") == "full");
  CHECK(tests::refusal([] {
          axolotl("activation_offloading: disk\n");
        }).find("activations on a disk are not modelled") != std::string::npos);
}

TEST_CASE("FSDP that keeps parameters after the forward pass offloads states and gradients") {
  const auto job = [](const std::string& words) {
    return tests::job(
        "torchrun --nproc_per_node 8 run_clm.py --model_name_or_path gpt2 --bf16 "
        "--block_size 1024 --fsdp \"" +
        words + "\"");
  };
  const auto kept = job("shard_grad_op auto_wrap offload");
  CHECK(at(kept.document, "plan.zero") == "2");
  CHECK(at(kept.document, "plan.offload.optimizer") == "cpu");
  CHECK(at(kept.document, "plan.offload.gradients") == "cpu");
  CHECK(at(kept.document, "plan.offload.parameters").empty());
  CHECK(effect_of(kept, "--fsdp shard_grad_op auto_wrap offload") == Effect::not_modelled);
  const auto sharded = job("full_shard auto_wrap offload");
  CHECK(at(sharded.document, "plan.offload.parameters") == "cpu");
  CHECK(effect_of(sharded, "--fsdp full_shard auto_wrap offload") == Effect::read);
}

}  // namespace offloading_job_spec

// SPDX-License-Identifier: Apache-2.0
// Every form that a scenario may have is read without a complaint.
#include <string>

#include "tests/catch.hpp"
#include "tests/scenarios/complaints.hpp"

namespace accepted_spec {

TEST_CASE("schedules, experts, sharding, offloading and compression are read in every form") {
  for (const std::string how :
       {"schedule=zb-h1", "schedule=zb-h2", "schedule=zb-v", "schedule=v-half", "schedule=v-min",
        "schedule=dualpipe", "schedule=dualpipe-v"})
    CHECK_NOTHROW(tests::read(tests::llama, {"plan.pipeline=2", "plan." + how}));
  CHECK_NOTHROW(tests::read(tests::llama, {"model=mixtral-8x7b", "plan.expert=8",
                                           "plan.sequence_parallel=true", "plan.expert_tensor=1"}));
  CHECK_NOTHROW(
      tests::read(tests::llama, {"model=deepseek-v3", "plan.tensor=1", "plan.expert=64"}));
  CHECK_NOTHROW(tests::read(tests::llama, {"training.optimizer=onebit-adam"}));
  for (const std::string how :
       {"offload={optimizer: cpu}", "offload={optimizer: nvme}", "gradient_compression=fp8",
        "gradient_compression=onebit", "bucket={reduce: 1e8, gather: 2e8}"})
    CHECK_NOTHROW(tests::read(tests::llama, {"plan." + how}));
  for (const std::string how :
       {"plan.wrap=model", "plan.wrap={layers: 4}",
        "plan.offload={parameters: nvme, optimizer: cpu}",
        "plan.offload={gradients: cpu, optimizer: cpu}", "software.limit_all_gathers=false"})
    CHECK_NOTHROW(tests::read(tests::llama, {"plan.zero=3", how}));
}

TEST_CASE("graphs, loaders, every kernel of attention and every overlap of tensors are simulated") {
  CHECK_NOTHROW(tests::read(tests::llama, {"software.cuda_graphs=[attn]"}));
  CHECK_NOTHROW(tests::read(tests::llama, {"software.data_loader={samples_per_second: 1}"}));
  for (const std::string kind :
       {"unfused", "fused", "flash", "flash1", "flash3", "memory-efficient"})
    CHECK_NOTHROW(tests::read(tests::llama, {"software.attention=" + kind}));
  CHECK_NOTHROW(tests::read(tests::llama,
                            {"software.tensor_overlap=pipelined", "plan.overlap={tensor: true}"}));
}

TEST_CASE("activations are dropped, offloaded and compressed in every way") {
  for (const std::string how :
       {"recompute=per-op", "recompute={selective: [layernorm, mlp]}", "recompute=[full]",
        "recompute={full_layers: 3}", "offload={activations: cpu}",
        "offload={activations: {to: cpu, layers: 3}}",
        "offload={activations: {to: cpu, modules: [mlp]}}", "activation_compression=fp8",
        "activation_compression=int8"})
    CHECK_NOTHROW(tests::read(tests::llama, {"plan." + how}));
}

TEST_CASE("every precision of the device is simulated, fp8 with every recipe") {
  for (const std::string precision : {"fp32", "tf32", "fp16", "bf16", "fp8", "mxfp8", "nvfp4"})
    CHECK_NOTHROW(
        tests::read(tests::llama, {"cluster.node=dgx-b200", "training.precision=" + precision}));
  for (const std::string recipe : {"delayed", "tensorwise", "rowwise", "blockwise"})
    CHECK_NOTHROW(
        tests::read(tests::llama, {"training.precision=fp8", "training.fp8_recipe=" + recipe}));
}

}  // namespace accepted_spec

// SPDX-License-Identifier: Apache-2.0
// What is read, but not simulated yet: one line per feature, which goes with it.
#include <string>
#include <utility>
#include <vector>

#include "scenarios/error.hpp"
#include "tests/catch.hpp"
#include "tests/scenarios/below_gate.hpp"

using tests::Sets;

namespace {

forecast::Scenario simulated(const Sets& sets) {
  return scenarios::read_scenario(tests::llama, "f.yaml", sets);
}

}  // namespace

TEST_CASE("what is read but not simulated yet is refused as that") {
  const std::vector<std::pair<Sets, std::string>> features{
      {{"plan.schedule=dualpipe", "plan.pipeline=2"},
       "plan.schedule: DualPipe is not simulated yet; write interleaved"},
      {{"plan.schedule=dualpipe-v"},
       "plan.schedule: DualPipe is not simulated yet; write interleaved"},
  };
  for (const auto& feature : features) {
    const auto& sets = feature.first;
    CHECK_NOTHROW(tests::read(tests::llama, sets));
    CHECK(tests::complaints_of([&] { simulated(sets); }) == feature.second);
    try {
      simulated(sets);
    } catch (const scenarios::Error& wrong) {
      CHECK(scenarios::only_unsupported(wrong));
    }
  }
}

TEST_CASE("what changes nothing is simulated") {
  CHECK_NOTHROW(simulated({"plan.context=2", "plan.bucket={reduce: 1e8, gather: 1e8}",
                           "plan.wrap={layers: 1}", "plan.offload={}", "plan.expert_tensor=8",
                           "plan.context_method=ulysses", "software.moe_dispatcher=deepep",
                           "software.post_validation=true", "software.limit_all_gathers=false",
                           "software.cuda_graphs=[full]"}));
}

TEST_CASE("graphs, loaders, every kernel of attention and every overlap of tensors are simulated") {
  CHECK_NOTHROW(simulated({"software.cuda_graphs=[attn]"}));
  CHECK_NOTHROW(simulated({"software.data_loader={samples_per_second: 1}"}));
  for (const std::string kind :
       {"unfused", "fused", "flash", "flash1", "flash3", "memory-efficient"})
    CHECK_NOTHROW(simulated({"software.attention=" + kind}));
  CHECK_NOTHROW(simulated({"software.tensor_overlap=pipelined", "plan.overlap={tensor: true}"}));
}

TEST_CASE("activations are dropped, offloaded and compressed in every way") {
  for (const std::string how :
       {"recompute=per-op", "recompute={selective: [layernorm, mlp]}", "recompute=[full]",
        "recompute={full_layers: 3}", "offload={activations: cpu}",
        "offload={activations: {to: cpu, layers: 3}}",
        "offload={activations: {to: cpu, modules: [mlp]}}", "activation_compression=fp8",
        "activation_compression=int8"})
    CHECK_NOTHROW(simulated({"plan." + how}));
}

TEST_CASE("every precision of the device is simulated, fp8 with every recipe") {
  for (const std::string precision : {"fp32", "tf32", "fp16", "bf16", "fp8", "mxfp8", "nvfp4"})
    CHECK_NOTHROW(simulated({"cluster.node=dgx-b200", "training.precision=" + precision}));
  for (const std::string recipe : {"delayed", "tensorwise", "rowwise", "blockwise"})
    CHECK_NOTHROW(simulated({"training.precision=fp8", "training.fp8_recipe=" + recipe}));
}

TEST_CASE("all that is not simulated yet is refused at once, after every mistake") {
  const Sets sets{"plan.offload={activations: cpu}", "plan.activation_compression=int8"};
  CHECK(tests::complaints_of([&] { simulated(sets); }) ==
        "plan.offload: offloading of activations is not simulated yet; write none\n"
        "plan.activation_compression: compression of activations is not simulated yet; write none");
  CHECK(tests::complaints_of([&] {
          simulated({sets[0], sets[1], "plan.data=3"});
        }) ==
        "plan.data: tensor 8 x pipeline 1 x data 3 = 24, but the cluster has 128 GPUs; "
        "write data: 16 or leave it out");
}

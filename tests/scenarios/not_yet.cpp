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
      {{"model=mixtral-8x7b"},
       "model.moe: a mixture of experts is not simulated yet; write a dense model"},
      {{"training.optimizer=onebit-adam"},
       "training.optimizer: onebit-adam is not simulated yet; write adam"},
      {{"plan.recompute=per-op"},
       "plan.recompute: per-op recomputation is not simulated yet; write selective or full"},
      {{"plan.recompute={selective: [mlp]}"},
       "plan.recompute: recomputation of chosen modules is not simulated yet; write selective or "
       "full"},
      {{"plan.recompute=[full]"},
       "plan.recompute: a choice for each stage is not simulated yet; write one for all"},
      {{"plan.offload={optimizer: cpu}"},
       "plan.offload: offloading of model states is not simulated yet; write none"},
      {{"plan.offload={gradients: cpu}"},
       "plan.offload: offloading of model states is not simulated yet; write none"},
      {{"plan.offload={parameters: nvme}"},
       "plan.offload: offloading of model states is not simulated yet; write none"},
      {{"plan.offload={activations: cpu}"},
       "plan.offload: offloading of activations is not simulated yet; write none"},
      {{"plan.gradient_compression=fp8"},
       "plan.gradient_compression: compression of gradients is not simulated yet; write none"},
      {{"plan.activation_compression=int8"},
       "plan.activation_compression: compression of activations is not simulated yet; write none"},
      {{"plan.zero=3", "plan.wrap=model"},
       "plan.wrap: gathering other than layer by layer is not simulated yet; write layer"},
      {{"plan.bucket={reduce: 1e8, gather: 2e8}"},
       "plan.bucket: a gather bucket of its own is not simulated yet; write one size"},
      {{"software.cuda_graphs=[attn]"},
       "software.cuda_graphs: graphing parts of a layer is not simulated yet; write true or false"},
      {{"software.data_loader={samples_per_second: 1}"},
       "software.data_loader: a data loader is not simulated yet; write none"},
      {{"plan.zero=3", "software.limit_all_gathers=false"},
       "software.limit_all_gathers: gathering without a limit is not simulated yet; write true"}};
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

TEST_CASE("every precision of the device is simulated, fp8 with every recipe") {
  for (const std::string precision : {"fp32", "tf32", "fp16", "bf16", "fp8", "mxfp8", "nvfp4"})
    CHECK_NOTHROW(simulated({"cluster.node=dgx-b200", "training.precision=" + precision}));
  for (const std::string recipe : {"delayed", "tensorwise", "rowwise", "blockwise"})
    CHECK_NOTHROW(simulated({"training.precision=fp8", "training.fp8_recipe=" + recipe}));
}

TEST_CASE("all that is not simulated yet is refused at once, after every mistake") {
  const Sets sets{"plan.offload={gradients: cpu}", "training.optimizer=onebit-adam"};
  CHECK(tests::complaints_of([&] { simulated(sets); }) ==
        "plan.offload: offloading of model states is not simulated yet; write none\n"
        "training.optimizer: onebit-adam is not simulated yet; write adam");
  CHECK(tests::complaints_of([&] {
          simulated({sets[0], sets[1], "plan.data=3"});
        }) ==
        "plan.data: tensor 8 x pipeline 1 x data 3 = 24, but the cluster has 128 GPUs; "
        "write data: 16 or leave it out");
}

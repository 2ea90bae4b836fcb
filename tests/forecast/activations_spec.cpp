// SPDX-License-Identifier: Apache-2.0
// Recomputed, offloaded and compressed activations in whole forecasts.
#include <set>
#include <string>

#include "forecast/forecast.hpp"
#include "tests/catch.hpp"
#include "tests/forecast/small_llama.hpp"

namespace activations_spec {

using forecast::simulate;
using strategies::Module;
using strategies::Recompute;

namespace {

// A scenario with hidden 1024, 8 heads of 64 with 2 for keys and values, and ffn 1024.
forecast::Scenario llama(const strategies::Plan& plan = {}) {
  auto s = tests::small_llama(plan);
  s.model.hidden = s.model.ffn = 1024;
  s.model.kv_heads = 2;
  s.software.kernels.attention = model::AttentionKernel::flash;
  return s;
}

// The flops of a layer and sequence that hardware did beyond the model's.
double again(const forecast::Scenario& s) {
  const auto step = simulate(s).step;
  return (step.hfu / step.mfu - 1) * step.model_flops.value / 4 / 8;
}

}  // namespace

TEST_CASE("hardware flops count operators that run again, attention over the full score matrix") {
  auto s = llama();
  const double t = 512, h = 1024, q = 512, kv = 128, f = 1024;
  const double attention = 4 * t * t * q;
  CHECK(again(s) == Approx(0).margin(1));
  s.plan.recompute = {Recompute::Kind::full};
  CHECK(again(s) == Approx(model::layer_flops(s.model, 512, 0).value));
  s.plan.recompute = {Recompute::Kind::selective};
  CHECK(again(s) == Approx(attention));
  s.plan.recompute = {Recompute::Kind::full_layers, 2};
  CHECK(again(s) == Approx(model::layer_flops(s.model, 512, 0).value / 4));
  s.plan.recompute = {Recompute::Kind::modules, 0, {Module::layernorm, Module::mlp}};
  CHECK(again(s) == Approx(2 * t * 3 * h * f));
  s.plan.recompute = {Recompute::Kind::per_op};  // k, the output projection and up run again
  CHECK(again(s) == Approx(2 * t * (h * kv + q * h + h * f)));
}

TEST_CASE("each form takes time for memory") {
  auto s = llama();
  const auto none = simulate(s);
  s.plan.recompute = {Recompute::Kind::full};
  const auto full = simulate(s);
  CHECK(none.time[forecast::StepPart::recompute].value == 0);
  CHECK(full.memory.peak < none.memory.peak);
  for (const Recompute& form :
       {Recompute{Recompute::Kind::per_op},
        Recompute{Recompute::Kind::modules, 0, {Module::layernorm, Module::mlp}},
        Recompute{Recompute::Kind::full_layers, 5}}) {
    s.plan.recompute = form;
    const auto some = simulate(s);
    CHECK(some.memory.peak < none.memory.peak);
    CHECK(some.memory.peak > full.memory.peak);
    CHECK(some.step.time > none.step.time);
    CHECK(some.step.time < full.step.time);
    CHECK(some.time[forecast::StepPart::recompute].value > 0);
  }
}

TEST_CASE("a stage's recomputation is its own") {
  auto s = llama({.pipeline = 2});
  s.plan.recompute_of_stage = {{Recompute::Kind::full}, {Recompute::Kind::none}};
  const auto f = simulate(s);
  CHECK(f.pipeline.stages[0].recompute.value > 0);
  CHECK(f.pipeline.stages[1].recompute.value == 0);
}

TEST_CASE("offloading frees the device, and slow ways to the host show") {
  auto s = llama();
  const auto none = simulate(s);
  s.plan.offload.activations = true;
  const auto away = simulate(s);
  CHECK(away.memory.peak < none.memory.peak);
  s.cluster.node.pcie.bandwidth = units::BytesPerSecond{1e9};
  const auto slow = simulate(s);
  CHECK(slow.time[forecast::StepPart::offload] > away.time[forecast::StepPart::offload]);
  CHECK(slow.step.time > away.step.time);
  // The host's memory moves the copies of all GPUs of the job on the node, here one.
  s.cluster.node.pcie.bandwidth = units::BytesPerSecond{1e12};
  s.cluster.node.host.memory_bandwidth = units::BytesPerSecond{1e9};
  CHECK(simulate(s).time[forecast::StepPart::offload].value ==
        Approx(slow.time[forecast::StepPart::offload].value).epsilon(1e-3));
}

TEST_CASE("the host holds the activations of all GPUs of its node, if it has the memory") {
  auto s = llama({.data = 8});
  s.training.global_batch = 8;
  const auto kept = simulate(s).layer.kept;
  s.plan.offload.activations = true;
  const auto away = simulate(s);
  CHECK(away.memory.host.value == Approx(8 * 8 * kept.value));  // 8 layers, 8 GPUs
  CHECK(away.memory.host_fits);
  s.plan.zero = 1;
  s.plan.offload.optimizer = strategies::Offload::Tier::cpu;
  CHECK(simulate(s).memory.host > away.memory.host);
  s.cluster.node.host.memory = away.memory.host;
  CHECK_FALSE(simulate(s).memory.host_fits);
}

TEST_CASE("a timeline has a lane each for copies out, copies back and the data loader") {
  auto s = llama();
  s.plan.offload.activations = true;
  s.software.data_loader = strategies::DataLoader{.samples_per_second = 100};
  std::set<std::string> lanes;
  for (const auto& slice : simulate(s, {.timeline = true}).timeline.slices)
    lanes.insert(std::string(slice.lane));
  for (const auto* lane : {"compute", "offload", "fetch", "data loader"}) CHECK(lanes.count(lane));
}

TEST_CASE("compression trades a cast for half of the bytes that linear layers keep") {
  auto s = llama();
  const auto none = simulate(s);
  s.plan.activation_compression = strategies::ActivationCompression::int8;
  const auto stored = simulate(s);
  CHECK(stored.layer.kept < none.layer.kept);
  CHECK(stored.step.time > none.step.time);
}

TEST_CASE("selective recomputation with flash attention is warned of, for each stage as for all") {
  auto s = llama({.pipeline = 2});
  const auto warned = [&] {
    for (const auto& warning : simulate(s).warnings)
      if (warning.find("selective recomputation frees almost nothing") == 0) return true;
    return false;
  };
  s.plan.recompute = {Recompute::Kind::selective};
  CHECK(warned());
  s.plan.recompute_of_stage = {{Recompute::Kind::none}, {Recompute::Kind::selective}};
  CHECK(warned());
  s.plan.recompute_of_stage = {{Recompute::Kind::full}, {Recompute::Kind::selective}};
  CHECK_FALSE(warned());
}

TEST_CASE("a data loader that sets the pace is named, with its time") {
  auto s = llama();
  s.software.data_loader = strategies::DataLoader{.samples_per_second = 1e6};
  CHECK(simulate(s).warnings.empty());
  s.software.data_loader->samples_per_second = 10;
  CHECK(simulate(s).warnings ==
        std::vector<std::string>{
            "the data loader sets the pace: it needs 400 ms for the 4 sequences that a GPU takes "
            "in a step; raise software.data_loader.samples_per_second"});
}

}  // namespace activations_spec

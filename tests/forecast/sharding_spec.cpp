// SPDX-License-Identifier: Apache-2.0
// Sharding, offloading and compression of states, end to end.
#include <algorithm>

#include "tests/fewer.hpp"
#include "tests/forecast/checks.hpp"
#include "tests/forecast/random_scenario.hpp"
#include "units/text.hpp"

namespace sharding_spec {

using forecast::simulate;
using tests::check_same;

namespace {

// A scenario of one GPU with all states of Adam on its host.
forecast::Scenario offloaded() {
  auto s = tests::scenario_under(
      {.zero = 2, .offload = {.optimizer = strategies::Offload::Tier::cpu, .gradients = true}}, 1);
  s.training = {.sequence_length = 512, .global_batch = 1};
  s.software = {};
  s.cluster = tests::cluster_of(1, 1, 1);
  return s;
}

}  // namespace

TEST_CASE("sharded, offloaded or compressed: folded ranks and templates change nothing") {
  const auto seed = GENERATE(range(0u, 250u / tests::fewer));
  std::mt19937 random(seed + 9000);
  const auto scenario = tests::sharded_scenario(random);
  INFO("seed " << seed);
  const auto folded = simulate(scenario);
  check_same(folded, simulate(scenario, {.full = true}));
  check_same(folded, simulate(scenario, {.templates = false}));
}

TEST_CASE("and on clusters that are narrow, degraded or mixed") {
  const auto seed = GENERATE(range(0u, 250u / tests::fewer));
  std::mt19937 random(seed + 12000);
  const auto scenario = tests::rough_scenario(random, true);
  INFO("seed " << seed);
  check_same(simulate(scenario), simulate(scenario, {.full = true}));
}

TEST_CASE("its time adds up, and its memory returns to where it was") {
  const auto seed = GENERATE(range(0u, 100u / tests::fewer));
  std::mt19937 random(seed + 15000);
  const auto scenario = tests::sharded_scenario(random);
  INFO("seed " << seed);
  const auto f = simulate(scenario, {.timeline = true});
  tests::check_adds_up(f);
  for (const auto& stage : f.pipeline.stages) CHECK(f.step.time >= stage.busy);
  for (const auto& slice : f.timeline.slices) CHECK(slice.start_ps <= slice.end_ps);
}

TEST_CASE(
    "Adam on the host takes its memory's time: 28 bytes a parameter at 0.6 of its bandwidth") {
  auto s = offloaded();
  s.cluster.node.pcie.bandwidth = {1e15};
  const auto f = simulate(s);
  const double parameters = f.memory.host.value / 16;  // 4 bytes of gradients, 12 of states
  // The copy of the last bucket's gradients takes some 1 % more.
  CHECK(f.time[forecast::StepPart::offload].value ==
        Approx(28 * parameters / (0.6 * 400e9)).epsilon(0.02));

  // Eight GPUs share the host, and each updates an eighth.
  s.plan.data = s.training.global_batch = 8;
  s.cluster = tests::cluster_of(8, 8, 8);
  s.cluster.node.pcie.bandwidth = {1e15};
  CHECK(simulate(s).memory.host.value == Approx(16 * parameters));
  CHECK(simulate(s).time[forecast::StepPart::offload].value ==
        Approx(28 * parameters / (0.6 * 400e9)).epsilon(0.02));
}

TEST_CASE("states on NVMe take as long as its drives do: 12 bytes read, 12 written") {
  auto s = offloaded();
  s.plan.offload.optimizer = strategies::Offload::Tier::nvme;
  s.cluster.node.pcie.bandwidth = {1e15};
  const auto f = simulate(s);
  const double parameters = f.memory.nvme.value / 12;
  CHECK(f.time[forecast::StepPart::offload].value ==
        Approx(12 * parameters / 20e9 + 12 * parameters / 10e9).epsilon(0.01));
}

TEST_CASE("a host or drive that overflows is forecast all the same, with a warning") {
  auto s = offloaded();
  s.cluster.node.host.memory = units::Bytes{1e6};
  auto f = simulate(s);
  CHECK_FALSE(f.memory.host_fits);
  CHECK(f.memory.fits);
  REQUIRE_FALSE(f.warnings.empty());
  CHECK(f.warnings.front() == "a node keeps " + units::short_text(f.memory.host) +
                                  " in host memory of 977 KiB; offload to nvme, shard more (zero), "
                                  "or use more nodes");
  s.cluster.node.host.memory = units::Bytes{1e12};
  CHECK(simulate(s).memory.host_fits);
  s.plan.offload.optimizer = strategies::Offload::Tier::nvme;
  s.cluster.node.nvme.capacity = units::Bytes{1e6};
  f = simulate(s);
  CHECK_FALSE(f.memory.host_fits);
  CHECK(f.warnings.front().find("in NVMe storage of 977 KiB; offload less") != std::string::npos);
}

TEST_CASE("compressed gradients take a sixteenth or half of the wire, and time to pack") {
  auto s = offloaded();
  s.plan = {.data = 8};
  s.training.global_batch = 8;
  s.cluster = tests::cluster_of(8, 1, 1);
  s.cluster.fabric.link_bandwidth = {1e8};  // so slow that only bytes count
  s.plan.overlap.data = false;
  s.software.gradient_precision = units::Precision::bf16;
  const auto sent = [&](strategies::GradientCompression compression) {
    s.plan.gradient_compression = compression;
    return simulate(s).time[forecast::StepPart::data_comm];
  };
  using enum strategies::GradientCompression;
  const auto plain = sent(none);
  CHECK(sent(fp8) / plain == Approx(1.0 / 2).epsilon(0.05));
  CHECK(sent(onebit) / plain == Approx(1.0 / 16).epsilon(0.1));
}

TEST_CASE(
    "fp16 reads and writes gradients once more, and every rank waits for the overflow check") {
  auto s = offloaded();
  s.plan = {};
  const auto plain = simulate(s);
  s.training.precision = units::Precision::fp16;
  const auto scaled = simulate(s);
  const double parameters = plain.memory.stages[0].optimizer.value / 12;
  CHECK((scaled.time[forecast::StepPart::optimizer] - plain.time[forecast::StepPart::optimizer])
            .value == Approx(8 * parameters / (0.85 * 2000e9)).epsilon(0.05));
}

TEST_CASE("Sophia's Hessian costs 5 % of the passes, LAMB reads 12 bytes a parameter more") {
  auto s = offloaded();
  s.plan = {};
  s.training.global_batch = 4;
  const auto adam = simulate(s);
  s.training.optimizer = strategies::Optimizer::sophia;
  const auto sophia = simulate(s);
  const auto& stage = adam.pipeline.stages[0];
  CHECK((sophia.time[forecast::StepPart::optimizer] - adam.time[forecast::StepPart::optimizer])
            .value ==
        Approx(0.05 * 4 * (stage.forward + stage.backward_input + stage.backward_weight).value)
            .epsilon(1e-6));
  s.training.optimizer = strategies::Optimizer::lamb;
  const double parameters = adam.memory.stages[0].optimizer.value / 12;
  CHECK((simulate(s).time[forecast::StepPart::optimizer] - adam.time[forecast::StepPart::optimizer])
            .value == Approx(12 * parameters / (0.85 * 2000e9)).epsilon(1e-3));
}

}  // namespace sharding_spec

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "tests/fewer.hpp"
#include "tests/forecast/checks.hpp"
#include "tests/forecast/random_scenario.hpp"
#include "units/text.hpp"

namespace simulate_spec {

using forecast::Forecast;
using forecast::simulate;
using tests::check_adds_up, tests::check_same;

namespace {

// Checks the busiest link of each kind, and every loss.
void check_same_network(const Forecast& a, const Forecast& b) {
  const auto busiest = [](const Forecast& f) {
    std::map<std::string, double> most;
    for (const auto& link : f.links) most[link.kind] = std::max(most[link.kind], link.utilisation);
    return most;
  };
  const auto most = busiest(b);
  CHECK(busiest(a).size() == most.size());
  for (const auto& [kind, utilisation] : busiest(a))
    CHECK(utilisation == Approx(most.at(kind)).epsilon(1e-12));
  REQUIRE(a.slowed.size() == b.slowed.size());
  for (std::size_t i = 0; i < a.slowed.size(); ++i) {
    CHECK(a.slowed[i].what == b.slowed[i].what);
    CHECK(a.slowed[i].by == b.slowed[i].by);
    CHECK(a.slowed[i].lost == b.slowed[i].lost);
  }
}

}  // namespace

TEST_CASE("one rank of each class gives the figures of all ranks, bit for bit") {
  const auto seed = GENERATE(range(0u, 250u / tests::fewer));
  std::mt19937 random(seed);
  const auto scenario = tests::random_scenario(random);
  INFO("seed " << seed);
  const auto folded = simulate(scenario);
  const auto full = simulate(scenario, {.full = true});
  CHECK(full.simulation.ranks_simulated == scenario.cluster.gpus);
  CHECK(folded.simulation.ranks_simulated <= full.simulation.ranks_simulated);
  check_same(folded, full);
}

TEST_CASE("folding is exact whatever is shared, degraded, slow or mixed") {
  const auto seed = GENERATE(range(0u, 600u / tests::fewer));
  std::mt19937 random(seed + 4000);
  const auto scenario = tests::rough_scenario(random);
  INFO("seed " << seed);
  const auto folded = simulate(scenario);
  const auto full = simulate(scenario, {.full = true});
  check_same(folded, full);
  check_same_network(folded, full);
}

TEST_CASE("repeated passes played once give the figures of every operator as an event") {
  const auto seed = GENERATE(range(0u, 150u / tests::fewer));
  std::mt19937 random(seed + 1000);
  const auto scenario = tests::random_scenario(random);
  INFO("seed " << seed);
  const auto quick = simulate(scenario);
  const auto slow = simulate(scenario, {.templates = false});
  CHECK(slow.simulation.events >= quick.simulation.events);
  check_same(quick, slow);
  check_same(quick, simulate(scenario, {.full = true, .templates = false}));
}

TEST_CASE("a forecast adds up: time parts, critical path, memory, timeline") {
  const auto seed = GENERATE(range(0u, 250u / tests::fewer));
  std::mt19937 random(seed + 2000);
  const auto scenario = tests::random_scenario(random);
  INFO("seed " << seed);
  const auto f = simulate(scenario, {.timeline = true});
  check_adds_up(f);
  double path = 0;
  for (const auto& part : f.critical_path) path += part.time.value;
  CHECK(path == Approx(f.step.time.value).epsilon(1e-12));
  CHECK(f.step.mfu > 0);
  CHECK(f.step.mfu <= 1);
  CHECK(f.step.hfu >= f.step.mfu);

  REQUIRE(f.memory.stages.size() == static_cast<std::size_t>(scenario.plan.pipeline));
  for (const auto& stage : f.memory.stages) {
    CHECK(stage.peak_allocated ==
          stage.weights + stage.gradients + stage.optimizer + stage.activations + stage.temporary);
    CHECK(stage.temporary.value >= 0);
    CHECK(stage.activations.value >= 0);
    CHECK(stage.peak >= stage.peak_reserved);
    CHECK(stage.peak_reserved >= stage.peak_allocated);
  }
  // Each stage holds at the end the bytes that it held at the start.
  for (int s = 0; s < static_cast<int>(scenario.plan.pipeline); ++s) {
    std::optional<units::Bytes> last;
    for (const auto& sample : f.timeline.memory)
      if (sample.stage == s) last = sample.activations;
    REQUIRE(last);
    CHECK(last->value == 0);
  }
  for (std::size_t i = 1; i < f.timeline.slices.size(); ++i) {
    const auto& a = f.timeline.slices[i - 1];
    const auto& b = f.timeline.slices[i];
    if (a.rank == b.rank && a.lane == b.lane) CHECK(a.start_ps <= b.start_ps);
  }
  for (const auto& arrow : f.timeline.arrows)
    CHECK(f.timeline.slices[arrow.from].end_ps == f.timeline.slices[arrow.to].end_ps);
}

TEST_CASE("a step is never faster than its busiest stage computes") {
  const auto seed = GENERATE(range(0u, 100u / tests::fewer));
  std::mt19937 random(seed + 3000);
  const auto scenario = tests::random_scenario(random);
  const auto f = simulate(scenario);
  for (const auto& stage : f.pipeline.stages) CHECK(f.step.time >= stage.busy);
}

TEST_CASE("folding a thousand GPUs of one shape leaves one rank per stage") {
  const auto s = tests::scenario_under({.tensor = 8, .pipeline = 4, .data = 32}, 256);
  CHECK(simulate(s).simulation.ranks_simulated == 4);
}

TEST_CASE("folding costs no more for more replicas of whole nodes") {
  const auto replicas = 4 * 4096;
  const auto f =
      simulate(tests::scenario_under({.tensor = 2, .pipeline = 4, .data = replicas}, replicas));
  CHECK(f.simulation.ranks == 131072);
  CHECK(f.simulation.ranks_simulated == 4);
}

TEST_CASE("ranks whose neighbours sit differently are told apart") {
  // 2 x 3 x 2 ranks are on nodes of 8: stage 0 fills ranks 0-5, stage 1 ranks 6-11. Replica 0 sends
  // to ranks 6 and 7 in its own node, replicas 1 and 2 send across.
  const auto s = tests::scenario_under({.tensor = 2, .pipeline = 2, .data = 3}, 6);
  const auto folded = simulate(s);
  CHECK(folded.simulation.ranks_simulated > 2);
  CHECK(folded.step.time == simulate(s, {.full = true}).step.time);
}

TEST_CASE("a plan that does not fit is still forecast, with a warning that says by how much") {
  auto s = tests::scenario_under({.data = 2}, 2);
  s.training = {.sequence_length = 512, .global_batch = 2};
  s.cluster.node.device.usable_memory = units::Bytes{1e6};
  const auto f = simulate(s);
  CHECK_FALSE(f.memory.fits);
  REQUIRE_FALSE(f.warnings.empty());
  CHECK(f.warnings.front() == "stage 0 needs " + units::short_text(f.memory.peak) + " of " +
                                  units::short_text(f.memory.capacity) + " device memory");
}

TEST_CASE("a plan fits if its tensors do: the allocator gives back cached bytes besides") {
  auto s = tests::scenario_under({.data = 2}, 2);
  s.software.reserved_over_allocated = 1.25;
  const auto free = simulate(s).memory;
  const auto outside = free.peak - free.peak_reserved;
  CHECK(free.peak_reserved.value == Approx(1.25 * free.peak_allocated.value));
  auto& room = s.cluster.node.device.usable_memory;
  room = 1.1 * free.peak_allocated + outside;
  const auto tight = simulate(s).memory;
  CHECK(tight.fits);
  CHECK(tight.peak == room);
  CHECK(tight.peak_allocated == free.peak_allocated);
  room = 0.9 * free.peak_allocated + outside;
  const auto none = simulate(s).memory;
  CHECK_FALSE(none.fits);
  CHECK(none.peak == free.peak_allocated + outside);  // the need, without cached bytes
}

TEST_CASE("copies that the update reads are there when activations are not") {
  auto s = tests::scenario_under({.data = 2}, 2);
  const auto optimizer = simulate(s).memory.stages[0].optimizer.value;
  const auto peak = [&](double bytes) {
    s.software.stepping_bytes = bytes;
    return simulate(s).memory.peak_allocated.value;
  };
  CHECK(peak(1e-3) == peak(0));
  CHECK(peak(2400) - peak(1200) == Approx(1200.0 / 12 * optimizer));
}

// GPipe holds all microbatches on every stage, and the last stage has the head besides.
TEST_CASE("among stages filled to the brim the one whose tensors take most is the peak") {
  auto s = tests::scenario_under({.pipeline = 2, .schedule = strategies::ScheduleKind::gpipe}, 2);
  s.software.reserved_over_allocated = 9;
  const auto free = simulate(s).memory;
  const auto& stages = free.stages;
  const auto most = std::max(stages[0].peak_allocated, stages[1].peak_allocated);
  REQUIRE(stages[0].peak_allocated != stages[1].peak_allocated);
  s.cluster.node.device.usable_memory = 1.01 * most + stages[0].communication + stages[0].framework;
  const auto tight = simulate(s).memory;
  REQUIRE(tight.stages[0].peak == tight.stages[1].peak);
  CHECK(tight.peak_allocated == most);
}

TEST_CASE("memory for gradients on their way comes after the passes, and counts apart") {
  auto s = tests::scenario_under({.data = 2}, 2);
  const auto without = simulate(s).memory;
  s.software.reduction_buffer = units::Bytes{1000};
  const auto with = simulate(s).memory;
  CHECK(with.peak_allocated == without.peak_allocated);
  CHECK((with.peak - without.peak).value == Approx(1000));
}

TEST_CASE("the same scenario gives the same answer on every run") {
  std::mt19937 random(7);
  const auto scenario = tests::random_scenario(random);
  check_same(simulate(scenario), simulate(scenario));
}

TEST_CASE("ranks of one NVLink pair are told from ranks of one node") {
  std::mt19937 random(3);
  auto s = tests::random_scenario(random);
  s.plan = {.tensor = 1, .pipeline = 3, .data = 4};
  s.plan.rank_order = {strategies::Degree::pipeline, strategies::Degree::tensor,
                       strategies::Degree::data};
  s.training.global_batch = 16;
  s.cluster = tests::cluster_of(12, 6, 2);
  s.cluster.node.nvlink.kind = topology::NvLink::Kind::pairs;
  s.cluster.node.pcie.bandwidth = units::BytesPerSecond{1e8};
  check_same(simulate(s), simulate(s, {.full = true}));
}

TEST_CASE("times beyond 64 bits of picoseconds are refused, not wrapped") {
  std::mt19937 random(3);
  auto s = tests::random_scenario(random);
  s.plan = {};
  s.cluster = tests::cluster_of(1, 1, 1);
  s.training.global_batch = 1;
  s.training.sequence_length = 500'000'000;
  CHECK_THROWS_AS(simulate(s), std::invalid_argument);
  s.training.sequence_length = 10'000'000;
  CHECK_NOTHROW(simulate(s));
  s.training.global_batch = 1'000'000;
  CHECK_THROWS_AS(simulate(s), std::invalid_argument);
}

}  // namespace simulate_spec

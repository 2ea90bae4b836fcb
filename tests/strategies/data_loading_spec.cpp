// SPDX-License-Identifier: Apache-2.0
// A data loader before the first pass of four microbatches; a forward pass takes 100 ticks, a
// backward pass 200.
#include <algorithm>
#include <random>

#include "tests/catch.hpp"
#include "tests/strategies/small_world.hpp"

namespace data_loading_spec {

using namespace strategies;

namespace {

tests::World fed(double ticks_per_microbatch, std::int64_t prefetch) {
  tests::World world;
  world.training.global_batch = 4;
  world.software.data_loader = DataLoader{1e12 / ticks_per_microbatch, prefetch};
  return world;
}

double passes(const units::Kernel& kernel) {
  if (kernel.kind != units::Kernel::Kind::attention) return 0;
  return kernel.layout == units::Kernel::Layout::forward ? 100 : 200;
}

sim::Picoseconds step(const tests::World& world) {
  return sim::run(world.lowered(tests::costs_of(passes, 0)).program).finish;
}

sim::Picoseconds waited(const tests::World& world) {
  const auto result = world.lowered(tests::costs_of(passes, 0));
  const auto measures = sim::measure(result.program, sim::run(result.program));
  return measures.of_actor[static_cast<std::size_t>(measures.last)].on[data_loading];
}

}  // namespace

TEST_CASE("without prefetch every microbatch is loaded before its forward pass, in full view") {
  CHECK(step(fed(50, 0)) == 4 * (50 + 100 + 200));
  CHECK(waited(fed(50, 0)) == 4 * 50);
}

TEST_CASE("one microbatch ahead, a loader that is fast enough costs nothing") {
  CHECK(step(fed(50, 1)) == 4 * 300);
  CHECK(waited(fed(50, 1)) == 0);
  CHECK(step(fed(300, 1)) == 4 * 300);
}

TEST_CASE("a loader that is too slow decides the time of the step, however far ahead it is") {
  for (const std::int64_t prefetch : {1, 2, 3, 4, 100}) {
    CHECK(step(fed(500, prefetch)) == 4 * 500);
    CHECK(waited(fed(500, prefetch)) == 4 * 500 - 4 * 300);
  }
}

TEST_CASE("forward passes in a row empty a small buffer, and not a large one") {
  auto world = fed(150, 1);
  world.plan.schedule = ScheduleKind::gpipe;
  // The forward passes begin at 0, 150, 300 and 450.
  CHECK(step(world) == 450 + 100 + 4 * 200);
  world.software.data_loader->prefetch = 3;
  CHECK(step(world) == 4 * 300);
}

TEST_CASE("only the ranks of the first stage load, one op for each microbatch") {
  auto world = fed(50, 2);
  world.model.layers = 2;
  world.plan.pipeline = 2;
  const auto result = world.lowered(tests::costs_of(passes, 0));
  int loads = 0;
  for (const auto& op : result.program.ops()) {
    if (op.activity != data_loading || op.kind != sim::Op::Kind::collective) continue;
    const auto actor = result.program.participants()[op.first].actor;
    CHECK(result.actors[static_cast<std::size_t>(actor)].stage == 0);
    CHECK(op.count == 1);
    ++loads;
  }
  CHECK(loads == 4);
}

TEST_CASE("a step lasts no less than its passes, nor than its loads, nor longer than both") {
  std::mt19937 random(5);
  const auto upto = [&](int most) {
    return static_cast<int>(random() % (1u + static_cast<unsigned>(most)));
  };
  for (int i = 0; i < 100; ++i) {
    auto world = fed(1 + upto(600), upto(6));
    world.training.global_batch = 1 + upto(8);
    if (upto(1) == 0) world.plan.schedule = ScheduleKind::gpipe;
    const auto loads = world.training.global_batch *
                       to_ticks(units::Seconds{1 / world.software.data_loader->samples_per_second});
    const auto compute = world.training.global_batch * 300;
    const auto time = step(world);
    CHECK(time >= std::max(loads, compute));
    CHECK(time <= loads + compute);
    ++world.software.data_loader->prefetch;
    CHECK(step(world) <= time);
  }
}

}  // namespace data_loading_spec

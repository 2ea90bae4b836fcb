// SPDX-License-Identifier: Apache-2.0
// Activations in host memory.
#include "tests/catch.hpp"
#include "tests/model/small_models.hpp"
#include "tests/strategies/small_world.hpp"

namespace activation_offload_spec {

using namespace strategies;

namespace {

constexpr std::int64_t microsecond = 1'000'000;

struct World : tests::World {
  double kernel = 1, copy = 0;  // ticks

  World() { model = small_models::llama(); }  // 3 layers
  Lowered lowered() const {
    auto costs = tests::costs_of([this](const units::Kernel&) { return kernel; }, 0);
    costs.host = [this](const topology::OffloadWork&, const Gpu&) {
      return units::Seconds{copy * 1e-12};
    };
    return tests::World::lowered(costs);
  }
};

struct Run {
  Lowered step;
  sim::Trace trace;
  sim::Spent spent;
};
Run run(const World& world) {
  Run out{world.lowered(), {}, {}};
  out.trace = sim::run(out.step.program);
  const auto measures = sim::measure(out.step.program, out.trace);
  out.spent = measures.of_actor.front();
  return out;
}

std::vector<const sim::Op*> copies(const Run& run, sim::Lane lane) {
  std::vector<const sim::Op*> list;
  for (const auto& op : run.step.program.ops())
    if (op.kind == sim::Op::Kind::collective && op.lane == lane) list.push_back(&op);
  return list;
}

}  // namespace

TEST_CASE("every layer is copied out once and fetched once, and waits on the host meanwhile") {
  World world;
  world.training.global_batch = 2;
  const auto kept = run(world);
  world.plan.offload.activations = true;
  const auto away = run(world);
  CHECK(copies(away, sim::Lane::offload).size() == 2 * 3);
  CHECK(copies(away, sim::Lane::fetch).size() == 2 * 3);
  const Block layer{.offloaded = ModuleSet::all()};
  const auto& cost = away.step.writer->cost(layer);
  CHECK(cost.kept == 0);
  CHECK(cost.offloaded == kept.step.writer->cost(Block{}).kept);
  CHECK(away.step.actors.front().host_activations.value ==
        3.0 * static_cast<double>(cost.offloaded));
  CHECK(kept.step.actors.front().host_activations.value == 0);
  // Copies that take no time leave the step as it was.
  CHECK(away.trace.finish == kept.trace.finish);
  CHECK(away.spent.on[offloading] == 0);
}

TEST_CASE("only the first layers of each rank, or only the listed modules of layers, are copied") {
  World world;
  world.plan.offload.activations = true;
  world.plan.offload.activation_layers = 2;
  CHECK(copies(run(world), sim::Lane::offload).size() == 2);
  world.plan.offload.activation_layers.reset();
  world.plan.offload.activation_modules = {Module::mlp};
  const auto step = run(world);
  const Block layer{.offloaded = ModuleSet::of(world.plan.offload.activation_modules)};
  // Inside of the MLP a layer keeps two tensors of 192 values and one more of 192, 2 bytes a value,
  // for each of 32 tokens.
  CHECK(step.step.writer->cost(layer).offloaded == 32 * 2 * 3 * 192);
  CHECK(step.step.writer->cost(layer).kept + 32 * 2 * 3 * 192 ==
        run(World{}).step.writer->cost(Block{}).kept);
}

// Kernels take no time. A layer waits until the last but one before it is copied out, so the third
// begins after one copy. Three copies out, one after the other, and three back take 6 us.
TEST_CASE("slow copies are exposed, one after the other each way") {
  World world;
  world.kernel = 0;
  world.copy = microsecond;
  world.plan.offload.activations = true;
  const auto step = run(world);
  CHECK(step.trace.finish == 6 * microsecond);
  CHECK(step.spent.on[offloading] == 6 * microsecond);
  CHECK(step.spent.idle == 0);
}

TEST_CASE("copies hide under the layers beside them") {
  World world;
  world.model.layers = 12;
  world.kernel = microsecond;
  const auto kept = run(world);
  world.copy = 5 * microsecond;  // a layer is 13 kernels forward
  world.plan.offload.activations = true;
  const auto away = run(world);
  // The fetch of the last layer begins when its copy out ends, and the head's passes hide a part of
  // both.
  CHECK(away.trace.finish == kept.trace.finish + away.spent.on[offloading]);
  CHECK(away.spent.on[offloading] <= 10 * microsecond);
}

// Stage 0 of two waits for its first gradients while it copies out the activations of its last
// forward pass.
TEST_CASE("copies that hide in a bubble are not exposed") {
  World world;
  world.model.layers = 4;
  world.plan = {.pipeline = 2};
  world.kernel = microsecond;
  world.training.global_batch = 4;
  const auto kept = run(world);
  world.copy = 5 * microsecond;
  world.plan.offload.activations = true;
  const auto away = run(world);
  CHECK(kept.spent.idle > 5 * microsecond);
  CHECK(away.spent.idle == kept.spent.idle);
  CHECK(away.spent.on[offloading] == 0);
  CHECK(away.trace.finish == kept.trace.finish);
}

TEST_CASE(
    "fetched activations are freed: memory returns to where it started under every schedule") {
  World world;
  world.model.layers = 4;
  world.training.global_batch = 8;
  world.plan.pipeline = 2;
  world.plan.data = 2;
  world.plan.offload.activations = true;
  world.plan.schedule =
      GENERATE(ScheduleKind::one_f_one_b, ScheduleKind::zb_h1, ScheduleKind::gpipe);
  world.plan.zero = GENERATE(0, 3);
  const auto step = run(world);
  for (const auto& held : sim::memory_held(step.step.program)) CHECK(held.left == 0);
}

}  // namespace activation_offload_spec

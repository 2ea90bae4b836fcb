// SPDX-License-Identifier: Apache-2.0
// Parts of lowering alone: the cast of a small job, bodies of passes, and single features that
// write to an emitter that is still empty.
#include "strategies/lowering/activation_offload.hpp"
#include "strategies/lowering/casting.hpp"
#include "strategies/lowering/data_loading.hpp"
#include "strategies/lowering/emitter.hpp"
#include "strategies/lowering/gradient_reduction.hpp"
#include "strategies/lowering/messages.hpp"
#include "tests/catch.hpp"
#include "tests/strategies/small_world.hpp"

namespace emitter_spec {

using namespace strategies;
using sim::no_event;

namespace {

struct Scene {
  tests::World world;
  Costs costs = tests::costs_of(tests::nothing, 7);
  topology::Cluster cluster;

  std::unique_ptr<const Cast> cast(Ranks ranks = Ranks::full) {
    const auto& plan = world.plan;
    cluster = tests::cluster_of(plan.tensor * plan.context * plan.data * plan.pipeline);
    return cast_of({world.model, world.training, plan, world.software, cluster}, costs, ranks);
  }
};

// A scene of two replicas of two stages of two tensor-parallel ranks: stage s of replica d has the
// ranks 4 s + 2 d and the one after it.
Scene eight_ranks() {
  Scene scene;
  scene.world.model.layers = 2;
  scene.world.plan = {.tensor = 2, .pipeline = 2, .data = 2};
  scene.world.training.global_batch = 4;
  return scene;
}

}  // namespace

TEST_CASE("every tensor-parallel group is a cell, and every rank meets its replicas in a group") {
  auto scene = eight_ranks();
  const auto cast = scene.cast();
  REQUIRE(cast->actors.size() == 8);
  for (int stage = 0; stage < 2; ++stage) {
    REQUIRE(cast->cells_at(stage).size() == 2);
    CHECK(cast->groups_at(FlowKind::tensor, stage).size() == 2);
    CHECK(cast->groups_at(FlowKind::ring, stage).size() == 2);
    CHECK(cast->groups_at(FlowKind::expert_ring, stage).empty());
    CHECK(cast->groups_at(FlowKind::context, stage).empty());
  }
  const auto& cell = cast->cells_at(0).front();
  CHECK(cell.ranks == std::vector<std::int64_t>{0, 1});
  for (std::size_t i = 0; i < 2; ++i) {
    const auto behind = cast->actors[cell.next[i]];
    CHECK(behind.stage == 1);
    CHECK(behind.rank == cell.ranks[i] + 4);
  }
  CHECK(cast->groups_at(FlowKind::ring, 0).front().shape.ranks == 2);
}

TEST_CASE("folded, one actor stands for all ranks of a stage") {
  auto scene = eight_ranks();
  const auto cast = scene.cast(Ranks::folded);
  REQUIRE(cast->actors.size() == 2);
  for (const auto& actor : cast->actors) CHECK(actor.multiplicity == 4);
}

TEST_CASE("a pass is written once, and once more for each slowdown") {
  auto scene = eight_ranks();
  const auto cast = scene.cast();
  Emitter emitter(*cast);
  auto& bodies = emitter.bodies;
  const auto& blocks = cast->blocks.front();
  const auto* once = &bodies.pass(0, blocks, Pass::forward);
  CHECK(&bodies.pass(0, blocks, Pass::forward) == once);
  const auto copy = blocks;  // equal blocks at another address
  CHECK(&bodies.pass(0, copy, Pass::forward) == once);
  const auto written = emitter.program.templates().size();
  CHECK(&bodies.pass(0, blocks, Pass::forward, {.slowdown = 1.5}) != once);
  CHECK(emitter.program.templates().size() == written + once->size());
}

TEST_CASE("gradients of a stage are reduced by every group that shares them, after its last pass") {
  auto scene = eight_ranks();
  const auto cast = scene.cast();
  Emitter emitter(*cast);
  const auto body = emitter.program.add_template({.steps = {{.duration = 5}}});
  const auto& group = cast->groups_at(FlowKind::ring, 1).front();
  const auto actor = group.actors.front();
  const auto last = emitter.pass_of(actor, body, {no_event, no_event}, {});
  reduce(emitter, *cast, 1, {.with_layer = 1000, .with_layer_tensors = 1});

  REQUIRE(emitter.program.ops().size() == 3);
  for (std::size_t op = 1; op < 3; ++op) {
    CHECK(emitter.program.ops()[op].kind == sim::Op::Kind::collective);
    CHECK(emitter.program.ops()[op].count == 2);
    CHECK(emitter.program.ops()[op].duration == 7);
  }
  const auto& waiting = emitter.program.participants()[1];
  CHECK(waiting.actor == sim::ActorId{actor});
  CHECK(waiting.after[0] == last);
  for (std::size_t i = 0; i < emitter.clocks.size(); ++i)
    CHECK((emitter.clocks[i].reduced != no_event) == (cast->actors[i].stage == 1));
}

TEST_CASE("equal gradients are sent over links as the same traffic") {
  auto scene = eight_ranks();
  scene.costs = tests::costs_of();
  scene.costs.collective = [](topology::Collective, units::Bytes size,
                              const topology::GroupShape&) {
    return topology::Sending{{0}, size, {1e9}};
  };
  const auto cast = scene.cast();
  Emitter emitter(*cast);
  const Parameters some{.with_layer = 1000}, others{.with_layer = 2000};
  reduce(emitter, *cast, 0, some);
  const auto known = emitter.sendings.collectives.size();
  reduce(emitter, *cast, 0, some);
  CHECK(emitter.sendings.collectives.size() == known);
  reduce(emitter, *cast, 0, others);
  CHECK(emitter.sendings.collectives.size() == 2 * known);
}

TEST_CASE(
    "a loader one microbatch ahead feeds the second pass with the load that the first one began") {
  auto scene = eight_ranks();
  scene.world.software.data_loader = DataLoader{1e12 / 50, 1};
  const auto cast = scene.cast();
  REQUIRE(cast->microbatches.all == 2);
  Emitter emitter(*cast);
  load_data(emitter, *cast, 0, {Pass::forward, 0, 0});
  for (auto actor : cast->cells_at(0).front().actors) {
    CHECK(emitter.clocks[actor].arrival == no_event);  // the step before loaded it
    REQUIRE(emitter.inputs[actor].loaded.size() == 1);
  }
  load_data(emitter, *cast, 0, {Pass::forward, 1, 0});
  for (auto actor : cast->cells_at(0).front().actors)
    CHECK(emitter.clocks[actor].arrival == emitter.inputs[actor].loaded.front());
  CHECK(emitter.program.labels().front().microbatch == 1);
  CHECK(emitter.program.labels().back().microbatch == 0);  // microbatch 0 of the next step
}

TEST_CASE(
    "a slot's output arrives as the input of the next stage's slot; the last stage sends none") {
  auto scene = eight_ranks();
  const auto cast = scene.cast();
  Emitter emitter(*cast);
  const Slot forward{Pass::forward, 1, 0};
  send_onwards(emitter, *cast, 0, forward);
  CHECK(emitter.program.ops().size() == 4);
  await_input(emitter, *cast, 1, forward);
  for (auto actor : cast->cells_at(1).front().actors)
    CHECK(emitter.clocks[actor].arrival != no_event);
  await_input(emitter, *cast, 1, {Pass::forward, 0, 0});
  for (auto actor : cast->cells_at(1).front().actors)
    CHECK(emitter.clocks[actor].arrival == no_event);
  send_onwards(emitter, *cast, 1, forward);
  CHECK(emitter.program.ops().size() == 4);
}

TEST_CASE("a copy of activations waits in host memory until it is fetched") {
  auto scene = eight_ranks();
  scene.world.plan.offload.activations = true;
  scene.costs.host = [](const topology::OffloadWork&, const Gpu&) { return units::Seconds{1e-12}; };
  const auto cast = scene.cast();
  Emitter emitter(*cast);
  const auto& blocks = cast->blocks.front();
  const auto bytes = offloaded(*cast, blocks);
  REQUIRE(bytes > 0);
  const auto& away = emitter.host_copies[cast->cells_at(0).front().actors.front()];
  for (int microbatch = 0; microbatch < 2; ++microbatch)
    copy_out(emitter, *cast, 0, {Pass::forward, microbatch, 0}, blocks);
  CHECK(away.held == 2 * bytes);
  fetch(emitter, *cast, 0, {Pass::backward, 1, 0}, &ActorClock::latest);
  CHECK(away.held == bytes);
  CHECK(away.most_held == 2 * bytes);
  CHECK(away.fetched.size() == 1);
  fetch(emitter, *cast, 0, {Pass::backward, 1, 0}, &ActorClock::latest);  // it is fetched already
  CHECK(away.held == bytes);
}

TEST_CASE("clocks are read as they are, or copied as they were") {
  auto scene = eight_ranks();
  const auto cast = scene.cast();
  Emitter emitter(*cast);
  const auto before = emitter.now(&ActorClock::latest);
  const auto live = emitter.after(&ActorClock::latest);
  const auto body = emitter.program.add_template({.steps = {{.duration = 5}}});
  const auto end = emitter.pass_of(3, body, {no_event, no_event}, {});
  CHECK(before[3] == no_event);
  CHECK(live(3) == end);
}

}  // namespace emitter_spec

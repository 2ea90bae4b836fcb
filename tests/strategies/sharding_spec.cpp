// SPDX-License-Identifier: Apache-2.0
// ZeRO-3 as its kinds of software do it: the size of gathers, their time, and the parameters that
// stay.
#include "plans/memory.hpp"
#include "tests/catch.hpp"
#include "tests/strategies/counting.hpp"

namespace sharding_spec {

using namespace strategies;
using counting::traffic, counting::World;

namespace {

World fsdp(int microbatches) {
  World world;
  world.plan = {.data = 8, .zero = 3};
  world.training.global_batch = 8 * microbatches;
  return world;
}

// The share of embedding, head and final norm in the parameters of `counting::World`.
double root_share() {
  const double hidden = 64, vocab = 512, ffn = 256, positions = 32;
  const double root = 2 * vocab * hidden + positions * hidden + 2 * hidden;
  const double layer = 4 * hidden * hidden + 2 * hidden * ffn + (9 + 4) * hidden;
  return root / (root + 8 * layer);
}

struct Times {
  double total, exposed;
};
// The times of a step in which a kernel takes `kernel` ticks, and a byte on the wire one.
Times times(const World& world, double kernel) {
  const auto result =
      counting::lowered(world, counting::costs([=](const units::Kernel&) { return kernel; }));
  const auto trace = sim::run(result.program, sim::Detail::templates);
  const auto measures = sim::measure(result.program, trace);
  return {static_cast<double>(trace.finish),
          static_cast<double>(measures.of_actor[0].on[data_comm])};
}

}  // namespace

TEST_CASE("whatever is gathered at once, ZeRO-3 moves 3m, without resharding 2m") {
  const int m = GENERATE(1, 2, 4);
  auto world = fsdp(m);
  world.plan.wrap.layers = GENERATE(0, 1, 2, 3, 8);
  CHECK(traffic(world) == Approx(3.0 * m).epsilon(1e-4));
  world.plan.reshard_after_forward = false;
  CHECK(traffic(world) == Approx(2.0 * m).epsilon(1e-4));
}

TEST_CASE("gradients that are reduced once a step move 1, whole parameters that stay move 1") {
  const int m = GENERATE(2, 4);
  auto world = fsdp(m);
  world.plan.wrap.layers = GENERATE(0, 1, 3);
  world.plan.gradient_sync = GradientSync::step;
  world.plan.overlap.data = GENERATE(false, true);
  CHECK(traffic(world) == Approx(2.0 * m + 1).epsilon(1e-4));
  world.plan.reshard_after_forward = false;
  CHECK(traffic(world) == Approx(2.0).epsilon(1e-4));
}

// The bytes that the passes of this kind read and write, per parameter of the first rank.
double copied(const World& world, LabelKind kind) {
  const auto result = counting::lowered(
      world, counting::costs([](const units::Kernel& kernel) { return kernel.traffic.value; }));
  const auto& ops = result.program.ops();
  double bytes = 0;
  for (std::size_t i = 0; i < ops.size(); ++i)
    if (ops[i].kind == sim::Op::Kind::pass && result.program.labels()[i].kind == kind)
      for (const auto& step : result.program.body(sim::TemplateId{ops[i].body}).steps)
        bytes += static_cast<double>(step.duration);
  return bytes / result.actors.front().held.parameters.all();
}

TEST_CASE("a unit's parameters are read and written once a gather, in 2 bytes") {
  const int m = GENERATE(1, 3);
  auto world = fsdp(m);
  CHECK(copied(world, label_gather_parameters) == 0);
  world.software.copies_parameters = true;
  world.plan.wrap.layers = GENERATE(1, 3);
  CHECK(copied(world, label_gather_parameters) == Approx(2 * m * (2 + 2)));
  world.software.root_unit = true;  // which is not gathered for the backward pass
  CHECK(copied(world, label_gather_parameters) == Approx((2 - root_share()) * m * (2 + 2)));
  world.plan.reshard_after_forward = false;
  CHECK(copied(world, label_gather_parameters) == Approx(m * (2 + 2)));
  CHECK(copied(world, label_reduce_gradients) == 0);
  world.plan.zero = 2;  // gathers into the parameters themselves
  CHECK(copied(world, label_gather_parameters) == 0);
}

TEST_CASE("a unit's gradients are read in 2 bytes and written as they are reduced") {
  const int m = GENERATE(2, 3);
  auto world = fsdp(m);
  CHECK(copied(world, label_reduce_gradients) == 0);
  world.software.copies_gradients = true;
  CHECK(copied(world, label_reduce_gradients) == Approx(m * (2 + 2)));
  world.software.gradient_precision = units::Precision::fp32;
  CHECK(copied(world, label_reduce_gradients) == Approx(m * (2 + 4)));
  world.plan.gradient_sync = GradientSync::step;  // summed in 4 bytes, reduced once
  CHECK(copied(world, label_reduce_gradients) == Approx(4 + 4));
  world.plan.gradient_compression = GradientCompression::fp8;  // packed as every gradient is
  CHECK(copied(world, label_reduce_gradients) ==
        Approx(packing_traffic(world.plan, world.training, 4)));
}

TEST_CASE("a unit runs when its parameters are out of their buffer") {
  auto world = fsdp(1);
  world.plan.overlap.data = world.plan.overlap.parameters = true;
  world.software.launch_forward = world.software.launch_backward = {0};
  const auto without = times(world, 1e6).total;
  world.software.copies_parameters = true;
  const auto units = 8 + 2;  // layers, embedding and head, each copied forward and backward
  CHECK(times(world, 1e6).total == Approx(without + 2 * units * 1e6));
}

TEST_CASE("a root unit is not gathered again for the backward pass") {
  const int m = GENERATE(1, 3);
  auto world = fsdp(m);
  world.software.root_unit = true;
  world.plan.wrap.layers = GENERATE(1, 3);
  CHECK(traffic(world) == Approx(m * (3 - root_share())).epsilon(1e-3));
  world.plan.wrap.layers = 0;  // the whole model is the root unit
  CHECK(traffic(world) == Approx(2.0 * m).epsilon(1e-4));
}

TEST_CASE("with a pipeline and zero-bubble schedules each gradient is still reduced once a pass") {
  World world;
  world.plan = {.pipeline = 2, .data = 4, .schedule = ScheduleKind::zb_h1, .zero = 2};
  world.plan.overlap.data = GENERATE(false, true);
  world.training.global_batch = 4 * 4;
  const auto result = counting::lowered(world);
  double parameters = 0;
  for (const auto& actor : result.actors) parameters += actor.held.parameters.all();
  CHECK(counting::per_parameter(result, {label_reduce_gradients}) *
            result.actors.front().held.parameters.all() ==
        Approx(2 * 4 * parameters).epsilon(1e-3));
}

TEST_CASE("the whole model as one unit overlaps nothing") {
  auto world = fsdp(2);
  world.software.root_unit = GENERATE(false, true);
  world.plan.wrap.layers = 0;
  world.plan.overlap.data = world.plan.overlap.parameters = true;
  const auto parameters = counting::lowered(world).actors.front().held.parameters.all();
  const double volume = world.software.root_unit ? 2 : 3;
  CHECK(times(world, 1e5).exposed == Approx(2 * 2 * volume * parameters).epsilon(1e-3));
}

// Without a root unit the head is gathered again as soon as its forward pass has freed it.
TEST_CASE("layer by layer, the ends of the model are exposed: they have nothing to hide under") {
  auto world = fsdp(1);
  world.plan.overlap.data = world.plan.overlap.parameters = true;
  // Kernels are so long that one hides any collective of a unit.
  const double embedding = 512 * 64 + 32 * 64, head = 512 * 64 + 2 * 64;
  CHECK(times(world, 1e6).exposed == Approx(2 * (2 * embedding + head)).epsilon(1e-3));
}

TEST_CASE("gathers that nothing limits run ahead of slow layers, and hold all of them") {
  auto world = fsdp(1);
  world.plan.overlap.parameters = true;
  const auto limited = counting::lowered(world);
  world.software.limit_all_gathers = false;
  const auto free = counting::lowered(world);
  const double layer = 4 * 64 * 64 + 2 * 64 * 256 + 13 * 64;
  CHECK(limited.actors[0].held.gathered == Approx(2 * layer));
  CHECK(free.actors[0].held.gathered == free.actors[0].held.parameters.all());

  // Returns when the last gather of the forward pass ends; a gather that runs ahead ends long
  // before the last layer does.
  const auto last_gather = [](const Lowered& result) {
    const auto trace = sim::run(result.program, sim::Detail::templates);
    std::int64_t gathered = 0, end = 0;
    for (std::size_t i = 0; i < result.program.ops().size(); ++i) {
      const auto kind = result.program.labels()[i].kind;
      if (kind == label_gather_parameters) gathered = trace.end[result.program.ops()[i].first];
      if (kind == label_forward) end = gathered;
    }
    return end;
  };
  const auto costs = counting::costs([](const units::Kernel&) { return 1e6; });
  const auto ahead = last_gather(counting::lowered(world, costs));
  world.software.limit_all_gathers = true;
  CHECK(last_gather(counting::lowered(world, costs)) > 5 * ahead);
}

TEST_CASE("a gather bucket says how far ahead ZeRO-3 gathers") {
  const double layer = 4 * 64 * 64 + 2 * 64 * 256 + 13 * 64;
  auto world = fsdp(1);
  world.model.vocab = 128;  // makes layers the largest units
  world.plan.overlap.parameters = true;
  const auto held = [&](double layers) {
    world.plan.gather_bucket = units::Bytes{2 * layers * layer};
    return counting::lowered(world).actors[0].held.gathered / layer;
  };
  CHECK(held(0.1) == 2);  // it gathers at least one layer ahead
  CHECK(held(1) == 2);
  CHECK(held(3) == 4);
}

TEST_CASE("Megatron's distributed optimizer gathers in buckets of their own") {
  World world;
  world.plan = {.data = 8, .zero = 1, .bucket = units::Bytes{1e12}};
  world.plan.overlap.parameters = true;
  const auto gathers = [&] {
    const auto result = counting::lowered(world);
    int count = 0;
    for (const auto& label : result.program.labels())
      count += label.kind == label_gather_parameters;
    return count;
  };
  CHECK(gathers() == 1);
  world.plan.gather_bucket = units::Bytes{1};
  CHECK(gathers() == 10);  // each block is gathered
}

TEST_CASE("a wider unit holds more: two of them, and a root that stays") {
  auto world = fsdp(1);
  const double layer = 4 * 64 * 64 + 2 * 64 * 256 + 13 * 64;
  const double root = 2 * 512 * 64 + 32 * 64 + 2 * 64;
  world.software.root_unit = true;
  for (const int layers : {1, 2, 4}) {
    world.plan.wrap.layers = layers;
    const auto facts = counting::lowered(world).actors[0];
    CHECK(facts.held.gathered == Approx(2 * layers * layer + root).epsilon(1e-2));
    CHECK(facts.held.unreduced == Approx(layers * layer + root).epsilon(1e-2));
    auto by_tensor = world;
    by_tensor.software.tensor_units = true;  // none is gathered ahead
    CHECK(counting::lowered(by_tensor).actors[0].held.gathered ==
          Approx(layers * layer + root).epsilon(1e-2));
  }
}

TEST_CASE("weight gradients read no parameters: with split backwards ZeRO-3 still moves 3m") {
  World world;
  const auto kind = GENERATE(ScheduleKind::one_f_one_b, ScheduleKind::zb_h1, ScheduleKind::zb_v);
  world.plan = {.pipeline = 2,
                .data = 4,
                .schedule = kind,
                .virtual_stages = kind == ScheduleKind::zb_v ? 2 : 1,
                .zero = 3};
  world.training.global_batch = 4 * 4;
  const auto result = counting::lowered(world);
  double parameters = 0;
  for (const auto& actor : result.actors) parameters += actor.held.parameters.all();
  const auto bytes = [&](LabelKind label) {
    return counting::per_parameter(result, {label}) * result.actors.front().held.parameters.all();
  };
  // Four microbatches gather and reduce two bytes a parameter.
  CHECK(bytes(label_gather_parameters) == Approx(2 * 4 * 2 * parameters).epsilon(1e-3));
  CHECK(bytes(label_reduce_gradients) == Approx(4 * 2 * parameters).epsilon(1e-3));
}

TEST_CASE("the copies of a tied embedding sum the part of its gradient that ZeRO-2 leaves a rank") {
  World world;
  world.model.tied_embeddings = true;
  world.plan = {.pipeline = 2, .data = 4, .zero = GENERATE(0, 1, 2, 3)};
  world.training.global_batch = 4 * 4;
  const auto result = counting::lowered(world);
  const double all_reduced = 2 * 2.0 * 512 * 64;  // two bytes each, in both directions
  const double copies = result.actors.front().held.parameters.all();
  CHECK(counting::per_parameter(result, {label_tied_embedding}) * copies ==
        Approx(world.plan.zero >= 2 ? all_reduced / 4 : all_reduced));
}

}  // namespace sharding_spec

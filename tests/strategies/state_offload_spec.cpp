// SPDX-License-Identifier: Apache-2.0
// Model states off the device (Ren et al. 2021, Rajbhandari et al. 2021).
#include "plans/memory.hpp"
#include "tests/catch.hpp"
#include "tests/strategies/counting.hpp"

namespace state_offload_spec {

using namespace strategies;
using counting::World;
using Tier = Offload::Tier;

namespace {

World world_of(int zero, int microbatches, const Offload& offload) {
  World world;
  world.plan = {.data = 4, .zero = zero, .offload = offload};
  world.training.global_batch = 4 * microbatches;
  return world;
}

// The bytes that the host moves, touches, reads and writes in a step, per parameter.
struct Asked {
  double moved = 0, touched = 0, read = 0, written = 0;
};
Asked asked(const World& world) {
  const auto only = [&](auto part) {
    auto costs = counting::costs();
    costs.host = [=](const topology::OffloadWork& work, const Gpu&) {
      return units::Seconds{(work.*part).value * 1e-12};
    };
    return counting::per_parameter(counting::lowered(world, costs), {label_offload});
  };
  using topology::OffloadWork;
  return {only(&OffloadWork::moved), only(&OffloadWork::touched), only(&OffloadWork::read),
          only(&OffloadWork::written)};
}

}  // namespace

TEST_CASE("an optimizer on the host takes 2 bytes a parameter each way, and 28 of its memory") {
  const int m = GENERATE(1, 4);
  auto world = world_of(GENERATE(0, 1, 2), m, {.optimizer = Tier::cpu});
  world.plan.overlap.data = GENERATE(false, true);
  const double shards = world.plan.zero == 0 ? 1 : 4;
  const auto host = asked(world);
  CHECK(host.moved == Approx((2 + 2) / shards).epsilon(1e-3));
  CHECK(host.touched == Approx(28 / shards).epsilon(1e-3));
  CHECK(host.read + host.written == 0);
}

TEST_CASE("gradients that live on the host go there after every microbatch") {
  const int m = GENERATE(1, 4);
  auto world = world_of(2, m, {.optimizer = Tier::cpu, .gradients = true});
  world.plan.overlap.data = GENERATE(false, true);
  CHECK(asked(world).moved == Approx((2.0 * m + 2) / 4).epsilon(1e-3));
}

TEST_CASE("parameters on the host are read before each gather, forward and backward") {
  const int m = GENERATE(1, 4);
  const Offload offload{.optimizer = Tier::cpu, .parameters = Tier::cpu, .gradients = true};
  auto world = world_of(3, m, offload);
  // New parameters stay on the host.
  CHECK(asked(world).moved == Approx((2.0 * m + 2 * 2.0 * m) / 4).epsilon(1e-3));
  world.software.root_unit = true;  // the root is read once, layers twice
  const double layers = 8 * (4 * 64 * 64 + 2 * 64 * 256 + 13 * 64);
  const auto parameters = counting::lowered(world).actors[0].held.parameters.all();
  CHECK(asked(world).moved ==
        Approx((2.0 * m + 2.0 * m * (1 + layers / parameters)) / 4).epsilon(1e-3));
  world.software.root_unit = false;
  world.plan.data = 1;  // no replica to share with
  world.training.global_batch = m;
  CHECK(asked(world).moved == Approx(2.0 * m + 2 * 2.0 * m).epsilon(1e-3));
  world.plan.offload = {.parameters = Tier::cpu};  // updated on the device, kept on the host
  CHECK(asked(world).moved == Approx(2 * 2.0 * m + 2).epsilon(1e-3));
}

TEST_CASE("states on NVMe are read and written once a step: 12 bytes a parameter each") {
  const auto host = asked(world_of(1, 2, {.optimizer = Tier::nvme}));
  CHECK(host.read == Approx(12.0 / 4).epsilon(1e-3));
  CHECK(host.written == Approx(12.0 / 4).epsilon(1e-3));
  const auto all = asked(world_of(3, 2, {.optimizer = Tier::nvme, .parameters = Tier::nvme}));
  CHECK(all.read == Approx((12.0 + 2 * 2 * 2) / 4).epsilon(1e-3));
  CHECK(all.written == Approx((12.0 + 2) / 4).epsilon(1e-3));
}

TEST_CASE("copies of gradients hide under the backward pass, the update does not") {
  auto world = world_of(2, 1, {.optimizer = Tier::cpu, .gradients = true});
  world.plan.bucket = units::Bytes{1};
  const auto costs = counting::costs([](const units::Kernel&) { return 1e6; });
  const auto exposed = [&] {
    const auto result = counting::lowered(world, costs);
    const auto trace = sim::run(result.program, sim::Detail::templates);
    return static_cast<double>(sim::measure(result.program, trace).of_actor[0].on[offloading]) /
           (result.actors[0].held.parameters.all() / 4);
  };
  world.plan.overlap.data = true;
  CHECK(exposed() == Approx(28 + 2 + 2 * 0.0876).epsilon(1e-2));  // exposes the embedding's copy
  world.plan.overlap.data = false;
  CHECK(exposed() == Approx(28 + 2 + 2).epsilon(1e-2));
}

TEST_CASE("the ZeRO paper's 7.5 B on one GPU: 14 bytes a parameter leave it (ZeRO-Offload)") {
  const Holding actor{.parameters = {7.5e9}, .unreduced = 1e8};
  const Training training{.sequence_length = 1, .global_batch = 1};
  const Software software{.gradient_precision = units::Precision::bf16, .gradient_bytes = 2};
  const auto held = [&](int zero, int shards, const Offload& offload) {
    return static_memory(actor, {shards, shards},
                         {.data = shards, .zero = zero, .offload = offload}, training, software);
  };
  const auto one = held(2, 1, {.optimizer = Tier::cpu, .gradients = true});
  CHECK(one.weights.value == 2 * 7.5e9);
  CHECK(one.gradients.value + one.optimizer.value == 0);
  CHECK(one.gathered.value == 2e8);  // 1e8 whole gradients of 2 bytes
  CHECK(one.host.value == 14 * 7.5e9);
  CHECK(one.nvme.value == 0);

  const auto infinity =
      held(3, 64, {.optimizer = Tier::nvme, .parameters = Tier::nvme, .gradients = true});
  CHECK((infinity.weights + infinity.gradients + infinity.optimizer).value == 0);
  CHECK(infinity.host.value == Approx(2 * 7.5e9 / 64));
  CHECK(infinity.nvme.value == Approx(14 * 7.5e9 / 64));
}

}  // namespace state_offload_spec

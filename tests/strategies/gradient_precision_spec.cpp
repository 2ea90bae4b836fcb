// SPDX-License-Identifier: Apache-2.0
// The plan's `gradient_precision`, wherever gradients are kept, moved and summed up.
#include "plans/memory.hpp"
#include "tests/catch.hpp"
#include "tests/strategies/counting.hpp"

namespace gradient_precision_spec {

using namespace strategies;
using counting::World;
using units::Precision;

namespace {

const Plan narrow{.gradient_precision = Precision::bf16};
const Training training{.sequence_length = 1, .global_batch = 1};

// The bytes of device memory traffic of a step's passes of one kind.
double traffic(const World& world, LabelKind kind) {
  auto costs = counting::costs();
  costs.kernel = [](const units::Kernel& kernel, const Gpu&) {
    return units::Seconds{kernel.traffic.value * 1e-12};
  };
  const auto result = counting::lowered(world, costs);
  double sum = 0;
  for (std::size_t i = 0; i < result.program.ops().size(); ++i)
    if (result.program.labels()[i].kind == kind)
      for (const auto& step : result.program.templates()[result.program.ops()[i].body].steps)
        sum += static_cast<double>(step.duration);
  return sum;
}

}  // namespace

TEST_CASE("gradients kept in bf16 take 2 bytes instead of 4, in fp32 training too") {
  const Holding actor{.parameters = {1e9}};
  for (const auto precision : {Precision::bf16, Precision::fp32}) {
    const Training in{.sequence_length = 1, .global_batch = 1, .precision = precision};
    CHECK(static_memory(actor, {1, 1}, {}, in, {}).gradients.value == 4e9);
    CHECK(static_memory(actor, {1, 1}, narrow, in, {}).gradients.value == 2e9);
    CHECK(reduced_gradient_bytes({}, in, {}) == 4);
    CHECK(reduced_gradient_bytes(narrow, in, {}) == 2);
  }
  // A plan's fp32 gradients take 4 bytes though the software keeps 2 in 16 bit, and bf16 ones never
  // less than the 2 asked for.
  const Software deepspeed{.gradient_precision = Precision::fp16, .gradient_bytes = 2};
  CHECK(kept_gradient_bytes({.gradient_precision = Precision::fp32}, training, deepspeed) == 4);
  const Software odd{.gradient_precision = Precision::fp32, .gradient_bytes = 2};
  CHECK(kept_gradient_bytes(narrow, training, odd) == 2);
}

// Of these bytes 26 are of the states: master copy and moments are read and written, 16-bit weights
// written. All others are passes over gradients of 4 bytes.
TEST_CASE("the optimizer passes over narrower gradients as often as over wider ones") {
  CHECK(optimizer_traffic(narrow, training, {.optimizer_traffic = 34}) == 34 - 8 / 2);
  CHECK(optimizer_traffic(narrow, training, {.optimizer_traffic = 46}) == 46 - 20 / 2);
  const Plan wide{.gradient_precision = Precision::fp32};
  CHECK(optimizer_traffic(wide, training, {}) == 34);
  const Software deepspeed{
      .gradient_precision = Precision::fp16, .gradient_bytes = 2, .optimizer_traffic = 46};
  CHECK(optimizer_traffic(wide, training, deepspeed) == 46 + 20 / 2);
}

TEST_CASE("zeroing the gradients of a host's optimizer takes the bytes that they are kept in") {
  World world;
  world.software.gradient_precision = Precision::fp32;
  world.plan.offload.optimizer = Offload::Tier::cpu;
  const auto parameters = counting::lowered(world).actors[0].held.parameters.all();
  CHECK(traffic(world, label_optimizer) == Approx(4 * parameters).epsilon(1e-6));
  world.plan.gradient_precision = Precision::bf16;
  CHECK(traffic(world, label_optimizer) == Approx(2 * parameters).epsilon(1e-6));
}

TEST_CASE("sums of weight gradients are read and written in their precision") {
  World world;
  world.training.global_batch = 1;
  world.software.gradient_precision = Precision::fp32;
  const auto wide = traffic(world, label_backward);
  world.plan.gradient_precision = Precision::bf16;
  // Each of eight layers has matrices of 64 x 192, 64 x 64 and twice 64 x 256; the head has 64 x
  // 512.
  const double weights = 8 * (64 * 192 + 64 * 64 + 2 * 64 * 256) + 64 * 512;
  CHECK(wide - traffic(world, label_backward) == Approx(2 * 2 * weights));
}

}  // namespace gradient_precision_spec

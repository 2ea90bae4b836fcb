// SPDX-License-Identifier: Apache-2.0
// Tensor-parallel communication beside computation. One layer lies on four ranks: a product of 32
// rows takes 400 ticks, one of 8 rows 100, and nothing else takes time but communication.
#include <algorithm>
#include <cmath>
#include <random>

#include "strategies/tensor_overlap.hpp"
#include "tests/catch.hpp"
#include "tests/strategies/small_world.hpp"

namespace tensor_overlap_spec {

using namespace strategies;

namespace {

tests::World divided(bool overlap, TensorOverlap manner) {
  tests::World world;
  world.plan = {.tensor = 4, .sequence_parallel = true};
  world.plan.overlap.tensor = overlap;
  world.software.tensor_overlap = manner;
  return world;
}

auto products(double per_row) {
  return [=](const units::Kernel& kernel) {
    const bool product = kernel.kind == units::Kernel::Kind::product &&
                         kernel.layout != units::Kernel::Layout::weight_gradient;
    return product ? per_row * static_cast<double>(kernel.m) : 0;
  };
}

constexpr Block layer{};

double forward(const tests::World& world, double collective, double per_row = 12.5) {
  const auto result = world.lowered(tests::costs_of(products(per_row), collective));
  return static_cast<double>(spent_alone(result.writer->forward({layer})).total());
}
double backward(const tests::World& world, double collective, Pass pass = Pass::backward) {
  const auto result = world.lowered(tests::costs_of(products(12.5), collective));
  return static_cast<double>(spent_alone(result.writer->backward({layer}, pass)).total());
}

}  // namespace

TEST_CASE("cut into parts, a gather hides under the product, or the product under the gather") {
  const auto plain = divided(false, TensorOverlap::pipelined);
  const auto cut = divided(true, TensorOverlap::pipelined);
  for (const double collective : {60.0, 300.0, 600.0}) {
    CHECK(forward(plain, collective) == 4 * (400 + collective));
    CHECK(forward(cut, collective) == 4 * std::max(400.0, 100 + collective));
  }
}

TEST_CASE("overlap of the backward pass leaves the forward pass as it is") {
  CHECK(forward(divided(true, TensorOverlap::async), 60) == 4 * 460);
}

TEST_CASE("backward, gradients are gathered into products; reductions have weight gradients") {
  const auto async = divided(true, TensorOverlap::async);
  const auto cut = divided(true, TensorOverlap::pipelined);
  // Two of four products gather (100 + 600). The other two hide a gather of their inputs (600) and
  // have a reduction under their weight gradients, which take no time (600).
  CHECK(backward(async, 600) == 2 * (600 + 400) + 2 * (600 + 600));
  CHECK(backward(cut, 600) == 2 * (100 + 600) + 2 * (600 + 600));
  // Without weight gradients their inputs are not gathered, and reductions follow in parts.
  CHECK(backward(async, 600, Pass::backward_input) == 4 * (600 + 400));
  CHECK(backward(cut, 600, Pass::backward_input) == 4 * (100 + 600));
}

TEST_CASE("in parts a product takes the longer of itself, and of its first part and the messages") {
  std::mt19937 random(3);
  for (int i = 0; i < 200; ++i) {
    const double per_row = static_cast<double>(random() % 100);
    const double collective = 3 * static_cast<double>(random() % 2000);
    CHECK(forward(divided(true, TensorOverlap::pipelined), collective, per_row) ==
          4 * std::max(32 * per_row, 8 * per_row + collective));
  }
}

TEST_CASE("one call launches all parts, in any number of ranks") {
  auto world = divided(true, TensorOverlap::pipelined);
  world.software.launch_forward = units::Seconds{7e-12};
  const auto result = world.lowered(tests::costs_of(products(12.5), 60));
  auto plain_world = divided(false, TensorOverlap::pipelined);
  plain_world.software.launch_forward = units::Seconds{7e-12};
  const auto plain = plain_world.lowered(tests::costs_of(products(12.5), 60));
  const auto launches = [](const Pieces& pieces) {
    return std::ranges::count_if(pieces.front().body.steps,
                                 [](const auto& step) { return step.issue > 0; });
  };
  // Four collectives are launched with their products.
  CHECK(launches(result.writer->forward({layer})) == launches(plain.writer->forward({layer})) - 4);
}

TEST_CASE("products that cannot be cut stay whole: undivided rows, groups beyond a node") {
  auto rows = divided(true, TensorOverlap::pipelined);
  rows.plan.sequence_parallel = false;
  CHECK_FALSE(pipelines_tensor(rows.share()));
  const auto cut = divided(true, TensorOverlap::pipelined);
  auto share = cut.share();
  CHECK(pipelines_tensor(share));
  share.outside = true;
  CHECK_FALSE(pipelines_tensor(share));
}

TEST_CASE("a part has its share of rows and reads all weights; t parts are summed at the end") {
  const units::Kernel whole{.kind = units::Kernel::Kind::product,
                            .m = 32,
                            .n = 6,
                            .k = 5,
                            .flops = {2.0 * 32 * 6 * 5},
                            .traffic = {2.0 * (32 * 5 + 5 * 6 + 32 * 6)}};
  const auto part = part_of(whole, 4);
  CHECK(part.m == 8);
  CHECK(part.flops.value == 2.0 * 8 * 6 * 5);
  CHECK(part.traffic.value == 2.0 * (8 * 5 + 5 * 6 + 8 * 6));
  const auto world = divided(true, TensorOverlap::pipelined);
  CHECK(sum_of_parts(world.share(), 400).traffic.value == 4 * 100 + 100);
}

TEST_CASE("communication slows the computation that it runs beside, as long as it lasts") {
  auto world = divided(true, TensorOverlap::pipelined);
  world.software.interference = 0.5;
  CHECK(forward(world, 600) == 4 * (150 + 600));  // beside all of a product: half slower
  CHECK(forward(world, 200) == 4 * 500);          // beside half of it: a quarter slower
  world.plan.overlap.tensor = false;
  CHECK(forward(world, 600) == 4 * (400 + 600));
  // Inputs are gathered beside two of four products in any case.
  CHECK(backward(world, 200) == 2 * (200 + 400) + 2 * (500 + 200));
}

}  // namespace tensor_overlap_spec

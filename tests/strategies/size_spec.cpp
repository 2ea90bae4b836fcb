// SPDX-License-Identifier: Apache-2.0
// Steps that are refused because they would not fit into memory.
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "tests/catch.hpp"
#include "tests/strategies/small_world.hpp"

namespace size_spec {

using namespace strategies;

namespace {

double one(const units::Kernel&) { return 1; }

tests::World deep_world() {
  tests::World world;
  world.model.layers = 32;
  return world;
}

double events(tests::World world, std::int64_t batch) {
  world.training.global_batch = batch;
  const auto step = world.lowered(tests::costs_of(one, 0));
  return static_cast<double>(step.program.participants().size());
}

// The millions of events that the refusal of a step speaks of.
double refused(tests::World world, std::int64_t batch) {
  world.training.global_batch = batch;
  double millions = 0;
  try {
    (void)world.lowered(tests::costs_of(one, 0));
  } catch (const std::invalid_argument& error) {
    std::sscanf(error.what(), "the step would be %lf million events", &millions);
  }
  return millions;
}

}  // namespace

TEST_CASE("a step is refused for the number of its events, exchanges of layers included") {
  auto world = deep_world();
  const auto exchange = GENERATE(0, 1, 2, 3);
  if (exchange < 3) world.plan.context = 2;
  if (exchange == 1) world.plan.context_method = ContextMethod::ulysses;
  if (exchange == 2) world.plan.recompute.kind = Recompute::Kind::full;
  if (exchange == 3) {
    world.model.moe = model::Moe{.experts = 4, .top_k = 2, .expert_ffn = 32};
    world.plan.data = world.plan.expert = 2;
  }
  const double each = (events(world, 8) - events(world, 4)) / 4;
  const auto batch = 2 * static_cast<std::int64_t>(std::ceil(2e7 / each));
  CHECK(refused(world, batch) == Approx(each * static_cast<double>(batch) / 1e6).epsilon(0.05));
}

}  // namespace size_spec

// SPDX-License-Identifier: Apache-2.0
// Ways to sum gradients and return parameters where ZeRO-1 divides the optimizer's states.
#include <map>

#include "tests/catch.hpp"
#include "tests/strategies/counting.hpp"

namespace zero_1_spec {

using namespace strategies;
using counting::World;
using topology::Collective;

namespace {

// The bytes of the collectives of a step, by kind; values have 2 bytes.
std::map<Collective, std::vector<double>> asked(const World& world) {
  std::map<Collective, std::vector<double>> sizes;
  auto costs = counting::costs();
  costs.collective = [&](Collective kind, units::Bytes size, const topology::GroupShape& group) {
    if (size.value > 8) sizes[kind].push_back(size.value);  // leaves out the norm of gradients
    return topology::Sending{{(group.ranks + size.value) * 1e-12}, {0}, {1}};
  };
  counting::lowered(world, costs);
  return sizes;
}

World zero_1(std::int64_t replicas) {
  World world;
  world.plan = {.data = replicas, .zero = 1};
  world.training.global_batch = replicas;
  world.software.overlap_data = false;
  return world;
}

// The ticks of the last collective of this kind: one a byte, and one a rank of each call.
double ticks(const World& world, LabelKind kind) {
  auto costs = counting::costs();
  costs.collective = [](Collective, units::Bytes size, const topology::GroupShape& group) {
    return topology::Sending{{(group.ranks + size.value) * 1e-12}, {0}, {1}};
  };
  const auto result = counting::lowered(world, costs);
  double sum = 0;
  for (std::size_t i = 0; i < result.program.ops().size(); ++i)
    if (result.program.labels()[i].kind == kind)
      sum = static_cast<double>(result.program.ops()[i].duration);
  return sum;
}

}  // namespace

TEST_CASE("ZeRO-1 sums to each rank its share of the gradients, or all to all") {
  auto world = zero_1(4);
  const double all = 2 * counting::lowered(world).actors[0].held.parameters.all();
  CHECK(asked(world)[Collective::reduce_scatter] == std::vector{all});
  CHECK(asked(world)[Collective::all_reduce].empty());
  world.software.all_reduce_gradients = true;
  CHECK(asked(world)[Collective::all_reduce] == std::vector{all});
  CHECK(asked(world)[Collective::reduce_scatter].empty());
  CHECK(asked(world)[Collective::all_gather] == std::vector{all});
}

TEST_CASE("whole tensors are reduced to their owners, and broadcast from one after the other") {
  auto world = zero_1(4);
  world.software.states_by_tensor = true;
  const double parameters = counting::lowered(world).actors[0].held.parameters.all();
  CHECK(asked(world)[Collective::reduce] == std::vector{2 * parameters / 4});
  CHECK(asked(world)[Collective::broadcast] == std::vector{2 * parameters / 4});
  // Four calls take four ticks each beside a tick for each byte.
  CHECK(ticks(world, label_reduce_gradients) == Approx(4 * 4 + 2 * parameters));
  CHECK(ticks(world, label_gather_parameters) == Approx(4 * 4 + 2 * parameters));
}

TEST_CASE("no more ranks own something than there are tensors") {
  // A layer has two norms and four matrices, with their biases; the others are both embeddings, the
  // head and the last norm.
  const std::int64_t tensors = 8 * 6 + 4;
  auto world = zero_1(64);
  world.software.states_by_tensor = true;
  const double parameters = counting::lowered(world).actors[0].held.parameters.all();
  CHECK(ticks(world, label_gather_parameters) == Approx(64.0 * tensors + 2 * parameters));
}

}  // namespace zero_1_spec

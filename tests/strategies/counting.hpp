// SPDX-License-Identifier: Apache-2.0
// Eight layers whose costs count bytes: a collective takes as many ticks as it moves bytes per rank
// of a large group, the host as many as it moves, touches, reads and writes, a kernel one.
#pragma once
#include "tests/strategies/small_world.hpp"

namespace counting {

using strategies::LabelKind, strategies::Lowered;

inline strategies::Costs costs(const tests::KernelTicks& kernel = [](const units::Kernel&) {
  return 1;
}) {
  auto costs = tests::costs_of(kernel, tests::sent);
  costs.host = [](const topology::OffloadWork& work, const strategies::Gpu&) {
    const auto all = work.moved + work.touched + work.read + work.written;
    return units::Seconds{all.value * 1e-12};
  };
  return costs;
}

struct World : tests::World {
  World() {
    model.layers = 8;
    model.dropout = 0.1;
    training.global_batch = 32;
    software = {.gradient_precision = units::Precision::bf16};
  }
};

inline Lowered lowered(const World& world, const strategies::Costs& costs = counting::costs()) {
  return world.lowered(costs);
}

// The bytes of all ops of these kinds, per parameter of the first rank.
inline double per_parameter(const Lowered& result, std::initializer_list<LabelKind> kinds) {
  double bytes = 0;
  for (std::size_t i = 0; i < result.program.ops().size(); ++i)
    for (auto kind : kinds)
      if (result.program.labels()[i].kind == kind)
        bytes += static_cast<double>(result.program.ops()[i].duration);
  return bytes / result.actors.front().held.parameters.all();
}

// The bytes that one rank moves in gradient and parameter collectives, in units of its 16-bit
// parameters.
inline double traffic(const World& world) {
  using enum LabelKind;
  return per_parameter(lowered(world), {label_reduce_gradients, label_gather_parameters}) / 2;
}

}  // namespace counting

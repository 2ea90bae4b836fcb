// SPDX-License-Identifier: Apache-2.0
// A world whose durations count bytes: a collective takes as many ticks as it moves per rank of a
// large group, the host as many as it moves, touches, reads and writes, a kernel one.
#pragma once
#include "strategies/activity.hpp"
#include "strategies/lower.hpp"

namespace counting {

using namespace strategies;

inline Costs costs() {
  const auto fixed = [](double ticks) {
    return topology::Sending{units::Seconds{ticks * 1e-12}, units::Bytes{0},
                             units::BytesPerSecond{1}};
  };
  return {.kernel = [](const units::Kernel&, const Gpu&) { return units::Seconds{1e-12}; },
          .collective =
              [=](topology::Collective kind, units::Bytes size, const topology::GroupShape&) {
                return fixed((kind == topology::Collective::all_reduce ? 2 : 1) * size.value);
              },
          .transfer = [=](units::Bytes, std::int64_t, std::int64_t) { return fixed(1); },
          .host =
              [](const topology::HostWork& work, const Gpu&) {
                const auto all = work.moved + work.touched + work.read + work.written;
                return units::Seconds{all.value * 1e-12};
              }};
}

struct World {
  model::Transformer model{.layers = 8,
                           .hidden = 64,
                           .heads = 4,
                           .kv_heads = 4,
                           .head_dim = 16,
                           .ffn = 256,
                           .vocab = 512,
                           .max_sequence = 32,
                           .tied_embeddings = false};
  Training training{.sequence_length = 32, .global_batch = 32};
  Plan plan;
  Software software{.gradient_precision = units::Precision::bf16};
};

inline Lowered lowered(const World& world, const Costs& costs = counting::costs()) {
  const auto& p = world.plan;
  topology::Cluster cluster;
  cluster.node.gpus = 8;
  cluster.node.nics.count = 8;
  cluster.node.nvlink.bandwidth = cluster.node.nics.bandwidth =
      cluster.fabric.link_bandwidth = {25e9};
  cluster.gpus = p.tensor * p.pipeline * p.data;
  return lower({world.model, world.training, world.plan, world.software, cluster}, costs,
               Ranks::folded);
}

// Bytes of all ops of these kinds, per parameter of the first rank.
inline double per_parameter(const Lowered& result, std::initializer_list<LabelKind> kinds) {
  double bytes = 0;
  for (std::size_t i = 0; i < result.program.ops().size(); ++i)
    for (auto kind : kinds)
      if (result.program.labels()[i].kind == kind)
        bytes += static_cast<double>(result.program.ops()[i].duration);
  return bytes / result.actors.front().parameters;
}

}  // namespace counting

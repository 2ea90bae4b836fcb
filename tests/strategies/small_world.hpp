// SPDX-License-Identifier: Apache-2.0
// Steps of one small layer: 32 tokens of 64 values, four heads, kernels and collectives that take
// as many ticks (picoseconds) as a test says, messages and a host that take none.
#pragma once
#include <functional>

#include "sim/engine.hpp"
#include "sim/measures.hpp"
#include "strategies/activity.hpp"
#include "strategies/lowering/lower.hpp"
#include "topology/cluster.hpp"
#include "topology/collective.hpp"

namespace tests {

// The ranks of a shard group where all sharers form one: no data-parallel group has more.
inline constexpr std::int64_t one_copy = std::int64_t{1} << 40;

using topology::Collective;

using KernelTicks = std::function<double(const units::Kernel&)>;
using CollectiveTicks =
    std::function<double(Collective, double bytes, const topology::GroupShape&)>;

inline double nothing(const units::Kernel&) { return 0; }
inline double flops_of(const units::Kernel& kernel) { return kernel.flops.value; }
inline double bytes_of(Collective, double bytes, const topology::GroupShape&) { return bytes; }
// The bytes that a rank of a large group sends.
inline double sent(Collective kind, double bytes, const topology::GroupShape&) {
  return (kind == Collective::all_reduce ? 2 : 1) * bytes;
}

inline strategies::Costs costs_of(const KernelTicks& kernel = nothing,
                                  const CollectiveTicks& collective = bytes_of) {
  return {.kernel = [=](const units::Kernel& k,
                        const strategies::Gpu&) { return units::Seconds{kernel(k) * 1e-12}; },
          .collective =
              [=](Collective kind, units::Bytes size, const topology::GroupShape& group) {
                return topology::Sending{{collective(kind, size.value, group) * 1e-12}, {0}, {1}};
              },
          .transfer =
              [](units::Bytes, std::int64_t, std::int64_t) {
                return topology::Sending{{0}, {0}, {1}};
              }};
}

// Costs with which every collective takes `ticks`.
inline strategies::Costs costs_of(const KernelTicks& kernel, double ticks) {
  return costs_of(kernel, [=](Collective, double, const topology::GroupShape&) { return ticks; });
}

inline topology::Cluster cluster_of(std::int64_t gpus, int per_node = 8, int nics = 8) {
  topology::Cluster cluster;
  cluster.node.gpus = per_node;
  cluster.node.nvlink.bandwidth = {300e9};
  cluster.node.nics = {.count = nics, .bandwidth = {25e9}};
  cluster.fabric.link_bandwidth = {25e9};
  cluster.fabric.efficiency = 1;
  cluster.gpus = gpus;
  return cluster;
}

struct World {
  model::Transformer model{.layers = 1,
                           .hidden = 64,
                           .heads = 4,
                           .kv_heads = 4,
                           .head_dim = 16,
                           .ffn = 256,
                           .vocab = 512,
                           .max_sequence = 32,
                           .tied_embeddings = false,
                           .dropout = 0};
  strategies::Training training{.sequence_length = 32, .global_batch = 1};
  strategies::Plan plan;
  strategies::Software software{.launch_forward{0}, .launch_backward{0}, .step_overhead{0}};

  strategies::Share share() const { return {model, plan, training, software}; }
  // The lowered step refers to this world, which must outlive it.
  strategies::Lowered lowered(const strategies::Costs& costs) const {
    return lowered(costs, cluster_of(plan.tensor * plan.context * plan.data * plan.pipeline));
  }
  strategies::Lowered lowered(const strategies::Costs& costs, const topology::Cluster& cluster,
                              strategies::Ranks ranks = strategies::Ranks::folded) const {
    return lower({model, training, plan, software, cluster}, costs, ranks);
  }
};

}  // namespace tests

// SPDX-License-Identifier: Apache-2.0
// Steps of one small layer whose kernels and collectives take as many ticks as a test says.
#pragma once
#include <functional>

#include "sim/engine.hpp"
#include "sim/measures.hpp"
#include "strategies/activity.hpp"
#include "strategies/lower.hpp"

namespace tests {

using KernelTicks = std::function<double(const units::Kernel&)>;

// Every collective takes `ticks`, a message one.
inline strategies::Costs costs_of(const KernelTicks& kernel, double ticks = 0) {
  const auto fixed = [](double time) {
    return topology::Sending{units::Seconds{time * 1e-12}, units::Bytes{0},
                             units::BytesPerSecond{1}};
  };
  return {.kernel = [=](const units::Kernel& k,
                        const strategies::Gpu&) { return units::Seconds{kernel(k) * 1e-12}; },
          .collective = [=](topology::Collective, units::Bytes,
                            const topology::GroupShape&) { return fixed(ticks); },
          .transfer = [=](units::Bytes, std::int64_t, std::int64_t) { return fixed(1); }};
}

// One layer, sequences of 32 tokens, four heads of 16; the host is no hindrance.
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
  strategies::Software software{
      .launch_forward{0}, .launch_backward{0}, .step_overhead{0}, .pipeline_sync = false};

  // The result refers to this world.
  strategies::Lowered lowered(const strategies::Costs& costs) const {
    topology::Cluster cluster;
    cluster.node.gpus = 8;
    cluster.node.nics.count = 8;
    cluster.node.nvlink.bandwidth = cluster.node.nics.bandwidth =
        cluster.fabric.link_bandwidth = {25e9};
    cluster.gpus = plan.tensor * plan.context * plan.data * plan.pipeline;
    return lower({model, training, plan, software, cluster}, costs, strategies::Ranks::folded);
  }
};

}  // namespace tests

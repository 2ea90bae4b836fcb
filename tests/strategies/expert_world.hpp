// SPDX-License-Identifier: Apache-2.0
// One layer with experts whose every byte and tick can be counted.
#pragma once
#include <functional>

#include "strategies/experts.hpp"
#include "strategies/lower.hpp"

namespace tests {

using namespace strategies;
using topology::Collective;

using KernelTicks = std::function<double(const units::Kernel&)>;
using CollectiveTicks = std::function<double(Collective, double, const topology::GroupShape&)>;

inline double nothing(const units::Kernel&) { return 0; }
inline double bytes_of(Collective, double size, const topology::GroupShape&) { return size; }

// A tick for each byte of a buffer, unless told otherwise.
inline Costs costs_of(const KernelTicks& kernel = nothing,
                      const CollectiveTicks& collective = bytes_of) {
  return {.kernel = [=](const units::Kernel& k,
                        const Gpu&) { return units::Seconds{kernel(k) * 1e-12}; },
          .collective =
              [=](Collective kind, units::Bytes size, const topology::GroupShape& group) {
                return topology::Sending{{collective(kind, size.value, group) * 1e-12}, {0}, {1}};
              },
          .transfer =
              [](units::Bytes, std::int64_t, std::int64_t) {
                return topology::Sending{{1e-12}, {0}, {1}};
              }};
}

// 32 tokens of 64 values, each to 2 of 8 experts of width 48.
struct ExpertWorld {
  model::Transformer model{.layers = 1,
                           .hidden = 64,
                           .heads = 4,
                           .kv_heads = 4,
                           .head_dim = 16,
                           .ffn = 256,
                           .vocab = 512,
                           .max_sequence = 32,
                           .tied_embeddings = false,
                           .biases = false,
                           .qkv_biases = false,
                           .dropout = 0,
                           .moe = model::Moe{.experts = 8, .top_k = 2, .expert_ffn = 48}};
  Training training{.sequence_length = 32, .global_batch = 1};
  Plan plan{.data = 4, .expert = 4};
  Software software{.launch_forward{0}, .launch_backward{0}, .step_overhead{0}};
  topology::GroupShape experts{.ranks = 4, .least_per_node = 4, .most_per_node = 4};

  ExpertWorld() { software.kernels.attention = model::AttentionKernel::flash; }
  Share share() const {
    Share share{model, plan, training, software};
    share.tensor_shape.ranks = static_cast<int>(plan.tensor);
    share.expert_shape = experts;
    share.expert_tensor_shape.ranks = static_cast<int>(expert_tensor(plan));
    return share;
  }
  PassWriter writer(const Costs& costs) const { return {share(), costs, blocks_of(model, plan)}; }
  Block layer() const { return blocks_of(model, plan).front()[1]; }
  // Ticks of what is exchanged once: with bytes_of, bytes.
  double dispatched(const Costs& costs = costs_of()) const { return ticks(true, costs); }
  double combined(const Costs& costs = costs_of()) const { return ticks(false, costs); }

 private:
  double ticks(bool dispatch, const Costs& costs) const {
    const auto exchanges = expert_exchanges(share(), costs);
    const auto& sending = dispatch ? exchanges.dispatch : exchanges.combine;
    return sending ? static_cast<double>(to_ticks(sending->time())) : 0;
  }
};

}  // namespace tests

// SPDX-License-Identifier: Apache-2.0
// The small layer with experts whose every byte can be counted: each token goes to 2 of 8 experts,
// which four ranks of a node hold.
#pragma once
#include "strategies/experts.hpp"
#include "tests/strategies/small_world.hpp"

namespace tests {

struct ExpertWorld : World {
  topology::GroupShape experts{.ranks = 4, .least_per_node = 4, .most_per_node = 4};

  ExpertWorld() {
    model.biases = model.qkv_biases = false;
    model.moe = model::Moe{.experts = 8, .top_k = 2, .expert_ffn = 48};
    plan = {.data = 4, .expert = 4};
    software.kernels.attention = model::AttentionKernel::flash;
  }
  strategies::Share share() const {
    auto share = World::share();
    share.tensor_shape.ranks = static_cast<int>(plan.tensor);
    share.expert_shape = experts;
    share.apart_tensor_shape.ranks = static_cast<int>(expert_tensor(plan));
    return share;
  }
  strategies::PassWriter writer(const strategies::Costs& costs) const {
    return {share(), costs, blocks_of(model, {}, plan)};
  }
  strategies::Block layer() const { return blocks_of(model, {}, plan).front()[1]; }
  // The ticks of one exchange: with bytes_of, its bytes.
  double dispatched(const strategies::Costs& costs = costs_of()) const {
    return ticks(expert_exchanges(share(), costs).dispatch);
  }
  double combined(const strategies::Costs& costs = costs_of()) const {
    return ticks(expert_exchanges(share(), costs).combine);
  }

 private:
  static double ticks(const std::optional<topology::Sending>& sending) {
    return sending ? static_cast<double>(strategies::to_ticks(sending->time())) : 0;
  }
};

}  // namespace tests

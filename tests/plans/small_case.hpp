// SPDX-License-Identifier: Apache-2.0
// A small case about which conditions of plans are asked.
#pragma once
#include "plans/admissible.hpp"

namespace tests {

// A case of 16 GPUs, eight heads of which two have keys, MLPs of 64, and a batch of 32.
struct SmallCase {
  model::Transformer model;
  strategies::Training training{.sequence_length = 64, .global_batch = 32};
  strategies::Plan plan;
  topology::Cluster cluster;
  SmallCase() {
    model.layers = 4;
    model.heads = 8;
    model.kv_heads = 2;
    model.ffn = 64;
    cluster.gpus = 16;
    cluster.node.gpus = 8;
  }
  void add_experts() { model.moe = model::Moe{.experts = 8, .top_k = 2, .expert_ffn = 48}; }
  strategies::Case asked() const { return {model, training, plan, cluster}; }
};

}  // namespace tests

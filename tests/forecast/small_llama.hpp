// SPDX-License-Identifier: Apache-2.0
// A small Llama of 8 layers of 8 heads of 64, with four sequences of 512 tokens for each replica,
// on nodes of eight GPUs.
#pragma once
#include "tests/forecast/random_scenario.hpp"
#include "tests/model/small_models.hpp"

namespace tests {

inline forecast::Scenario small_llama(const strategies::Plan& plan = {}) {
  forecast::Scenario s;
  s.model = small_models::llama(512, 8);
  s.model.layers = 8;
  s.model.vocab = 1000;
  s.model.max_sequence = 512;
  s.plan = plan;
  s.training = {.sequence_length = 512, .global_batch = 4 * plan.data};
  s.cluster = cluster_of(gpus_of(plan), 8, 8);
  return s;
}

}  // namespace tests

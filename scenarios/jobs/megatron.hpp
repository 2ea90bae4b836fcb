// SPDX-License-Identifier: Apache-2.0
// Jobs of Megatron-LM as scenarios. Rules of defaults: megatron/training/arguments.py and
// megatron/core/transformer/transformer_config.py @d98e8a64dd.
#pragma once
#include <optional>
#include <string>

#include "scenarios/jobs/draft.hpp"
#include "scenarios/jobs/job.hpp"

namespace scenarios {

// What several rules need to know of the same job.
struct MegatronJob {
  const Given& given;
  Draft& draft;
  std::optional<std::int64_t> gpus{};              // that the launcher starts; nothing: not known
  bool bert = false;                               // pretrain_bert.py: a bidirectional model
  std::int64_t layers = 0, heads = 0, hidden = 0;  // 0: not given
  std::int64_t tensor = 1, pipeline = 1, context = 1, expert = 1;
};

void read_megatron_model(MegatronJob& job);
void read_megatron_experts(MegatronJob& job);
void read_megatron_training(MegatronJob& job);
void read_megatron_degrees(MegatronJob& job);
void read_megatron_stages(MegatronJob& job);
void read_megatron_sharding(MegatronJob& job);
void read_megatron_memory(MegatronJob& job);
void read_megatron_kernels(MegatronJob& job);

// The scenario of the job, its mistakes among the complaints.
JobScenario megatron_scenario(const Job& job, const std::string& file, Complaints& complaints);

}  // namespace scenarios

// SPDX-License-Identifier: Apache-2.0
// Jobs that Hugging Face's Trainer runs, however they are written: its own arguments, those of
// LLaMA-Factory and axolotl, and accelerate's configuration of ranks and sharding. Rules:
// src/transformers/training_args.py (4.57), accelerate @16cb6eb8, LLaMA-Factory @ff6d4d12, axolotl
// @067b021c.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "scenarios/jobs/draft.hpp"

namespace scenarios {

bool is_trainer(const Value& document);
bool is_llamafactory(const Value& document);
bool is_axolotl(const Value& document);
bool is_accelerate(const Value& document);

// Returns the scenario of a job of the framework "trainer", "llamafactory", "axolotl" or
// "accelerate" on `gpus` GPUs, if that is known; mistakes go to the complaints. DeepSpeed's file
// that the job names is read with `files`, its "auto" replaced by values of the job.
JobScenario trainer_scenario(const FrameworkJob& job, std::string_view framework,
                             const std::string& file, std::optional<std::int64_t> gpus,
                             const JobFiles& files, Complaints& complaints);

}  // namespace scenarios

// SPDX-License-Identifier: Apache-2.0
// Configurations of DeepSpeed as scenarios: batch, precision and sharding. Model and sequence stand
// in the script that it belongs to. Rules: deepspeed/runtime/config.py and zero/config.py
// @edaa72212, and how Hugging Face's Trainer fills in "auto".
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "scenarios/jobs/draft.hpp"

namespace scenarios {

// JSON as DeepSpeed and its templates have it: comments and commas before a bracket may stand in
// it, and become blanks. Texts in quotes stay.
std::string plain_json(std::string_view text);

// Whether the document has keys that only DeepSpeed's configurations have.
bool is_deepspeed(const Value& document);

// The scenario of the job on so many GPUs, if that is known; its mistakes among the complaints.
JobScenario deepspeed_scenario(const FrameworkJob& job, const std::string& file,
                               std::optional<std::int64_t> gpus, Complaints& complaints);

}  // namespace scenarios

// SPDX-License-Identifier: Apache-2.0
// Configurations of DeepSpeed as scenarios: batch, precision and sharding. The model and the length
// of sequences are in the script that starts the job. Rules: deepspeed/runtime/config.py and
// zero/config.py @edaa72212, and how Hugging Face's Trainer fills in "auto".
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "scenarios/jobs/draft.hpp"

namespace scenarios {

// Returns DeepSpeed's JSON as plain JSON: comments, and commas before a closing bracket, become
// blanks. Texts in quotes stay.
std::string plain_json(std::string_view text);

// Whether the document has keys that only DeepSpeed's configurations have.
bool is_deepspeed(const Value& document);

// The ranks of DeepSpeed's configuration that are no replicas of each other.
struct DeepSpeedDegrees {
  std::int64_t tensor = 1, context = 1;
};
DeepSpeedDegrees deepspeed_degrees(const Given& given);

// Returns the ZeRO stage of the keys under "zero_optimization"; 0 if they say none.
std::int64_t deepspeed_stage(const Given& given);

// Sets what overlaps, buckets and offloading with that stage, as the keys under "zero_optimization"
// say.
void read_zero_optimization(const Given& given, Draft& draft, std::int64_t stage);

// Sets the type in which gradients are summed up, where "data_types" says it.
void read_gradient_type(const Given& given, Draft& draft);

// Returns the scenario of the job on `gpus` GPUs, if that is known; mistakes go to the complaints.
JobScenario deepspeed_scenario(const FrameworkJob& job, const std::string& file,
                               std::optional<std::int64_t> gpus, Complaints& complaints);

}  // namespace scenarios

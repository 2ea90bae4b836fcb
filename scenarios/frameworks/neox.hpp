// SPDX-License-Identifier: Apache-2.0
// Jobs of GPT-NeoX, whose YAML has arguments of a fork of Megatron-LM and of DeepSpeed. Rules:
// megatron/neox_arguments of its main branch, from memory.
#pragma once
#include <optional>
#include <string>

#include "scenarios/jobs/draft.hpp"

namespace scenarios {

// Whether the document has degrees as GPT-NeoX writes them.
bool is_neox(const Value& document);

// Returns the scenario of the document; mistakes go to the complaints.
JobScenario neox_scenario(const Value& document, const std::string& file,
                          std::optional<std::int64_t> gpus, const OverJob& over,
                          Complaints& complaints);

}  // namespace scenarios

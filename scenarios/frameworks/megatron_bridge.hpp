// SPDX-License-Identifier: Apache-2.0
// Overrides of Megatron-Bridge's and NeMo 2's recipes as scenarios. A recipe is a program, which is
// not run: its model is known by its name, its other values by the rules that recipes share. Rules:
// megatron/bridge/training/config.py @067f987d, nemo/collections/llm @8cfedd72.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "scenarios/jobs/draft.hpp"

namespace scenarios {

// Whether the document has sections of Megatron-Bridge's configuration and no others.
bool is_bridge(const Value& document);

// Returns the scenario of keys such as model.tensor_model_parallel_size; mistakes go to the
// complaints. `table` has the keys: megatron_bridge, nemo2 or primus_bridge.
JobScenario bridge_scenario(const FrameworkJob& job, const std::string& file,
                            Complaints& complaints, std::string_view table = "megatron_bridge");

}  // namespace scenarios

// SPDX-License-Identifier: Apache-2.0
// Jobs of ms-swift's `megatron sft` and `megatron pt`, which drive Megatron-LM with its arguments,
// underscored, and a model of Hugging Face. The defaults are those of swift/megatron/argument, from
// memory of its page of arguments (3.x and 4.0).
#pragma once
#include <string>

#include "scenarios/jobs/draft.hpp"

namespace scenarios {

// Returns the scenario of the job; mistakes go to the complaints.
JobScenario megatron_swift_scenario(const FrameworkJob& job, const std::string& file,
                                    Complaints& complaints);

}  // namespace scenarios

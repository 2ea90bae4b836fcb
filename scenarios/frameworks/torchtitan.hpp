// SPDX-License-Identifier: Apache-2.0
// Jobs of torchtitan 0.1 and 0.2, the releases that read TOML, as scenarios. Rules of defaults:
// torchtitan/config/job_config.py and torchtitan/distributed of v0.2.2.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "scenarios/jobs/draft.hpp"

namespace scenarios {

// Whether the document has torchtitan's sections.
bool is_torchtitan(const Value& document);

// Returns the scenario of the job on `gpus` GPUs, if that is known; mistakes go to the complaints.
JobScenario torchtitan_scenario(const FrameworkJob& job, const std::string& file,
                                std::optional<std::int64_t> gpus, Complaints& complaints,
                                std::string_view table = "torchtitan");

}  // namespace scenarios

// SPDX-License-Identifier: Apache-2.0
// Jobs of nanotron as scenarios. Rules of defaults: src/nanotron/config @2411b022.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "scenarios/jobs/draft.hpp"

namespace scenarios {

// Whether the document has nanotron's sections.
bool is_nanotron(const Value& document);

// Returns the scenario of the job, whose degrees must make the GPUs, if their number is known, and
// give it if not; degrees over the job leave the others to replicas. Mistakes go to the complaints.
JobScenario nanotron_scenario(const FrameworkJob& job, const std::string& file,
                              std::optional<std::int64_t> gpus, Complaints& complaints);

}  // namespace scenarios

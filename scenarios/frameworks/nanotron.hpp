// SPDX-License-Identifier: Apache-2.0
// Jobs of nanotron as scenarios. Rules of defaults: src/nanotron/config @2411b022.
#pragma once
#include <string>

#include "scenarios/jobs/draft.hpp"

namespace scenarios {

// Whether the document has nanotron's sections.
bool is_nanotron(const Value& document);

// Returns the scenario of the job, whose degrees give the number of GPUs; mistakes go to the
// complaints.
JobScenario nanotron_scenario(const FrameworkJob& job, const std::string& file,
                              Complaints& complaints);

}  // namespace scenarios

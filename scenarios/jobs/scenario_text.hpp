// SPDX-License-Identifier: Apache-2.0
// A scenario that was made of a job, as YAML for people.
#pragma once
#include <string>

#include "scenarios/jobs/job.hpp"

namespace scenarios {

// Returns the scenario with one key a line and a comment that names its argument; keys that the job
// does not give are comments at their places.
std::string scenario_text(const JobScenario& scenario);

}  // namespace scenarios

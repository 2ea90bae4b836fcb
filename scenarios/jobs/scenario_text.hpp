// SPDX-License-Identifier: Apache-2.0
// A scenario that was made of a job, as YAML for people.
#pragma once
#include <string>

#include "scenarios/jobs/job.hpp"

namespace scenarios {

// One key a line, with a comment that names its argument; keys that the job does not give stand in
// comments where they belong.
std::string scenario_text(const JobScenario& scenario);

}  // namespace scenarios

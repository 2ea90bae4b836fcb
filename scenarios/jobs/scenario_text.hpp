// SPDX-License-Identifier: Apache-2.0
// A scenario that was made of a job, as YAML for people.
#pragma once
#include <string>

#include "scenarios/jobs/job.hpp"

namespace scenarios {

// One key a line, with a comment that says which argument it came from; what the job does not say
// stands in comments where it belongs.
std::string scenario_text(const JobScenario& scenario);

}  // namespace scenarios

// SPDX-License-Identifier: Apache-2.0
// Private to the room: values beside the plan that a job says otherwise than they are asked for.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "report/launch/launch.hpp"
#include "scenarios/jobs/job.hpp"

namespace report {

// Returns the keys of model, training and software to which the job gives other values than the
// scenario has, with both values; those of `also` count where the job leaves them to a default,
// too. The length of sequences and the batch are not among them.
std::vector<Lost> other_values(const scenarios::JobScenario& job, const forecast::Scenario& asked,
                               const std::set<std::string>& also);

}  // namespace report

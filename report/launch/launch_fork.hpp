// SPDX-License-Identifier: Apache-2.0
// Private to the room: a plan in the words of Megatron-DeepSpeed, the fork of Megatron-LM, as far
// as a job of it can be changed to run that plan.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "forecast/scenario.hpp"
#include "report/launch/job_edit.hpp"
#include "scenarios/jobs/job.hpp"

namespace report {

// Returns the launch file of Megatron-LM with the fork's arguments in place of those that the fork
// does not have; it lacks what the fork cannot express. A stage of ZeRO that stands in the job's
// DeepSpeed file is left there.
std::string in_words_of_fork(std::string_view megatron, const forecast::Scenario& scenario,
                             const scenarios::JobScenario& job);

// Adds edits of arguments that no key follows from, and that the fork wants beside these.
void complete_fork_edits(std::vector<JobEdit>& edits, const forecast::Scenario& scenario,
                         const scenarios::JobScenario& job);

}  // namespace report

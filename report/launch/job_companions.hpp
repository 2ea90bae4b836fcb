// SPDX-License-Identifier: Apache-2.0
// Private to the room: arguments and variables that no key of a plan follows from, and that a
// framework wants or refuses beside those of a changed plan.
#pragma once
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "report/launch/job_edit.hpp"
#include "report/launch/launch.hpp"
#include "scenarios/jobs/job.hpp"

namespace report {

// A job as it was, and as it is with the arguments of its new plan.
struct JobStep {
  const scenarios::JobScenario& was;
  const scenarios::JobScenario& now;
  const forecast::Scenario& scenario;
};

// Whether the job gives an argument of that name.
bool gives(const scenarios::JobScenario& job, std::string_view name);

// Returns the edits after which the framework starts with the new plan and runs it as forecast.
// `given` and `wanted` return an argument's value in the job's text and in the launch file.
using SpelledArgument = std::function<std::optional<std::string>(const std::string& name)>;
std::vector<JobEdit> companion_edits(const JobStep& step, Framework framework,
                                     const SpelledArgument& given, const SpelledArgument& wanted);

// Returns the edits that take out, or set right, the arguments with which Megatron-LM does not
// start beside those of `plan`, which its job gets; and those that it wants beside them.
std::vector<JobEdit> fitting_edits(const scenarios::JobScenario& job, const strategies::Plan& plan,
                                   const SpelledArgument& given, const SpelledArgument& wanted);

// Returns the edits that set all sizes of DeepSpeed's batch that the file gives as numbers: it
// starts only where they agree.
std::vector<JobEdit> deepspeed_batch_edits(const forecast::Scenario& scenario,
                                           const SpelledArgument& given);

// Changes plain assignments of CUDA_DEVICE_MAX_CONNECTIONS in a script of Megatron-LM to what the
// new plan wants. `beside`: texts that the script may source. Returns a sentence where a value, or
// the default of the variable that it is, must change and is no number in the script; empty: none.
std::string change_queues(std::string& text, const std::set<std::string>& beside,
                          const JobStep& step);

}  // namespace report

// SPDX-License-Identifier: Apache-2.0
// A plan as a change of the job that it was found for.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/launch/launch.hpp"
#include "scenarios/jobs/job.hpp"

namespace report {

struct ChangedJob {
  std::string text;  // the job's file; unchanged lines stay as they were
  std::string diff;  // unified, of both texts; empty: the job runs this plan as it is
  // Keys, such as "plan.schedule", whose values in the text are neither those asked for nor the
  // nearest that the framework has: no plain text in the file holds them.
  std::vector<std::string> left;
  // Sentences on what the plan wants and no argument of the file can say.
  std::vector<std::string> beside;
  // The plan in the framework's words; `not_expressed` is what the changed job cannot say.
  Launch launch;
};

// Returns why no plan can be written as a change of the job with this text; empty: one can.
std::string why_unchangeable(const scenarios::JobAccount& job, std::string_view text);

// Changes the arguments of a job from which keys of the plan, the sequence length or the batch
// follow where the scenario differs, those that the framework refuses beside them, and the number
// of nodes. The changed text is read again and compared with the scenario. Returns nothing if the
// text is no job, or one that cannot be changed. Files that the job names are read with `files`.
// Throws scenarios::Error for a job that cannot be read, or a plan that cannot be written into it.
std::optional<ChangedJob> changed_job(std::string_view text, const std::string& file,
                                      const scenarios::JobHints& hints,
                                      const forecast::Scenario& scenario,
                                      const scenarios::JobFiles& files = {});

}  // namespace report

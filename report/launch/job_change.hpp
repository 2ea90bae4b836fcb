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
  // Keys of the plan whose values in the text still differ, such as "plan.schedule": the file has
  // no place where they could be changed, or the framework cannot express them.
  std::vector<std::string> left;
  // Sentences on what the plan wants beside its keys and no argument of the file can say.
  std::vector<std::string> beside;
  Launch launch;  // the plan in the framework's words, and what these cannot say
};

// Returns why no plan can be written as a change of the job with this text; empty: one can.
std::string why_unchangeable(const scenarios::JobAccount& job, std::string_view text);

// Changes the arguments of a job that decide keys of the plan where the scenario differs: degrees,
// micro-batch, stages, schedule, sharding and recomputation. The changed text is read again, so
// `left` has the differences that remain. Returns nothing if the text is no job, or one
// that cannot be changed. Throws
// scenarios::Error for a job that cannot be read.
std::optional<ChangedJob> changed_job(std::string_view text, const std::string& file,
                                      const scenarios::JobHints& hints,
                                      const forecast::Scenario& scenario);

}  // namespace report

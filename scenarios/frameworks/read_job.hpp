// SPDX-License-Identifier: Apache-2.0
// Files that training frameworks start from, read as scenarios.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/jobs/job.hpp"

namespace scenarios {

// The frameworks whose jobs are read, as `--as` and `stepcast import` name them.
std::vector<std::string_view> job_frameworks();

// Returns the scenario of a job, or nothing if the text is none. The framework is recognised by
// content, unless `hints` name it. Throws Error with every mistake, also if the text is a job of
// two frameworks, or one that cannot be forecast. `file` is its name in complaints; files that it
// names are read with `files`, which may be empty.
std::optional<JobScenario> read_job(std::string_view text, const std::string& file,
                                    const JobHints& hints, const JobFiles& files = {});

}  // namespace scenarios

// SPDX-License-Identifier: Apache-2.0
// A job of a training framework as a scenario to be written down.
#pragma once
#include <filesystem>
#include <span>
#include <string>

#include "scenarios/documents/error.hpp"
#include "scenarios/jobs/job.hpp"
#include "topology/cluster.hpp"

namespace scenarios {

// Returns the job in the file with `sets` laid over it. Throws Error as read_job does, and for a
// file that is no job.
JobScenario load_job(const std::filesystem::path& file, std::span<const std::string> sets,
                     const JobHints& hints);

// Files that a job in the folder names, each of which is read once.
JobFiles files_of_job(const std::filesystem::path& folder);

}  // namespace scenarios

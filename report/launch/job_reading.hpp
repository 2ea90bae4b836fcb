// SPDX-License-Identifier: Apache-2.0
// Private to the room: texts of a job while it changes, read as their framework's readers do.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "scenarios/jobs/job.hpp"

namespace report {

// The file that a job's texts are read as.
struct JobFile {
  std::string name;           // in complaints
  scenarios::JobFiles files;  // that it names; may be empty
};

// Returns the job; nothing: the text is none, or a wrong one.
std::optional<scenarios::JobScenario> read_if_right(std::string_view text, const JobFile& file,
                                                    const scenarios::JobHints& hints);

}  // namespace report

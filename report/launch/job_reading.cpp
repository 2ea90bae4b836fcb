// SPDX-License-Identifier: Apache-2.0
#include "report/launch/job_reading.hpp"

#include "scenarios/documents/error.hpp"
#include "scenarios/frameworks/read_job.hpp"

namespace report {

std::optional<scenarios::JobScenario> read_if_right(std::string_view text, const JobFile& file,
                                                    const scenarios::JobHints& hints) {
  try {
    return scenarios::read_job(text, file.name, hints, file.files);
  } catch (const scenarios::Error&) {
    return {};
  }
}

}  // namespace report

// SPDX-License-Identifier: Apache-2.0
// Private to the room: which words of a script are the arguments that its reader found.
#pragma once
#include "report/launch/job_reading.hpp"
#include "report/launch/script_edit.hpp"
#include "scenarios/jobs/job.hpp"

namespace report {

// Returns the choice of the place by which the job goes as its reader sees it: comments, texts for
// `echo`, branches that are not taken and other programs' arguments are none. The choice reads the
// text once, and again for each place of an argument whose own place the reader does not tell.
PlaceChoice places_that_count(const JobFile& file, const scenarios::JobHints& hints);

}  // namespace report

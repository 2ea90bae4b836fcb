// SPDX-License-Identifier: Apache-2.0
// Private to the room: the command of TRL, "trl sft", which starts its script by accelerate.
#pragma once
#include "scenarios/jobs/job.hpp"

namespace scenarios {

// Whether the job is a command of TRL's own.
bool is_trl_command(const FrameworkJob& job);

// Returns the job with its arguments for accelerate, which stand among those of the script, as
// options of the launcher. `--accelerate_config` is a file, or the name of one that TRL brings
// along, whose keys are laid before the job's arguments.
FrameworkJob with_trl_launcher(FrameworkJob job, const JobFiles& files);

}  // namespace scenarios

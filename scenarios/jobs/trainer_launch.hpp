// SPDX-License-Identifier: Apache-2.0
// Options of `accelerate launch` as keys of accelerate's configuration.
#pragma once
#include "scenarios/jobs/job.hpp"

namespace scenarios {

// Whether accelerate starts it.
bool is_accelerated_launch(const Job& job);

// The job with the keys of the configuration that the launcher names and, over them, its own
// options, all before the program's arguments. "config_file" is off where that file was read.
Job with_accelerate(Job job, const JobFiles& files);

}  // namespace scenarios

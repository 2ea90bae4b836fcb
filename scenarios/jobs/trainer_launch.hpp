// SPDX-License-Identifier: Apache-2.0
// Options of `accelerate launch` as keys of accelerate's configuration.
#pragma once
#include <string>
#include <string_view>

#include "scenarios/jobs/job.hpp"

namespace scenarios {

// Whether accelerate starts the job.
bool is_accelerated_launch(const FrameworkJob& job);

// Returns "fsdp_config.fsdp_version", the key of the option "accelerate.fsdp_version"; empty:
// accelerate has no such option.
std::string accelerate_key(std::string_view option);

// Returns the option of accelerate whose spelling is nearest; empty: none is near.
std::string nearest_accelerate_option(std::string_view option);

// Returns the job of the framework with the keys of the configuration that the launcher names and,
// laid over them, the launcher's own options, all before the program's arguments; options that
// accelerate does not have stay with the launcher's. "config_file" is off if that file was read.
FrameworkJob with_accelerate(FrameworkJob job, std::string_view framework, const JobFiles& files);

}  // namespace scenarios

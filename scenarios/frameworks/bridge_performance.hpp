// SPDX-License-Identifier: Apache-2.0
// The command line of Megatron-Bridge's performance scripts as overrides of a recipe.
#pragma once
#include <string_view>

#include "scenarios/jobs/scripts/shell_script.hpp"

namespace scenarios {

// Whether a script starts one: setup_experiment.py of scripts/performance, its older name, or
// run_script.py, which it starts on the machine with the same options.
bool is_performance_script(std::string_view text);

// Returns the options of a performance script as keys of the table "megatron_bridge", as
// "performance.*" if they launch or log, and the number of GPUs among the launcher's options.
// Written from memory of scripts/performance/argument_parser.py.
FrameworkJob performance_job(LaunchScript launch);

}  // namespace scenarios

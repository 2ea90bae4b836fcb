// SPDX-License-Identifier: Apache-2.0
// Scripts that start a program whose arguments belong to no framework: finds the program and the
// framework's file that they name, or complains that they are no job.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "scenarios/jobs/job.hpp"
#include "scenarios/jobs/scripts/shell_script.hpp"

namespace scenarios {

// Reads a job from a text; returns nothing if it is no job of a known framework.
using ReadText = std::function<std::optional<JobScenario>(
    std::string_view text, const std::string& file, const JobHints& hints, const JobFiles& files)>;

// Returns the job of the file that the script's command names, on the GPUs that its launcher
// starts, with further arguments of the command as not modelled; those of a program that takes
// arguments of the Trainer, LLaMA-Factory or axolotl stand over the file's. A command of accelerate
// without such a file is a job of accelerate. Returns nothing if the text starts no program; throws
// Error if the program is unknown or the file is missing.
std::optional<JobScenario> read_launch_script(std::string_view text, const std::string& file,
                                              const JobHints& hints, const JobFiles& files,
                                              const ReadText& read);

// Whether the script's command names a file that may have its arguments.
bool names_job(std::string_view text, const JobHints& hints);

// Throws Error if the program's name says that it learns from preferences or rewards.
void refuse_preferences(const LaunchScript& launch, const std::string& file);

// The probable kind of a text that is no job of a known framework: "a job of torchtune"; empty:
// unknown.
std::string_view foreign_framework(std::string_view text);

// Whether a text is a makefile: a rule with commands behind tabs, and $(NAME) in it.
bool is_makefile(std::string_view text);

// Whether a text is a program of Python: lines that import.
bool is_python(std::string_view text);

// "expected a job of megatron, torchtitan, … or a scenario".
std::string expected_jobs();

}  // namespace scenarios

// SPDX-License-Identifier: Apache-2.0
// Words before the training program in a command: launchers and their options.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "scenarios/jobs/job.hpp"

namespace scenarios {

struct LaunchedCommand {
  // The options, named "LAUNCHER.option" as in the table "launchers", each with its text as it is
  // written.
  std::vector<JobArgument> options;
  std::size_t rest = 0;   // the first word that is no launcher's; all of them where there is none
  bool launched = false;  // whether a launcher is among them
};

// Reads one launcher after another: srun, mpirun, torchrun, deepspeed, accelerate launch, and words
// between them (bash, python, docker). `within` begins as options of that launcher. O(words).
LaunchedCommand launched_command(std::span<const ShellWord> words, std::string_view within = {});

// Whether the option stands for a word among a launcher's options of which only a shell can tell
// what it holds.
bool hides_options(const JobArgument& option);

// Returns the variables that Slurm sets for the options of a batch script, SLURM_NNODES and its
// like, as NAME=VALUE.
std::vector<std::string> slurm_variables(std::span<const JobArgument> options);

}  // namespace scenarios

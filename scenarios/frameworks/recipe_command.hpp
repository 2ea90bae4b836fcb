// SPDX-License-Identifier: Apache-2.0
// Private to the room: commands that name a file of settings and have arguments of their own beside
// it, which stand over the file's.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/documents/error.hpp"
#include "scenarios/frameworks/looked.hpp"
#include "scenarios/jobs/job.hpp"

namespace scenarios {

// Returns the arguments beside the file that the word `recipe`, one of `words`, names. Verbs in
// front of it are none, nor is the option that names it.
std::vector<JobArgument> arguments_beside(std::span<const ShellWord> words, const ShellWord& recipe,
                                          std::string_view framework);

// Makes the word that names the file an argument of its own, "--config FILE", and returns it.
JobArgument take_recipe(std::vector<JobArgument>& all, const ShellWord& word);

struct RecipeCommand {
  FrameworkJob job;        // its launcher, and the arguments beside the file
  std::string path, text;  // of the file
  Place at;                // of the word that names it
};

// Returns the command of a script that names a file; nothing: none does. Throws Error where the
// file is not there.
std::optional<RecipeCommand> recipe_command(const Looked& looked, std::span<const std::string> env,
                                            std::string_view framework, Complaints& complaints);

}  // namespace scenarios

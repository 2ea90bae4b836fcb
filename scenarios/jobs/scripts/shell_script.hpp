// SPDX-License-Identifier: Apache-2.0
// Arguments that a launch script passes to a training program, read from its text.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "scenarios/jobs/job.hpp"

namespace scenarios {

// Reads a script of bash or the like: assignments, arrays and the one command that passes most
// arguments of the table. Statements inside of unknown conditions, loops and functions are not run;
// variables that are set there have no value. A list of arguments without a command is read as
// well: lines under "# variables", "# launcher" and "# arguments", or nothing but arguments. Files
// that "source" names are read from `files`; one that is not there is listed with the launcher's
// options. Throws Error for `env` that is no NAME=VALUE. O(text).
FrameworkJob read_shell_script(std::string_view text, const ArgumentTable& table,
                               std::span<const std::string> env, const JobFiles& files = {});

// Returns a reader of the files that a script writes ("cat <<EOF > FILE"), else of those beside it,
// which `files` reads and which must outlive it.
JobFiles files_of_script(std::string_view text, const std::string& file,
                         std::span<const std::string> env, const JobFiles& files);

// A script's command, whatever its arguments.
struct LaunchScript {
  FrameworkJob job;
  std::vector<ShellWord> words;  // behind the program's name
};

// Returns the last command that a launcher or Python starts, or that begins with a variable's value
// such as CONFIG=FILE; nothing if the text has none. Throws Error for `env` that is no NAME=VALUE.
// O(text).
std::optional<LaunchScript> read_launch(std::string_view text, std::span<const std::string> env,
                                        const JobFiles& files = {});

}  // namespace scenarios

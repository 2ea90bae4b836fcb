// SPDX-License-Identifier: Apache-2.0
// Options of a shell that "shopt" sets.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "scenarios/shell/words.hpp"

namespace scenarios {

// Patterns fit whatever the case of letters; branches of a case may have extended patterns; the
// last command of a pipe is not run in a copy of the shell.
inline constexpr std::string_view case_option = "nocasematch", extended_option = "extglob",
                                  pipe_option = "lastpipe";
inline constexpr std::array options_read{case_option, extended_option, pipe_option};

// The variable that holds an option, of which no script knows the name.
inline std::string option_name(std::string_view option) { return "shopt " + std::string(option); }

// Whether the option is on; nothing: only a shell can tell.
inline std::optional<bool> is_on(std::string_view option, const ShellVariables& variables) {
  const auto name = option_name(option);
  if (!variables.knows(name)) return false;
  const auto text = variables.text_of(name);
  return text ? std::optional(!text->empty()) : std::nullopt;
}

// Control of jobs, "set -m", under which the last command of a pipe is run in a copy all the same.
inline constexpr std::string_view monitor_option = "monitor";

// Whether the last command of a pipe is run in the shell itself.
inline std::optional<bool> keeps_last_link(const ShellVariables& variables) {
  const auto keeps = is_on(pipe_option, variables), controls = is_on(monitor_option, variables);
  if (keeps == false || controls == true) return false;
  return keeps && controls ? std::optional(true) : std::nullopt;
}

}  // namespace scenarios

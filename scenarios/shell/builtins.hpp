// SPDX-License-Identifier: Apache-2.0
// Commands of the shell itself that set variables, as far as they need none.
#pragma once
#include <cstddef>
#include <optional>
#include <string>

#include "scenarios/shell/statements.hpp"
#include "scenarios/shell/words.hpp"

namespace scenarios {

// Returns a declaration with the names that variables hold in it, export "$NAME"=2, and with the
// values that its words have before it begins: export A=1 B=$A. Its options are those of
// ScriptAssignments::add_attributes().
Statement with_known_names(const Statement& statement, const ShellVariables& variables);

// Assigns what "read A B <<< TEXT" and "mapfile -t A <<< TEXT" take from a text that is known;
// returns whether they do. `command`: the place of the command's name in the statement.
bool read_text(const Statement& statement, std::size_t command, ShellVariables& variables);

// Sets the variables that "getopts abc: NAME" sets from the arguments of the script or function, or
// from its own; returns whether there is an option. Nothing, and no variable is set: only a shell
// can tell. `command`: the place of the command's name.
std::optional<bool> read_option(const Statement& statement, std::size_t command,
                                ShellVariables& variables);

// Notes whether "set -m", "set +m" or "set -o monitor" switches the control of jobs on or off.
// `sure`: the statement runs for certain.
void set_job_control(const Statement& statement, bool sure, ShellVariables& variables);

// Whether the command is a "read" that no redirection and no pipe feeds.
bool reads_line(const Statement& statement);

// Returns the name of the variable that "read -r -d '' NAME" gives its whole text; empty: it is
// another command. `command`: the place of the command's name.
std::string whole_text_name(const Statement& statement, std::size_t command);

// Whether the statement declares variables: "export A=1", "local B".
bool is_declaration(const Statement& statement);

// Whether a shell runs nothing behind the statement: "exit 1", "exec COMMAND", in a function
// "return".
bool ends(const Statement& statement);

// Returns whether "return 0" and "exit 0" tell of success, and "return" that of the command
// `before`; nothing: another statement, or a status that is not known.
std::optional<bool> returned_status(const Statement& statement, std::optional<bool> before,
                                    const ShellVariables& variables);

}  // namespace scenarios

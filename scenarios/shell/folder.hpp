// SPDX-License-Identifier: Apache-2.0
// The folder that a script works in: its own until "cd". It is the value of PWD.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "scenarios/shell/statements.hpp"
#include "scenarios/shell/words.hpp"

namespace scenarios {

// Whether the command of a statement changes the folder: "cd X", "pushd X", "popd".
bool changes_folder(const Statement& statement);
// Whether a script may have such a command.
bool may_change_folder(std::string_view script);
// Changes the folder. `doubt`: why only a shell can tell whether it does; empty: it does.
void change_folder(const Statement& statement, const std::string& doubt, ShellVariables& variables);

// Takes the folder out of "env -C FOLDER PROGRAM" and returns its word; nothing: the statement has
// none. Only the program works in it.
std::optional<RawWord> take_folder_of_env(Statement& statement);

// Returns the folder that was changed to, with its trouble where only a shell can tell it; nothing:
// the script's own.
std::optional<ShellWord> other_folder(const ShellVariables& variables);

// Returns the path of a file from the script's folder, or an absolute one, that commands in the
// folder name so; nothing: only a shell can tell the folder.
std::optional<std::string> path_from(const std::optional<ShellWord>& folder,
                                     const std::string& path);
// The path from the script's folder as one that means the same in every folder.
std::string rooted(const std::string& path);
// The word of a command in the script's folder as people would write it.
std::string unrooted(std::string word);

}  // namespace scenarios

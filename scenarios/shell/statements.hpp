// SPDX-License-Identifier: Apache-2.0
// A script taken apart into commands.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/documents/error.hpp"

namespace scenarios {

struct RawWord {
  std::string text;  // with its quotes and variables
  Place at;
};

struct Statement {
  std::vector<RawWord> words;
  // Lines of a here-document, or what stands behind "<<<", as a word in quotes; empty: none.
  RawWord document{};
  std::string output{};   // the file that its output goes to, as a raw word; empty: none
  std::string defines{};  // the function whose body stands behind it: "{", commands, "}"
  bool appends = false;   // to that file
  bool subshell = false;  // a shell of its own: in round brackets, in a pipe, in the background
  bool grouped = false;  // in a loop or in curly brackets that are one: "… | while", "{ …; } &"
  std::vector<int> shells{};  // the copies that it runs in, a number each, the outermost first
  int loops = 0;              // around it
  bool branch = false;        // "a | b)" of a case: its patterns
  bool array = false;         // NAME=( the other words )
  bool local = false;         // an array that "local" or "declare" begins
  char joined = '\0';  // to the one before: '&' of "&&" and of a branch that goes on, '|' of "||"
};

// Whether a shell runs the statement in a copy of itself.
inline bool runs_apart(const Statement& statement) {
  return statement.subshell || statement.grouped;
}

// Returns the commands in the order of the text, without comments and redirections; "then", "else"
// and "case WORD in" are statements of their own, and so is the name of a function that is defined.
// "[[ … ]]" is one statement with its signs as words, "((…))" one word. Never fails: a text that is
// no script gives statements without meaning. O(text).
std::vector<Statement> statements_of(std::string_view text);

// Returns where quotes or brackets of a variable or command begin that have no end, with which a
// shell refuses the whole text; nothing: all have one. O(text).
std::optional<Place> unclosed_quote(std::string_view text);

// Whether the command is a shell, or Slurm, that is given a script as its here-document.
bool reads_commands(const Statement& statement);

// Returns the words behind the mark of every line such as "#SBATCH --nodes=4" before the first
// command.
std::vector<RawWord> batch_options(std::string_view text);

}  // namespace scenarios

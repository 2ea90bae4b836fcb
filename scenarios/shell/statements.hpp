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
  std::vector<std::string> processes{};  // commands of "<(…)" and ">(…)", which run beside it
  std::string output{};       // the file that its output goes to, as a raw word; empty: none
  std::string defines{};      // the function whose body stands behind it: "{", commands, "}"
  bool appends = false;       // to that file
  bool input = false;         // it reads a file, "< FILE"
  std::vector<int> shells{};  // the copies of a shell that it runs in, a number each, the outermost
                              // first: of brackets, pipes, lists in the background; below
                              // zero: of the last link of a pipe
  int loops = 0;              // around it; a condition of "while" is inside of its loop
  bool branch = false;        // "a | b)" of a case: its patterns
  bool array = false;         // NAME=( the other words )
  bool local = false;         // an array that "local" or "declare" begins
  bool keyed = false;         // an array that "declare -A" begins
  char joined = '\0';    // to the one before: '&' of "&&" and of a branch that goes on, '|' of "||"
  bool negated = false;  // "!" turns the status of it, or of the block that it ends
  bool reads = false;    // what the link of a pipe before it writes
  bool feeds = false;    // the next link, as does the block that it ends
  bool beside = false;   // it ends a list that runs in the background
};

// Whether a shell runs the statement in a copy of itself.
inline bool runs_apart(const Statement& statement) { return !statement.shells.empty(); }

// Whether the statement is a word of the language that runs nothing: "if", "then", "{", "done".
bool is_syntax(const Statement& statement);

// Returns the commands in the order of the text, without comments and redirections. Words of the
// language that begin, part and end others, "if", "then", "{", "(", "done", are statements of their
// own, as are "case WORD in", "for NAME in WORD" and the name of a function that is defined; "!"
// and "time" are none. "[[ … ]]" is one statement with its signs as words, "((…))" one word. Never
// fails: a text that is no script gives statements without meaning. O(text).
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

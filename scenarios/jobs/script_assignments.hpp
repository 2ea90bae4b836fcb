// SPDX-License-Identifier: Apache-2.0
// Private to the room: variables that a script assigns, and what is in doubt about them.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/jobs/job.hpp"
#include "scenarios/jobs/script_commands.hpp"
#include "scenarios/shell/statements.hpp"
#include "scenarios/shell/words.hpp"

namespace scenarios {

class ScriptAssignments {
 public:
  ScriptAssignments(const ArgumentTable& table, ShellVariables& variables)
      : table_(table), variables_(variables) {}

  // Assigns the variable of word i of the statement, "NAME=value" or the name of an array.
  void assign(const Statement& statement, std::size_t i, const Certainty& certainty);
  // Assigns the values of ": ${NAME:=value}" to names that have none.
  void assign_defaults(const Statement& statement);
  // Assigns what "let X=2*Y" and "((X += 2))" do.
  void calculate(const RawWord& word, const Certainty& certainty);
  // Leaves in doubt the array of which "NAME[2]=value" sets an element, and the variables that
  // read, mapfile, getopts and printf -v set.
  void doubt_elements(const Statement& statement);
  void doubt_read(const Statement& statement);
  // Makes variables empty that get a value only in a branch that is not run.
  void leave_empty(const Statement& statement);
  void unset(const RawWord& word, const Certainty& certainty);
  // "set -- A B" and "set A B" give the script or function other arguments.
  void set_arguments(const Statement& statement, const Certainty& certainty);
  void shift(const Statement& statement, const Certainty& certainty);

  // The words that a statement's words from `first` stand for. `value`: trouble stays in its place,
  // marked.
  std::vector<ShellWord> words_of(const Statement& statement, std::size_t first,
                                  bool value = false) const;
  // The words of all variables that hold arguments.
  std::vector<ShellWord> all_lists() const;

 private:
  void begin_empty(const std::string& name, std::string_view raw);
  bool is_harmless(const std::vector<ShellWord>& words) const;
  std::vector<ShellWord> whole_value(const std::string& raw, const Place& at) const;

  const ArgumentTable& table_;
  ShellVariables& variables_;
  std::vector<std::vector<ShellWord>> lists_;  // of variables that hold arguments
};

}  // namespace scenarios

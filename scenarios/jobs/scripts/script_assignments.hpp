// SPDX-License-Identifier: Apache-2.0
// Private to the room: variables that a script assigns, and what is in doubt about them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/jobs/job.hpp"
#include "scenarios/jobs/scripts/script_commands.hpp"
#include "scenarios/shell/loops.hpp"
#include "scenarios/shell/statements.hpp"
#include "scenarios/shell/words.hpp"

namespace scenarios {

class ScriptAssignments {
 public:
  ScriptAssignments(const ArgumentTable& table, ShellVariables& variables)
      : table_(table), variables_(variables) {}

  // Assigns the variable of word i of the statement, "NAME=value" or the name of an array.
  void assign(const Statement& statement, std::size_t i, const Certainty& certainty);
  // Assigns the values of "${NAME:=value}" in words to names that have none.
  void assign_defaults(const Statement& statement, const Certainty& certainty);
  // Assigns what "let X=2*Y" and "((X += 2))" do. Returns whether the value is not zero; nothing:
  // only a shell can tell.
  std::optional<bool> calculate(const RawWord& word, const Certainty& certainty);
  // Leaves in doubt what the word of "for NAME" or "for ((i = 0; i < 8; i++))" changes.
  void doubt_turns(const RawWord& word);
  // Leaves a variable in doubt that the loop in a line changes.
  void doubt_changed(const std::string& name, const Place& loop);
  // Changes the variables of such a loop turn by turn until its condition fails or a turn returns
  // false. Returns the number of whole turns; nothing: only a shell can tell, or there are over
  // 1,000.
  std::optional<std::int64_t> take_turns(const CountingLoop& loop, const Place& at,
                                         const Certainty& certainty,
                                         const std::function<bool()>& turn);
  // Gives the variable that a word of a declaration names its attributes: 'x', programs that are
  // started see it, unless 'G' stands beside it; 'N', they see it no more; 'i', its values are
  // calculated; 'l' and 'u', they get small or large letters; 'A', it has keys; 'K', it has none of
  // that; 'n', it is another name, which leaves both in doubt.
  void add_attributes(const RawWord& word, std::string_view options, const Certainty& certainty);
  // "shopt -s nocasematch" sets an option.
  void set_options(const Statement& statement, const Certainty& certainty);
  // Leaves in doubt the variables that "$((X++))" in a word changes.
  void doubt_counted(const Statement& statement);
  // Sets the elements of arrays that "NAME[2]=value" and "NAME[key]=value" set; leaves an array in
  // doubt of which only a shell can tell the element.
  void set_elements(const Statement& statement, const Certainty& certainty);
  // Assigns variables that read and mapfile set to a known text, "read A B <<< TEXT", and those
  // that getopts sets to known arguments; leaves in doubt all others that read, mapfile, getopts
  // and printf -v set. Returns whether the command succeeds, as mapfile does with what a command
  // writes; nothing: another one, or only a shell can tell.
  std::optional<bool> read(const Statement& statement, const Certainty& certainty);
  // Assigns what a program that is started sees alone: "NAME=value" in front of it, or in its
  // option --export, among the first words of the statement; takes away what "env -u NAME" does.
  void assign_for_child(const Statement& statement, std::size_t words, const Certainty& certainty);
  // Makes variables empty that get a value only in a branch that is not run. `argument`: why the
  // argument of the script is not known that decides so; empty: none does.
  void leave_empty(const Statement& statement, const std::string& argument);
  void unset(const RawWord& word, const Certainty& certainty);
  // "set -- A B" and "set A B" give the script or function other arguments.
  void set_arguments(const Statement& statement, const Certainty& certainty);
  // Returns whether there are so many arguments to be shifted away.
  std::optional<bool> shift(const Statement& statement, const Certainty& certainty);
  // "cd X" changes the folder in which files are looked for.
  void change_to(const Statement& statement, const Certainty& certainty);

  // The words that a statement's words from `first` stand for. `value`: trouble stays in its place,
  // marked.
  std::vector<ShellWord> words_of(const Statement& statement, std::size_t first,
                                  bool value = false) const;
  // The words of all variables that hold arguments.
  std::vector<ShellWord> all_lists() const;
  // The number of these variables, and the first ones alone.
  std::size_t lists() const { return lists_.size(); }
  void keep_lists(std::size_t first) { lists_.resize(first); }

 private:
  bool print_to(const Statement& statement, std::size_t command);
  void calculate_value(const RawWord& word, const Certainty& certainty);
  bool set_first(const std::string& name, const std::vector<ShellWord>& value, bool adds);
  void begin_empty(const std::string& name, std::string_view raw);
  bool is_harmless(const std::vector<ShellWord>& words) const;
  std::vector<ShellWord> whole_value(const std::string& raw, const Place& at) const;

  const ArgumentTable& table_;
  ShellVariables& variables_;
  std::vector<std::vector<ShellWord>> lists_;  // of variables that hold arguments
};

}  // namespace scenarios

// SPDX-License-Identifier: Apache-2.0
// Conditions of a script that can be told without a shell: comparisons of texts and whole numbers,
// and the branches of a case.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "scenarios/shell/statements.hpp"
#include "scenarios/shell/words.hpp"

namespace scenarios {

// Whether the command succeeds, if it is a test of known values: "[ $A == b ]", "[[ -z $A ]]",
// "test 1 -lt 2", "true", "false"; nothing if only a shell can tell. O(words).
std::optional<bool> succeeds(const Statement& statement, const ShellVariables& variables);

// Tells which statements of a script run, as far as the conditions around them are known.
class Conditions {
 public:
  // Takes the statement into account, which stays. `variables` are those before it.
  void enter(const Statement& statement, const ShellVariables& variables);

  // Says whether the command of the statement that was entered last succeeded, which ran.
  void settle(std::optional<bool> success);
  // Says so of the loop that the statement which was entered last begins: the next one ends it.
  void settle_loop(std::optional<bool> success);
  // Whether those succeeded that ran before the list of the statement that was entered last.
  std::optional<bool> before() const { return list_.before; }
  // Why the first argument of the script is not known on which status() rests; empty: on none.
  const std::string& status_argument() const { return status_absent_.argument; }
  // Whether the statements that ran so far succeed as a list; nothing: only a shell can tell.
  std::optional<bool> status() const { return status_; }
  // The statements so far succeed so, as a list.
  void set_status(std::optional<bool> status) { status_ = status; }
  // Whether a condition, a list or a loop decides if the statement runs that was entered last.
  bool chosen() const;
  // Whether the statement that was entered last is run; nothing: only a shell can tell.
  std::optional<bool> runs() const { return runs_; }
  // If only a shell can tell: the reason why a word of a condition is not known; empty: all words
  // are known.
  const std::string& why() const { return why_; }
  // Why the first argument of the script is not known that decides whether it is run; empty: none
  // does that is not given.
  const std::string& argument() const { return absent_.argument; }

 private:
  // Arguments that the script is not given, on which something rests.
  struct Absent {
    std::string argument{};  // why the first of them is not known
    void note(const Absent& other);
  };
  static Absent absent_in(const Statement& statement, std::size_t first,
                          const ShellVariables& variables);
  // A list of pipes that are joined by "&&" and "||", up to the pipe that is read.
  struct List {
    char joined = '\0';                 // the pipe, to those before
    std::optional<bool> before = true;  // whether these succeed
  };
  // A loop, an "if", a "case", or commands in brackets.
  struct Block {
    char kind = '{';                       // 'i'f, 'c'ase, 'w'hile, 'u'ntil, 'f'or, 's'elect
    std::optional<bool> around = true;     // whether it runs at all
    std::optional<bool> runs = true;       // the branch that it is in
    bool settled = false;                  // a branch before is the one that is run
    bool doubtful = false;                 // a branch before may be
    std::optional<bool> result{};          // of the branch that is run
    std::optional<std::string> word = {};  // of a case; nothing: only a shell can tell
    std::string why = {};                  // its condition is not known, or one around
    Absent absent = {};                    // on which its condition rests
    List list = {};                        // that it is in
  };

  void open(const Statement& statement, const ShellVariables& variables);
  void close(const Statement& statement);
  void begin_branch(std::optional<bool> condition);
  void end_branch();
  void begin_loop();
  void enter_condition();      // of "elif"
  void enter_part(bool then);  // of an if: "then", or "else"
  void enter_branch(const Statement& statement, const ShellVariables& variables);  // of a case
  void enter_command(const Statement& statement, const ShellVariables& variables);
  // The statement begins a pipe, or a link of it. Returns whether the list before lets it run.
  std::optional<bool> needed_of(const Statement& statement);
  void end_pipe(const Statement& statement, std::optional<bool> success);
  std::optional<bool> around() const;
  void take_reasons();  // those of the innermost block

  std::vector<Block> blocks_;
  List list_;
  std::optional<bool> status_ = true;  // exit status of the statements joined so far
  std::optional<bool> runs_ = true;
  const Statement* last_ = nullptr;  // the command that was entered last, if it ran
  std::string status_why_, why_;     // why these are not known
  Absent status_absent_, absent_;    // on which they rest
};

}  // namespace scenarios

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
std::optional<bool> succeeds(const Statement& statement, std::size_t first,
                             const ShellVariables& variables);

// Tells which statements of a script run, as far as the conditions around them are known.
class Conditions {
 public:
  // Takes the statement into account. `variables` are those before it.
  void enter(const Statement& statement, const ShellVariables& variables);

  // Says whether the command of the statement that was entered last succeeded, which ran.
  void settle(bool success);
  // Whether the statement that was entered last is run; nothing: only a shell can tell.
  std::optional<bool> runs() const { return runs_; }
  // If only a shell can tell: the reason why a word of a condition is not known; empty: all words
  // are known.
  const std::string& why() const { return why_; }
  // Why the first argument of the script is not known that decides whether it is run; empty: none
  // does that is not given.
  const std::string& argument() const { return argument_; }

 private:
  struct Block {
    std::optional<bool> runs = true;       // the branch that it is in, and what stands around
    bool settled = false;                  // a branch before is the one that is run
    bool doubtful = false;                 // a branch before may be
    std::optional<std::string> word = {};  // of a case; nothing: only a shell can tell
    std::string why = {};                  // its condition is not known, or one around
    std::string argument = {};             // of the script, on which its condition rests
    char loop = '\0';  // 'w'hile, 'u'ntil, 'f'or, 's'elect; '{': no loop, but commands in brackets
    std::optional<bool> before = {};  // the status before commands in brackets
  };

  void begin_branch(std::optional<bool> condition);
  void open(const Statement& statement, const ShellVariables& variables);
  void begin_loop();
  void enter_part(bool then);                       // of an if: "then", or "else"
  void enter_brackets(const Statement& statement);  // "{"
  void enter_branch(const Statement& statement, const ShellVariables& variables);  // of a case
  std::optional<bool> needed_of(const Statement& statement) const;
  std::optional<bool> around() const;
  std::optional<bool> outer() const;  // around the innermost block

  std::vector<Block> blocks_;
  std::optional<bool> status_ = true;  // exit status of the statements joined so far
  std::optional<bool> runs_ = true;
  bool alone_ = false, negated_ = false;    // its status is its command's, or the contrary
  std::string status_why_, why_;            // why these are not known
  std::string status_argument_, argument_;  // on which they rest
};

}  // namespace scenarios

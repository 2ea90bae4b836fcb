// SPDX-License-Identifier: Apache-2.0
// Commands that a shell runs in a copy of itself: in round brackets, in pipes, in the background.
#pragma once
#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/shell/functions.hpp"
#include "scenarios/shell/options.hpp"
#include "scenarios/shell/statements.hpp"
#include "scenarios/shell/words.hpp"

namespace scenarios {

// Returns the copies that the statement runs in, the outermost first, without the first `around` of
// them; the last link of a pipe runs in none where an option says so.
inline std::vector<int> copies_of(const Statement& statement, std::size_t around,
                                  const ShellVariables& variables) {
  std::vector<int> copies;
  for (auto i = around; i < statement.shells.size(); ++i)
    if (statement.shells[i] > 0 || keeps_last_link(variables) != true)
      copies.push_back(statement.shells[i]);
  return copies;
}

// Keeps the variables from before each such copy, and sets them again behind its last command.
// Variables that are local there are so no more.
class Subshell {
 public:
  // The first `around` copies of all statements go on behind the last of them.
  explicit Subshell(std::size_t around) : around_(around) {}

  // The statement is next.
  void enter(const Statement& statement, ShellVariables& variables, ShellFunctions& functions) {
    constexpr int most = 256;  // copies whose variables are kept
    if (copies_.empty() && statement.shells.size() <= around_) return;
    const auto shells = copies_of(statement, around_, variables);
    std::size_t same = 0;
    while (same < copies_.size() && same < shells.size() && copies_[same].shell == shells[same])
      ++same;
    leave_to(same, variables, functions);
    for (auto i = same; i < shells.size() && times_ < most; ++i, ++times_)
      copies_.push_back({shells[i], variables.values(), variables.arguments(), functions.locals()});
  }
  // No statement is left.
  void leave(ShellVariables& variables, ShellFunctions& functions) {
    leave_to(0, variables, functions);
  }

 private:
  struct Copy {
    int shell = 0;
    ShellState before;
    ShellArguments arguments;
    ShellFunctions::Locals locals;
  };

  void leave_to(std::size_t count, ShellVariables& variables, ShellFunctions& functions) {
    if (copies_.size() <= count) return;
    const bool doubtful =
        copies_[count].shell < 0 && !keeps_last_link(variables);  // whether it is a copy
    const auto inside = doubtful ? variables.values().values : ShellValues();
    variables.state() = std::move(copies_[count].before);
    variables.restore_arguments(std::move(copies_[count].arguments));
    functions.restore_locals(std::move(copies_[count].locals));
    copies_.resize(count);
    for (const auto& [name, value] : inside)
      if (!same_text(name, value, variables))
        variables.doubt(name,
                        name + " is set in the last command of a pipe, which may be run apart");
  }
  static bool same_text(const std::string& name, const std::vector<ShellWord>& value,
                        const ShellVariables& variables) {
    const auto before = variables.variable(name).value;
    return before && before->size() == value.size() &&
           std::equal(value.begin(), value.end(), before->begin(),
                      [](const ShellWord& one, const ShellWord& other) {
                        return one.text == other.text && one.trouble == other.trouble;
                      });
  }

  std::vector<Copy> copies_;  // that run, the outermost first
  std::size_t around_;
  int times_ = 0;
};

}  // namespace scenarios

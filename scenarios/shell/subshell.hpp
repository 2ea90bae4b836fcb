// SPDX-License-Identifier: Apache-2.0
// Commands that a shell runs in a copy of itself: in round brackets, in pipes, in the background.
#pragma once
#include <cstddef>
#include <utility>
#include <vector>

#include "scenarios/shell/statements.hpp"
#include "scenarios/shell/words.hpp"

namespace scenarios {

// Keeps the variables from before each such copy, and sets them again behind its last command.
class Subshell {
 public:
  // The first `around` copies of all statements go on behind the last of them.
  explicit Subshell(std::size_t around) : around_(around) {}

  // The statement is next.
  void enter(const Statement& statement, ShellVariables& variables) {
    constexpr int most = 256;  // copies whose variables are kept
    const auto& shells = statement.shells;
    std::size_t same = 0;
    while (same < copies_.size() && around_ + same < shells.size() &&
           copies_[same].shell == shells[around_ + same])
      ++same;
    leave_to(same, variables);
    for (auto i = around_ + same; i < shells.size() && times_ < most; ++i, ++times_)
      copies_.push_back({shells[i], variables.values()});
  }
  // No statement is left.
  void leave(ShellVariables& variables) { leave_to(0, variables); }

 private:
  struct Copy {
    int shell = 0;
    ShellState before;
  };

  void leave_to(std::size_t count, ShellVariables& variables) {
    if (copies_.size() <= count) return;
    variables.restore(std::move(copies_[count].before));
    copies_.resize(count);
  }

  std::vector<Copy> copies_;  // that run, the outermost first
  std::size_t around_;
  int times_ = 0;
};

}  // namespace scenarios

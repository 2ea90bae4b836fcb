// SPDX-License-Identifier: Apache-2.0
// Commands that a shell runs in a copy of itself: in round brackets, in pipes, in the background.
#pragma once
#include <optional>
#include <string_view>
#include <utility>

#include "scenarios/shell/loops.hpp"
#include "scenarios/shell/statements.hpp"
#include "scenarios/shell/words.hpp"

namespace scenarios {

// Keeps the variables from before such commands, and sets them again behind the last. Copies are
// made for at most 64 runs of commands, and for those alone that may set a variable.
class Subshell {
 public:
  // `inside`: all statements are part of such commands.
  explicit Subshell(bool inside) : inside_(inside) {}

  // The statement is next.
  void enter(const Statement& statement, ShellVariables& variables) {
    constexpr int most = 64;
    constexpr std::size_t few = 4;  // words of a call that may set variables
    if (inside_) return;
    if (!runs_apart(statement)) return leave(variables);
    const auto& words = statement.words;
    const bool may_set = assigned_at(words.front().text) != std::string_view::npos ||
                         words.size() < few || begins_loop(statement);
    if (!kept_ && may_set && ++times_ <= most) kept_ = variables.values();
  }
  // No statement is left.
  void leave(ShellVariables& variables) {
    if (kept_) variables.restore(std::move(*kept_));
    kept_.reset();
  }

 private:
  std::optional<ShellState> kept_;
  bool inside_;
  int times_ = 0;
};

}  // namespace scenarios

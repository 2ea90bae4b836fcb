// SPDX-License-Identifier: Apache-2.0
// Copies of a shell that an "exit" ends, or may end.
#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <span>

#include "scenarios/shell/conditions.hpp"
#include "scenarios/shell/statements.hpp"

namespace scenarios {

class EndedCopies {
 public:
  // The copy ends, and succeeds or not; nothing: only a shell can tell which. `sure`: it does for
  // certain.
  void add(int copy, std::optional<bool> success, bool sure);
  // Whether the statement is not run, since a copy has ended that it is in.
  bool skip(const Statement& statement) const;
  // Where statement i ends the block that such a copy runs, gives the block the copy's status.
  // O(copies of the statement)
  void settle(std::span<const Statement> statements, std::size_t i, Conditions& conditions) const;

 private:
  struct End {
    std::optional<bool> success{};
    bool sure = false;
  };
  std::map<int, End> ended_;
};

}  // namespace scenarios

// SPDX-License-Identifier: Apache-2.0
// Loops whose turns can be told without a shell.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "scenarios/shell/statements.hpp"

namespace scenarios {

// Returns the number of statements behind the first one, which begins a loop, up to its "done"; 0:
// it has none, or a statement leaves it or its turn. O(statements of the loop)
std::size_t length_of_loop(std::span<const Statement> loop);

// The parts of "((i = 0; i < 8; i++))".
struct CountingLoop {
  std::string first, condition, step;
};

// Returns the parts of a word; nothing: it is another one, or has no condition.
std::optional<CountingLoop> counting_loop(const std::string& word);

}  // namespace scenarios

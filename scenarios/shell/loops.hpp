// SPDX-License-Identifier: Apache-2.0
// Loops whose turns can be told without a shell.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "scenarios/shell/statements.hpp"
#include "scenarios/shell/words.hpp"

namespace scenarios {

// Returns the statements behind the first one, which begins a loop, up to its "done"; empty: it has
// none. O(statements of the loop)
std::span<const Statement> body_of_loop(std::span<const Statement> loop);

// Returns the number of these statements; 0 also where one leaves the loop in a way that is not
// read.
std::size_t length_of_loop(std::span<const Statement> loop);

// Whether the statement begins a loop of "for", "while" or "until".
bool begins_loop(const Statement& statement);

// Whether a statement of the loop leaves it or its turn, "break", "continue 2", or runs commands
// that may: "source FILE".
bool leaves_early(std::span<const Statement> loop);

// Returns the number of statements up to the "do" of a loop; the number of all: it has none.
std::size_t head_of_loop(std::span<const Statement> loop);

// Whether a loop of "while" or "until" takes a turn, told without running its condition; nothing:
// that needs to be run, or only a shell can tell.
std::optional<bool> takes_turn(std::span<const Statement> loop, const ShellVariables& variables);

// Whether the condition of the loop, which has one, is a test that changes nothing.
bool only_tests(std::span<const Statement> loop);

// The parts of "((i = 0; i < 8; i++))".
struct CountingLoop {
  std::string first, condition, step;
};

// Returns the parts of a word; nothing: it is another one, or has no condition.
std::optional<CountingLoop> counting_loop(const std::string& word);

}  // namespace scenarios

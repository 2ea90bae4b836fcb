// SPDX-License-Identifier: Apache-2.0
// The choices of degrees that are simulated before any is bounded closely, so that bounds have a
// good plan to compare with.
#pragma once
#include <cstdint>
#include <vector>

#include "search/evaluator.hpp"

namespace search {

// A choice of degrees, and the rough time of its even partition (Evaluator::guess).
struct Guess {
  Picoseconds time = 0;
  std::uint32_t index = 0;  // of `degrees`
};

// The choices that promise most, one of each schedule and sharding. O(guesses · log guesses)
std::vector<std::uint32_t> first_choices(std::vector<Guess> guesses,
                                         const std::vector<Degrees>& degrees);

// The neighbours that promise most, a few of each. O(guesses · log guesses)
std::vector<std::uint32_t> next_choices(std::vector<Guess> guesses,
                                        const std::vector<Degrees>& degrees);

// Whether plans differ in at most two of the keys that a search varies. The data-parallel degree
// follows from the others and does not count.
bool are_neighbours(const strategies::Plan& a, const strategies::Plan& b);

}  // namespace search

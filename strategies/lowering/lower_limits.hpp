// SPDX-License-Identifier: Apache-2.0
// Steps that are too large to be simulated, or too long. Each check throws Refusal.
#pragma once
#include "strategies/lowering/cast.hpp"

namespace strategies {

// Refuses a step that takes more memory or time than there is, told from the plan's numbers.
void check_numbers(const Job& job);
// Refuses a program that would not fit into memory, before it is written. `ranks`: as lower() takes
// them. O(blocks).
void check_size(const Cast& cast, Ranks ranks);
// Refuses a step that is too long. Times are 64-bit picoseconds, so it is estimated before it is
// played: all that the busiest actor does, one thing after the other, behind a first microbatch on
// its way through the stages before. A step of up to four times the estimate is played without
// overflow.
void check_length(const Cast& cast, const sim::Program& program);
// Refuses links that differ too much: traffic that shares them is played in integers of 60 bits.
void check_links(const Cast& cast, const sim::Program& program);

}  // namespace strategies

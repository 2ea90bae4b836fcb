// SPDX-License-Identifier: Apache-2.0
// Steps that are too large to be simulated, or too long. Each check throws Refusal.
#pragma once
#include "strategies/lowering/cast.hpp"

namespace strategies {

// What takes more memory or time than there is, told from the plan's numbers.
void check_numbers(const Job& job);
// What would not fit into memory, before it is tried. `ranks`: as lower() takes them.
void check_size(const Cast& cast, Ranks ranks);
// Times are 64-bit picoseconds, so the step is estimated before it is played: all that the busiest
// actor does, one thing after the other, behind a first microbatch on its way through the stages
// before. A step of up to four times the estimate is played without overflow.
void check_length(const Cast& cast, const sim::Program& program);
// Links that traffic shares are played in integers of 60 bits.
void check_links(const Cast& cast, const sim::Program& program);

}  // namespace strategies

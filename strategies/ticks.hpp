// SPDX-License-Identifier: Apache-2.0
// Whole picoseconds, and the longest step that is simulated.
#pragma once
#include "sim/program.hpp"
#include "units/quantity.hpp"

namespace strategies {

// Returns the nearest whole number of picoseconds. Throws Refusal beyond 10^6 s: sums must stay
// within 64 bits.
sim::Picoseconds to_ticks(units::Seconds time);

// Throws Refusal where a step takes sim::unreached, 26 days, at least. `ticks`: picoseconds.
void check_ticks(double ticks);

}  // namespace strategies

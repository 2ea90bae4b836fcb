// SPDX-License-Identifier: Apache-2.0
// Spread of measured over forecast peak memory, and the probability that a plan fits.
#pragma once
#include "forecast/forecast.hpp"

namespace forecast {

// The share of published runs that measured at most `ratio` times the bytes that were forecast of
// the same kind (allocated, reserved, of the device), each data set having one vote. It rises from
// 0 to 1 with `ratio`.
double share_measured_below(double ratio);

// Probability that a real run fits into its devices: that measured over forecast memory is at most
// the factor by which the fullest stage's tensors may grow, and of a stage whose replay fails by
// fragments, the factor from the room in which it does not. The host's memory is left out.
double fit_chance_of(const Memory& memory);

}  // namespace forecast

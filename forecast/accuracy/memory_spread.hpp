// SPDX-License-Identifier: Apache-2.0
// How far off forecasts of peak memory have been, and therefore how likely a plan is to fit.
#pragma once
#include "forecast/forecast.hpp"

namespace forecast {

// The share of published runs that measured at most `ratio` times the bytes that were forecast of
// the same kind (allocated, reserved, of the device), each data set having one vote. From 0 to 1,
// not falling.
double share_measured_below(double ratio);

// That a real run of this fits into its devices: that it measures no more than what the fullest
// stage's tensors may grow by. What the host keeps is not asked.
double fit_chance_of(const Memory& memory);

}  // namespace forecast

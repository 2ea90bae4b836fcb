// SPDX-License-Identifier: Apache-2.0
// Private to the room: the headline of the report on a forecast.
#pragma once
#include <string>

#include "forecast/forecast.hpp"
#include "forecast/scenario.hpp"
#include "report/style.hpp"

namespace report {

// Step time with its interval and the runs behind it, a published measurement beside it,
// throughput, efficiency, cost.
std::string headline_text(const forecast::Scenario& scenario, const forecast::Forecast& forecast,
                          const TextOptions& options);

// Behind a sentence on memory: whether the plan does not fit, and the probability that it does,
// from errors of past forecasts. Empty if it is nearly certain that it fits.
std::string fit_words(const forecast::Memory& memory);

}  // namespace report

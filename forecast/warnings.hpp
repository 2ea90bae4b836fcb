// SPDX-License-Identifier: Apache-2.0
// Sentences that warn of a forecast: memory that overflows, and plans or clusters that are
// doubtful.
#pragma once
#include <string>
#include <vector>

#include "forecast/forecast.hpp"

namespace forecast {

// A sentence on which memory overflows (device, host or NVMe); on changes that make a plan fit a
// device advises fitting_change. Empty if everything fits.
std::string misfit_of(const Scenario& scenario, const Memory& memory);

// Warnings about this answer, each but misfit_of's with advice. Empty if all is well.
std::vector<std::string> warnings_of(const Scenario& scenario, const Forecast& forecast);

}  // namespace forecast

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "forecast/forecast.hpp"

namespace forecast {

// What of device, host or NVMe memory overflows, and what would help; empty if nothing does.
std::string misfit_of(const Scenario& scenario, const Memory& memory);

// What a user should know about this answer, each with advice. Empty if all is well.
std::vector<std::string> warnings_of(const Scenario& scenario, const Forecast& forecast);

}  // namespace forecast

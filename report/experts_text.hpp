// SPDX-License-Identifier: Apache-2.0
// Private to the room: reach and load of experts, for people.
#pragma once
#include <string>

#include "forecast/forecast.hpp"
#include "report/style.hpp"

namespace report {

// Empty if the forecast has none of it.
std::string experts_text(const forecast::Forecast& forecast, const TextOptions& options);

}  // namespace report

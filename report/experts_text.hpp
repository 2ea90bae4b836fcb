// SPDX-License-Identifier: Apache-2.0
// Private to the room: how experts are reached and loaded, for people.
#pragma once
#include <string>

#include "forecast/forecast.hpp"
#include "report/style.hpp"

namespace report {

// Empty where the forecast says nothing of it.
std::string experts_text(const forecast::Forecast& forecast, const TextOptions& options);

}  // namespace report

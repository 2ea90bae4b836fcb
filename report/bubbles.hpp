// SPDX-License-Identifier: Apache-2.0
// Idle time in words: its causes, and advice to shorten it.
#pragma once
#include <string>
#include <string_view>

#include "forecast/forecast.hpp"
#include "forecast/scenario.hpp"
#include "report/style.hpp"

namespace report {

// Advice against idle time of this cause: a sentence that names the keys to change.
std::string remedy(const forecast::Scenario& scenario, const forecast::Forecast& forecast,
                   forecast::IdleCause cause);
// Advice against idle time of this cause in a schedule that is studied alone.
std::string_view schedule_remedy(forecast::IdleCause cause);

// Causes of the mean stage's idle time with their shares of the step, and a remedy for the
// greatest: three lines or so. Empty if the forecast does not know causes or no stage is idle.
std::string bubbles_text(const forecast::Scenario& scenario, const forecast::Forecast& forecast,
                         const TextOptions& options);

}  // namespace report

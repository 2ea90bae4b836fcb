// SPDX-License-Identifier: Apache-2.0
// Private to the room: the rules of operators, and their state under a forecast.
#pragma once
#include <string>
#include <vector>

#include "forecast/alerts.hpp"
#include "report/document.hpp"
#include "report/style.hpp"

namespace report {

// [{"figure", "condition", "threshold", "value", "unit", "state", "low", "high", "certain",
// "words", "meaning", "reason"}]: values in the unit, which is one of share, s, bytes, tokens/s,
// 1/s (failures), or null where a number has none; words: the value as people read it; low and
// high: where it lies inside the step's interval, or null.
Document alerts_document(const forecast::Scenario& scenario, const forecast::Forecast& forecast);

// A block with a line for each rule, raised ones and those not simulated with the reason; empty
// without rules.
std::string alerts_text(const forecast::Scenario& scenario, const forecast::Forecast& forecast,
                        const TextOptions& options);

// The rules of `to`, judged on two forecasts; empty without rules.
std::string compared_alerts_text(const forecast::Scenario& from, const forecast::Forecast& before,
                                 const forecast::Scenario& to, const forecast::Forecast& after,
                                 const TextOptions& options);

}  // namespace report

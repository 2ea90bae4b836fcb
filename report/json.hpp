// SPDX-License-Identifier: Apache-2.0
// Answers as JSON: one document each, for programs.
#pragma once
#include <string>
#include <string_view>

#include "forecast/forecast.hpp"
#include "forecast/scenario.hpp"
#include "report/correction.hpp"

namespace report {

// The document of `simulate --json`: seconds, bytes, rates per second; the keys in a fixed order,
// numbers in as few digits as read back to the same value, bytes that are no UTF-8 replaced by
// U+FFFD. With rules of operators it has `alerts`, one for each. Its `scenario` is the resolved
// one, every figure written out, and a scenario file may hold it as it stands; `base` still names
// the catalog entries, whose tables of measured kernels are too long to repeat. Ends with a line
// feed. `evidence`, where the forecast has its basis, says what the seconds of the critical path
// rest on, in all, by kind, and what to measure (docs/rates.md). `correction` and `measured` are
// there where they stand beside the forecast, and `run`: what a whole training takes. Throws
// std::domain_error that names the key if a number is not finite.
std::string simulate_json(const forecast::Scenario& scenario, const forecast::Forecast& forecast,
                          std::string_view version, const Beside& beside = {});

}  // namespace report

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
// U+FFFD. If there are rules of operators, `alerts` has one entry for each. Its `scenario` is the
// resolved one, with every figure written out, and is valid as a scenario file; `base` still names
// the catalog entries, whose tables of measured kernels are too long to repeat. Ends with a line
// feed. `evidence`, if the forecast has its basis, gives the evidence for the seconds of the
// critical path, in all and by kind, and the kernels to measure (docs/rates.md). `correction`,
// `measured` and `run` (time and cost of a whole training) are present if `beside` has them. Throws
// std::domain_error that names the key if a number is not finite.
std::string simulate_json(const forecast::Scenario& scenario, const forecast::Forecast& forecast,
                          std::string_view version, const Beside& beside = {});

}  // namespace report

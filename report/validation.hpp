// SPDX-License-Identifier: Apache-2.0
// Forecasts beside measurements.
#pragma once
#include <string>

#include "forecast/validation.hpp"
#include "report/text.hpp"

namespace report {

// The document of `validate --json`. What there is nothing to say about is null. Errors are
// fractions; `median` is of the signed errors, `mape`, `p90` and `worst` are of their magnitudes.
// Beyond the fixed keys, a row has `low_s`, `high_s`, `memory_kind` and `time_counts`, a data set
// `worst_id`.
std::string validate_json(const forecast::Score& score);

// Every supported row with measurement, forecast and error; then a line per data set and the
// totals; then the reasons why rows are not supported, the most frequent first.
std::string validate_text(const forecast::Score& score, const TextOptions& options = {});

}  // namespace report

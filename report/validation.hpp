// SPDX-License-Identifier: Apache-2.0
// Forecasts beside measurements.
#pragma once
#include <string>

#include "forecast/accuracy/validation.hpp"
#include "report/style.hpp"

namespace report {

// The document of `validate --json`. Statistics of no rows are null. Errors are fractions; `median`
// is of the signed errors, `mape`, `p90` and `worst` are of their magnitudes; the same of memory
// after `memory_`. In a mean over several data sets each has one vote. Beyond the fixed keys:
// `outcomes` are runs that ran and that ran out of memory against the forecast, `passes` and
// `causes` errors by kind of pass and by group, `cohorts` errors of the data sets that joined at
// the same time, `coverage_left_out` is by the intervals of all other data sets. Rows on devices
// that nothing is fitted to count in `devices_not_fitted` alone. `relative` compares rows of a set
// whose source prints rates by a formula of its own: forecast over measured rate, against the
// median.
std::string validate_json(const forecast::Score& score);

// Returns every supported row with measurement, forecast and error; then a line per data set and
// the totals, for time and for memory; errors by kind of pass and by cause; then the reasons why
// rows are not supported, the most frequent first.
std::string validate_text(const forecast::Score& score, const TextOptions& options = {});

// The validation as a page (page.hpp): scatters of predicted against measured, errors by cause and
// by data set, every row with what its source leaves open.
std::string validate_page(const forecast::Score& score);

}  // namespace report

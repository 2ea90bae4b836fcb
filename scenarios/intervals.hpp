// SPDX-License-Identifier: Apache-2.0
// The table of intervals that `validate --intervals` writes.
#pragma once
#include <string>
#include <string_view>

#include "forecast/accuracy/intervals.hpp"

namespace scenarios {

// Throws Error with the place of every mistake; `file` names the text in it.
forecast::Intervals read_intervals(std::string_view text, const std::string& file);

// The table carried inside the program, scenarios/catalog/intervals.yaml as constants.
forecast::Intervals catalog_intervals();

}  // namespace scenarios

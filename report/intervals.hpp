// SPDX-License-Identifier: Apache-2.0
// The table of intervals, as the program carries it.
#pragma once
#include <string>

#include "forecast/accuracy/intervals.hpp"

namespace report {

// YAML that scenarios/intervals.hpp reads back; logarithms to four decimals. The same table gives
// the same bytes.
std::string intervals_yaml(const forecast::Intervals& intervals);

}  // namespace report

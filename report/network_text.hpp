// SPDX-License-Identifier: Apache-2.0
// The network in a report: how busy the links of each kind are, and who waits for whom.
#pragma once
#include <string>

#include "forecast/forecast.hpp"
#include "report/style.hpp"

namespace report {

// One line per kind of link with the busiest of them, then the greatest losses to sharing; empty
// where nothing crossed a link.
std::string network_text(const forecast::Forecast& forecast, const TextOptions& options);

}  // namespace report

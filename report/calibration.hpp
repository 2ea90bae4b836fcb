// SPDX-License-Identifier: Apache-2.0
// Results of a calibration, for people and for programs.
#pragma once
#include <string>

#include "forecast/accuracy/calibration_summary.hpp"
#include "report/style.hpp"

namespace report {

std::string calibrate_text(const forecast::CalibrationSummary& summary, const TextOptions& options);
std::string calibrate_json(const forecast::CalibrationSummary& summary);

}  // namespace report

// SPDX-License-Identifier: Apache-2.0
// Private to the room: the evidence for a forecast's seconds, and measurements that would help.
#pragma once
#include <string>

#include "forecast/forecast.hpp"
#include "report/document.hpp"
#include "report/style.hpp"

namespace report {

// Name of the kernel or collective to measure: "forward product 2048 x 4608 x 12288 in bf16".
std::string what_of(const strategies::CostQuery& question);
// The line that measures it, by tools/measure_kernels.py or nccl-tests; empty where neither can.
std::string command_of(const forecast::Wanted& wanted);

// Returns a line with the evidence for the seconds; empty without a basis.
std::string basis_line(const forecast::Forecast& forecast, const TextOptions& options);
std::string measurements_text(const forecast::Forecast& forecast, const TextOptions& options);
// { "measured_s", …, "kinds": […], "measurements": […] }
Document basis_document(const forecast::Basis& basis);

}  // namespace report

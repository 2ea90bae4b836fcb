// SPDX-License-Identifier: Apache-2.0
// The reasons why a run is slower than its forecast, for people and for programs.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "forecast/diagnosis/changes.hpp"
#include "forecast/diagnosis/diagnosis.hpp"
#include "report/style.hpp"

namespace report {

struct Explanation {
  std::string scenario;                          // its file
  units::Seconds measured, forecast, low, high;  // of the step; 80 % interval
  std::optional<units::Seconds> told;            // by --measured
  double deviations = 0;  // of the forecast, in standard deviations of forecasts like it
  const model::Transformer* model = nullptr;  // null: nothing is said of it
  // The diagnosis from traces; absent: none was given.
  std::optional<forecast::Diagnosis> diagnosis;
  std::vector<std::string> traces;                   // files
  std::vector<std::optional<units::Seconds>> tried;  // by suspect: the forecast with its set
  // Changes that explain the time alone, the likeliest first; only without a diagnosis.
  std::vector<forecast::TriedChange> changes;
};

std::string explanation_text(const Explanation& of, const TextOptions& options = {});

// { "scenario", "model": { "parameters", "active_parameters", "prediction_parameters" },
// "measured_s", "told_s", "forecast": { "time_s", "time_low_s", "time_high_s" }, "excess_s",
// "deviations", "trace": null or { "files", "step", "ranks", "gpus", "mismatches": [ { "what",
// "trace", "scenario" } ] }, "suspects": [ { "cause", "seconds", "share", "factor", "kernels",
// "communication", "ranks", "stage", "evidence", "set", "forecast_with_set_s" } ], "unexplained_s",
// "changes": [ { "words", "set", "time_s", "explains", "factor" } ] }
std::string explanation_json(const Explanation& of, std::string_view version);

}  // namespace report

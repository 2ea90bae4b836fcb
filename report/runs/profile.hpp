// SPDX-License-Identifier: Apache-2.0
// A real run's profile in the words of a forecast, alone or beside one.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "forecast/diagnosis/diagnosis.hpp"
#include "forecast/forecast.hpp"
#include "forecast/profile.hpp"
#include "report/style.hpp"

namespace report {

struct ProfileReport {
  std::string file;
  const forecast::Profile& profile;
  const forecast::Breakdown& breakdown;
  // Beside it, if given; both or none.
  const forecast::Scenario* scenario = nullptr;
  const forecast::Forecast* forecast = nullptr;
  // In what the trace is not of the scenario: where there is any, nothing stands beside it.
  std::vector<forecast::Mismatch> mismatches = {};
};

// The trace is not of this scenario: in what.
std::string mismatches_text(const std::vector<forecast::Mismatch>& mismatches,
                            const TextOptions& options);

// The step of median time: where it went, beside the forecast; every step and stream a line.
std::string profile_text(const ProfileReport& report, const TextOptions& options = {});

// { "file", "rank", "world_size", "step": { "time_s" }, "time": { "compute_s", "tensor_comm_s", …,
// "all_reduce_s", …, "offload_s", "bubble_s" }, "communication_s", "hidden_s", "steps": [ … ],
// "streams": [ … ], "mismatches": [ { "what", "trace", "scenario" } ], "against": the document of
// simulate --json, or null, where there are mismatches too }. `step` ("time_s", "name",
// "median_of") and `time` are of the step of median time; "offload_s" is what the text calls
// copies; `time` sums to it; communication is of a parallel group where the trace names one, else
// of its collective.
std::string profile_json(const ProfileReport& report, std::string_view version);

}  // namespace report

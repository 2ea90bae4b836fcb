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
  // The forecast beside the profile, if given: both or none.
  const forecast::Scenario* scenario = nullptr;
  const forecast::Forecast* forecast = nullptr;
  // The forecast of the traced rank; absent where the trace does not name its rank: that of the
  // rank that ends last stands for it.
  const forecast::RankTimes* expected = nullptr;
  // Differences between the traced run and the scenario; if there are any, the profile is not
  // compared.
  std::vector<forecast::Mismatch> mismatches = {};
};

// Returns the differences between the traced run and the scenario.
std::string mismatches_text(const std::vector<forecast::Mismatch>& mismatches,
                            const TextOptions& options);

// Returns the parts of the step of median time, beside the forecast; then a line for every step and
// stream.
std::string profile_text(const ProfileReport& report, const TextOptions& options = {});

// { "file", "rank", "world_size", "step": { "time_s" }, "time": { "compute_s", "tensor_comm_s", …,
// "all_reduce_s", …, "offload_s", "bubble_s" }, "communication_s", "hidden_s", "steps": [ … ],
// "streams": [ … ], "mismatches": [ { "what", "trace", "scenario" } ], "expected": { "rank",
// "stage", "time" }, of the traced rank, or null, where it is not known; "against": the document of
// simulate --json, or null, where there are mismatches too }. `step` ("time_s", "name",
// "median_of") and `time` are of the step of median time; "offload_s" is what the text calls
// copies; `time` sums to it; communication is of a parallel group where the trace names one, else
// of its collective.
std::string profile_json(const ProfileReport& report, std::string_view version);

}  // namespace report

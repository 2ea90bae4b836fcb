// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "report/calibration.hpp"
#include "tests/catch.hpp"
#include "tests/report/golden.hpp"

namespace calibration_spec {

namespace {

forecast::CalibrationSummary example() {
  forecast::CalibrationSummary summary{.before = 0.15,
                                       .after = 0.08,
                                       .left_out = 0.1,
                                       .observations = 60,
                                       .groups = 12,
                                       .steps = 5,
                                       .converged = true,
                                       .files = {"devices/b200.yaml"}};
  summary.parameters = {{.file = "devices/b200.yaml",
                         .key = "efficiency.kernel_gap",
                         .unit = "us",
                         .meaning = "start-up of a kernel",
                         .value = 2.51,
                         .standard_error = 0.32,
                         .start = 4,
                         .low = 1,
                         .high = 12,
                         .width = 0.5,
                         .observations = 18},
                        {.file = "software/nemo.yaml",
                         .key = "interference",
                         .value = 0.6,
                         .start = 0.15,
                         .low = 0,
                         .high = 0.6,
                         .width = 0.1,
                         .logarithmic = false,
                         .at_bound = true,
                         .observations = 42}};
  summary.sets = {{"paper_table_1", "time", 42, 0.2, 0.1, 0.12},
                  {"b200", "memory", 18, 0.1, 0.06, 0.08}};
  return summary;
}

}  // namespace

TEST_CASE("the calibration of the example is the golden one, as text and as JSON") {
  golden::check("calibrate.txt", report::calibrate_text(example(), {}));
  golden::check("calibrate.json", report::calibrate_json(example()));
}

TEST_CASE("a parameter on its bound has no standard error") {
  const auto json = nlohmann::json::parse(report::calibrate_json(example()));
  CHECK(json["parameters"][1]["standard_error"].is_null());
  CHECK(json["parameters"][0]["standard_error"] == 0.32);
  CHECK(json["left_out_over_after"] == Approx(1.25));
}

}  // namespace calibration_spec

// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "report/validation.hpp"
#include "tests/catch.hpp"
#include "tests/report/golden.hpp"

using golden::contains;
using namespace units::literals;

namespace {

forecast::Score example() {
  forecast::DatasetRows paper{"paper_table_1", {}};
  forecast::Row row;
  row.id = "gpt-1b tp2";
  row.measured_s = 4.0_s;
  row.predicted_s = 5.0_s;
  row.low_s = 3.5_s;
  row.high_s = 6.5_s;
  paper.rows.push_back(row);
  row.id = "gpt-1b tp4";
  row.predicted_s = 3.0_s;
  row.low_s = 2.5_s;
  row.high_s = 3.5_s;
  row.measured_bytes = 40.0_GiB;
  row.predicted_bytes = 30.0_GiB;
  row.memory_kind = "allocated";
  paper.rows.push_back(row);
  forecast::Row later;
  later.id = "moe ep8";
  later.status = forecast::Row::Status::unsupported;
  later.reason = "mixture-of-experts layers are not supported yet";
  later.measured_s = 2.0_s;
  paper.rows.push_back(later);
  return forecast::score({paper, {"moe_only", {later, later}}});
}

}  // namespace

TEST_CASE("the validation of the example is the golden one, as text and as JSON") {
  golden::check("validate.txt", report::validate_text(example()));
  golden::check("validate.json", report::validate_json(example()));
}

TEST_CASE("what has no score is null in JSON, never a made-up number") {
  const auto json = nlohmann::json::parse(report::validate_json(example()));
  CHECK(json["mape"] == 0.25);
  CHECK(json["rows"] == 5);
  CHECK(json["unsupported"] == 3);
  const auto& moe = json["datasets"][1];
  for (const char* key : {"mape", "median", "p90", "worst", "memory_mape", "coverage"})
    CHECK(moe[key].is_null());
  CHECK(moe["rows"][0]["predicted_s"].is_null());
  CHECK(moe["rows"][0]["error"].is_null());
  CHECK(moe["rows"][0]["measured_s"] == 2.0);
}

TEST_CASE("reasons are counted over all data sets") {
  CHECK(contains(report::validate_text(example()),
                 "    3  mixture-of-experts layers are not supported yet"));
}

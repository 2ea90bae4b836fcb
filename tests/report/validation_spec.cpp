// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>
#include <random>

#include "report/validation.hpp"
#include "tests/catch.hpp"
#include "tests/report/columns_back.hpp"
#include "tests/report/golden.hpp"

namespace validation_spec {

using golden::contains;
using namespace units::literals;

namespace {

// Rows of a run on a device that nothing is fitted to, and of rates that are compared with each
// other.
forecast::DatasetRows joined_later() {
  forecast::ValidationRow tpu;
  tpu.id = "tpu";
  tpu.measured_s = 10.0_s;
  tpu.predicted_s = 12.0_s;
  tpu.fitted = false;
  forecast::ValidationRow rated;
  rated.id = "1 node";
  rated.predicted_s = 1.5_s;
  rated.measured_rate = units::FlopsPerSecond{500e12};
  rated.predicted_rate = units::FlopsPerSecond{400e12};
  auto wider = rated;
  wider.id = "2 nodes";
  wider.measured_rate = units::FlopsPerSecond{400e12};
  auto widest = rated;
  widest.id = "4 nodes";
  widest.measured_rate = units::FlopsPerSecond{320e12};
  forecast::ValidationRow gpu;
  gpu.id = "gpu";
  gpu.measured_s = 10.0_s;
  gpu.predicted_s = 11.0_s;
  return {"joined", {tpu, rated, wider, widest, gpu}, "2026-11"};
}

forecast::Score example() {
  forecast::DatasetRows paper{"paper_table_1", {}};
  forecast::ValidationRow row;
  row.id = "gpt-1b tp2";
  row.measured_s = 4.0_s;
  row.predicted_s = 5.0_s;
  row.low_s = 3.5_s;
  row.high_s = 6.5_s;
  row.groups = {"A100", "bf16", "tp", "<=8", "dense", "Ampere dense"};
  row.predicted_fits = true;
  paper.rows.push_back(row);
  row.id = "gpt-1b tp4";
  row.assumed = {"vocabulary 50,257 <GPT-2's>"};
  row.predicted_fits = false;
  row.passes = {{"layer.forward", 0.004_s, 0.005_s}};
  row.predicted_s = 3.0_s;
  row.low_s = 2.5_s;
  row.high_s = 3.5_s;
  row.measured_bytes = 40.0_GiB;
  row.predicted_bytes = 30.0_GiB;
  row.memory_kind = "allocated";
  paper.rows.push_back(row);
  forecast::ValidationRow later;
  later.id = "moe ep8";
  later.status = forecast::ValidationRow::Status::unsupported;
  later.reason = "mixture-of-experts layers are not supported yet";
  later.measured_s = 2.0_s;
  forecast::ValidationRow full;
  full.id = "gpt-1b tp1";
  full.out_of_memory = true;
  full.predicted_fits = false;
  paper.rows.push_back(full);
  paper.rows.push_back(later);
  return forecast::score({paper, {"moe_only", {later, later}}, joined_later()});
}

}  // namespace

TEST_CASE("the validation of the example is the golden one, as text and as JSON") {
  golden::check("validate.txt", report::validate_text(example()));
  golden::check("validate.json", report::validate_json(example()));
}

TEST_CASE("a score that is absent is null in JSON, never a made-up number") {
  const auto json = nlohmann::json::parse(report::validate_json(example()));
  CHECK(json["mape"] == (0.25 + 0.1) / 2);
  CHECK(json["rows"] == 11);
  CHECK(json["unsupported"] == 3);
  const auto& moe = json["datasets"][1];
  for (const char* key : {"mape", "median", "p90", "worst", "memory_mape", "coverage"})
    CHECK(moe[key].is_null());
  CHECK(moe["rows"][0]["predicted_s"].is_null());
  CHECK(moe["rows"][0]["error"].is_null());
  CHECK(moe["rows"][0]["measured_s"] == 2.0);
  CHECK(moe["devices_not_fitted"].is_null());
  CHECK(moe["relative"].is_null());
}

TEST_CASE("a row on a device that nothing is fitted to stands apart in text and JSON") {
  const auto json = nlohmann::json::parse(report::validate_json(example()));
  const auto& joined = json["datasets"][2];
  CHECK(joined["added"] == "2026-11");
  CHECK(joined["mape"] == 0.1);  // the error of "gpu" alone
  CHECK(joined["devices_not_fitted"]["mape"] == 0.2);
  CHECK(joined["relative"]["worst"] == 0.25);
  CHECK_FALSE(joined["rows"][0]["device_fitted"]);
  CHECK(json["cohorts"][0]["added"].is_null());
  CHECK(json["cohorts"][1]["mape"] == 0.1);
  CHECK(contains(report::validate_text(example()), "12.0 s    +20.0 % (shown apart)\n"));
}

TEST_CASE("reasons are counted over all data sets") {
  CHECK(contains(report::validate_text(example()),
                 "    3  mixture-of-experts layers are not supported yet"));
}

TEST_CASE("the page has the document of --json, its rows by column, with their groups") {
  auto data = columns::data_of(report::validate_page(example()));
  CHECK(data["kind"] == "validate");
  auto& validation = data["validation"];
  const auto document = nlohmann::json::parse(report::validate_json(example()));
  for (std::size_t i = 0; i < 3; ++i) {
    auto rows = columns::rows_of(validation["datasets"][i]["rows"]);
    REQUIRE(rows.size() == document["datasets"][i]["rows"].size());
    if (i == 0) {
      CHECK(rows[0]["groups"] ==
            nlohmann::json({"A100", "bf16", "tp", "<=8", "dense", "Ampere dense"}));
      CHECK(rows[1]["assumed"] == nlohmann::json({"vocabulary 50,257 <GPT-2's>"}));
    }
    for (auto& row : rows) row.erase("groups"), row.erase("assumed");
    validation["datasets"][i]["rows"] = rows;
  }
  CHECK(validation == document);
}

TEST_CASE("names cannot break out of the page") {
  forecast::DatasetRows hostile{"<img src=x onerror=alert(1)>", {}};
  forecast::ValidationRow row;
  row.id = "</script><script>alert('x')</script>\xff";
  row.measured_s = row.predicted_s = 1.0_s;
  row.groups[0] = "</svg>";
  hostile.rows = {row};
  const auto page = report::validate_page(forecast::score({hostile}));
  CHECK_FALSE(contains(page, "<img"));
  CHECK_FALSE(contains(page, "</script><script>"));
  CHECK(contains(page, "\\u003cimg src=x"));
}

TEST_CASE("a page of two thousand rows stays below a megabyte") {
  forecast::DatasetRows set{"vtrain_ground_truth_single", {}};
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) {
    forecast::ValidationRow row;
    row.id = "vtrain_single_gpt_1024_24_16_tp8_dp1_pp1_mb" + std::to_string(i);
    row.measured_s = units::Seconds{1e-9 * static_cast<double>(random())};
    row.predicted_s = units::Seconds{1e-9 * static_cast<double>(random())};
    row.measured_bytes = row.predicted_bytes = 1.0_GiB;
    set.rows.push_back(row);
  }
  CHECK(report::validate_page(forecast::score({set})).size() < 1'000'000);
}

}  // namespace validation_spec

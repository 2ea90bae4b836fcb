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
  row.groups = {"A100", "bf16", "tp", "<=8", "dense"};
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
  forecast::Row later;
  later.id = "moe ep8";
  later.status = forecast::Row::Status::unsupported;
  later.reason = "mixture-of-experts layers are not supported yet";
  later.measured_s = 2.0_s;
  forecast::Row full;
  full.id = "gpt-1b tp1";
  full.out_of_memory = true;
  full.predicted_fits = false;
  paper.rows.push_back(full);
  paper.rows.push_back(later);
  return forecast::score({paper, {"moe_only", {later, later}}});
}

}  // namespace

TEST_CASE("the validation of the example is the golden one, as text and as JSON") {
  golden::check("validate.txt", report::validate_text(example()));
  golden::check("validate.json", report::validate_json(example()));
  golden::check("validate.html", report::validate_page(example()));
}

TEST_CASE("what has no score is null in JSON, never a made-up number") {
  const auto json = nlohmann::json::parse(report::validate_json(example()));
  CHECK(json["mape"] == 0.25);
  CHECK(json["rows"] == 6);
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

TEST_CASE("the page stands alone, and names cannot break out of it") {
  const auto page = report::validate_page(example());
  CHECK(contains(page, "vocabulary 50,257 &lt;GPT-2&#39;s&gt;"));
  for (const char* foreign : {"http", "<script", "@import", "url(//", "<link", "<GPT-2"})
    CHECK_FALSE(contains(page, foreign));
  forecast::DatasetRows hostile{"<img src=x onerror=alert(1)>", {}};
  forecast::Row row;
  row.id = "\"/><script>alert('x')</script>\x01\xff";
  row.measured_s = row.predicted_s = 1.0_s;
  row.groups[0] = "</svg>";
  hostile.rows = {row};
  const auto safe = report::validate_page(forecast::score({hostile}));
  CHECK_FALSE(contains(safe, "<script"));
  CHECK_FALSE(contains(safe, "<img"));
  CHECK_FALSE(contains(safe, "\x01"));
  CHECK(contains(safe, "&lt;/svg&gt;"));
}

TEST_CASE("the page closes every element that it opens") {
  const auto page = report::validate_page(example());
  const auto count = [&](const std::string& part) {
    std::size_t found = 0;
    for (auto at = page.find(part); at != std::string::npos; at = page.find(part, at + 1)) ++found;
    return found;
  };
  for (const std::string tag : {"svg", "figure", "table", "tr", "div", "style", "body"}) {
    INFO(tag);
    CHECK(count("</" + tag + ">") > 0);
    CHECK(count("<" + tag + ">") + count("<" + tag + " ") == count("</" + tag + ">"));
  }
}

TEST_CASE("a dot stands where its logarithms say") {
  // One power of ten and 0.08 to both sides are 500 units wide, from 70 on: 70 + 500 * 0.08 / 1.16.
  forecast::DatasetRows set{"set", {}};
  forecast::Row row;
  row.id = "row";
  row.measured_s = row.predicted_s = 1.0_s;
  set.rows.push_back(row);
  row.measured_s = row.predicted_s = 10.0_s;
  set.rows.push_back(row);
  const auto page = report::validate_page(forecast::score({set}));
  CHECK(contains(page, "cx=\"104.5\" cy=\"475.5\""));
  CHECK(contains(page, "cx=\"535.5\" cy=\"44.5\""));
}

TEST_CASE("a page of two thousand rows stays below a megabyte") {
  forecast::DatasetRows set{"vtrain_ground_truth_single", {}};
  forecast::Row row;
  row.id = "vtrain_single_gpt_1024_24_16_tp8_dp1_pp1_mb2";
  row.measured_s = 1.0_s;
  row.predicted_s = 1.1_s;
  row.measured_bytes = row.predicted_bytes = 1.0_GiB;
  set.rows.assign(2000, row);
  CHECK(report::validate_page(forecast::score({set})).size() < 1'000'000);
}

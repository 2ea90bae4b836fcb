// SPDX-License-Identifier: Apache-2.0
// Pages of documents that other programs write, and of schedules.
#include <nlohmann/json.hpp>
#include <random>

#include "report/page/page.hpp"
#include "report/page/transposed.hpp"
#include "strategies/pipeline.hpp"
#include "tests/catch.hpp"
#include "tests/report/columns_back.hpp"

namespace document_pages_spec {

using namespace columns;

namespace {

json back(const json& rows) {
  return rows_of(json::parse(report::transposed(report::Document::parse(rows.dump())).dump()));
}

json point(int nodes, int tensor, double time) {
  return {{"id", "a1"},          {"axes", {{"cluster.nodes", nodes}, {"plan.tensor", tensor}}},
          {"status", "ok"},      {"reason", nullptr},
          {"step_time_s", time}, {"plan", {{"tensor", tensor}, {"schedule", "1f1b"}}}};
}

}  // namespace

TEST_CASE("a list of objects is read back, objects inside and missing keys as null too") {
  CHECK(back(json::array()) == json::array());
  const json rows = json::parse(R"([{"a": 1, "b": {"x": "<"}}, {"a": 1, "c": [2]}])");
  CHECK(back(rows) == json::parse(R"([{"a": 1, "b": {"x": "<"}, "c": null},
                                      {"a": 1, "b": {"x": null}, "c": [2]}])"));
}

TEST_CASE("values that repeat are written once") {
  json rows = json::array();
  for (int i = 0; i < 100; ++i) rows.push_back({{"status", "does-not-fit"}, {"n", i}});
  CHECK(back(rows) == rows);
  const auto packed = report::transposed(report::Document::parse(rows.dump()));
  CHECK(packed["columns"]["status"]["distinct"].size() == 1);
  CHECK(packed["columns"]["n"].is_array());
}

TEST_CASE("the page of a sweep has all of its document") {
  const json document = {{"stepcast", "0.1.0"},
                         {"sweep", {{"name", "</script>"}, {"mode", "search"}}},
                         {"points", {point(16, 1, 2.5), point(32, 2, 1.25)}}};
  auto data = data_of(report::sweep_page(document.dump()));
  CHECK(data["kind"] == "sweep");
  data["sweep"]["points"] = rows_of(data["sweep"]["points"]);
  CHECK(data["sweep"] == document);
  CHECK_THROWS_WITH(report::sweep_page("[1]"), "expected a JSON object with a list 'points'");
  CHECK_THROWS_WITH(report::sweep_page("{"), "expected a JSON object with a list 'points'");
}

TEST_CASE("a page of ten thousand points is two megabytes or so") {
  std::mt19937 random(5);
  json points = json::array();
  for (int i = 0; i < 10'000; ++i) {
    points.push_back(point(8 << i % 8, 1 << i / 8 % 4, 1e-9 * static_cast<double>(random())));
    for (const char* figure : {"tokens_per_s", "tokens_per_s_per_gpu", "mfu", "hfu", "peak_bytes",
                               "bubble_fraction", "compute_s"})
      points.back()[figure] = 1e-3 * static_cast<double>(random());
    points.back()["id"] = std::to_string(random()) + std::to_string(random());
  }
  const json document = {{"sweep", json::object()}, {"points", points}};
  CHECK(report::sweep_page(document.dump()).size() < 2'500'000);
}

TEST_CASE("the page of a purchase carries its document whole") {
  const json document = {{"options", {{{"name", "h100"}, {"days", 12.5}}}}, {"pareto", {"h100"}}};
  const auto data = data_of(report::purchase_page(document.dump()));
  CHECK(data["kind"] == "purchase");
  CHECK(data["purchase"] == document);
  CHECK_THROWS_WITH(report::purchase_page("{}"), "expected a JSON object with a list 'options'");
}

// Two stages play two microbatches, F 1, B 2: of 9 units stage 0 is idle from 2 to 4 and 6 to 7.
TEST_CASE("the bubbles of a schedule's page meet its passes, in any unit") {
  using namespace strategies;
  const double ticks = GENERATE(1.0, 3.0, 1e6);
  const auto whole = [&](double time) { return static_cast<sim::Picoseconds>(time * ticks); };
  const Layout layout{.stages = 2};
  const auto run = run_pipeline(order_of({ScheduleKind::one_f_one_b, 2, 1, 2}), layout, 2,
                                {whole(1), whole(1), whole(1), 0});
  report::ScheduleReport schedule{.name = "1f1b", .waits = forecast::waits_of(run), .ticks = ticks};
  for (const auto& op : run.operations)
    schedule.operations.push_back(
        {op.stage, 0, op.slot.microbatch, op.slot.pass == Pass::forward ? "F" : "BW",
         static_cast<double>(op.start) / ticks, static_cast<double>(op.end) / ticks});
  const auto timeline = report::schedule_timeline(schedule);
  REQUIRE(timeline.idle.size() == 4);
  for (const auto& idle : timeline.idle) {
    std::int64_t sum = 0;
    for (const auto share : idle.by_cause) sum += share;
    CHECK(sum == idle.end_ps - idle.start_ps);
    if (idle.until != forecast::no_slice)
      CHECK(timeline.slices[idle.until].start_ps == idle.end_ps);
  }
  CHECK(timeline.idle[0].end_ps - timeline.idle[0].start_ps == 2'000'000'000'000);
  CHECK(timeline.critical_path.back().end_ps == 9'000'000'000'000);
  schedule.makespan = 9;
  const auto data = data_of(report::schedule_page(schedule));
  CHECK(table_of(data["timeline"]["idle"]["intervals"])[2][0] == 2'000'000'000'000);
  CHECK(data["remedies"]["drain"].get<std::string>().find("more microbatches") == 0);
}

}  // namespace document_pages_spec

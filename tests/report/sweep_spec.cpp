// SPDX-License-Identifier: Apache-2.0
// A sweep's rows as JSON and as a table, its progress, and its picture.
#include <nlohmann/json.hpp>

#include "report/sweep.hpp"
#include "report/sweep_plot.hpp"
#include "tests/catch.hpp"

namespace {

using nlohmann::json;

const report::SweepFacts facts{"1.0",
                               "a \"name\"",
                               "simulate",
                               {{"plan.tensor", {"1", "2"}}, {"plan.recompute", {"\"none\""}}}};

report::SweepRow row() {
  report::SweepRow row{"0f", {"2", "\"none\""}, "ok", "", {}, "{}"};
  row.figures.resize(search::figures().size());
  for (std::size_t i = 0; i < row.figures.size(); ++i)
    row.figures[i] = static_cast<double>(i) + 0.5;
  for (std::size_t i = 0; i < row.figures.size(); ++i)
    if (search::figures()[i].kind == search::Figure::Kind::truth) row.figures[i] = 1;
  return row;
}

report::SweepRow invalid() {
  return {"a1", {"1", "\"none\""}, "invalid", "no, it \"is\" none", {}, ""};
}

report::Plot plot() {
  return {"mfu",
          "cluster.nodes",
          "plan.tensor",
          {"1", "2", "4"},
          {{"1", {0.4, 0.3, 0.2}}, {"8", {{}, 0.1, 0.4}}}};
}

report::TextOptions ascii() {
  report::TextOptions options;
  options.width = 60;
  options.unicode = false;
  return options;
}

}  // namespace

TEST_CASE("rows make one JSON document, whatever their texts hold") {
  const auto document =
      json::parse(report::sweep_json_begin(facts) + report::sweep_json_row(facts, invalid(), true) +
                  report::sweep_json_row(facts, row(), false) + report::sweep_json_end());
  CHECK(document["stepcast"] == "1.0");
  CHECK(document["sweep"]["name"] == "a \"name\"");
  CHECK(document["sweep"]["axes"][0] == json({{"name", "plan.tensor"}, {"values", {1, 2}}}));
  REQUIRE(document["points"].size() == 2);
  CHECK(document["points"][0]["reason"] == "no, it \"is\" none");
  CHECK(document["points"][0]["mfu"].is_null());
  const auto& point = document["points"][1];
  CHECK(point["axes"] == json({{"plan.tensor", 2}, {"plan.recompute", "none"}}));
  CHECK(point["reason"].is_null());
  CHECK(point["step_time_s"] == 0.5);
  CHECK(point["fits"] == true);
  for (const auto& figure : search::figures()) CHECK(point.contains(std::string(figure.name)));
  CHECK_FALSE(point.contains("plan"));
}

TEST_CASE("a table quotes the cells that need it and leaves out what is not there") {
  const auto header = report::sweep_csv_header(facts);
  CHECK(
      header.starts_with("id,plan.tensor,plan.recompute,status,reason,step_time_s,"
                         "tokens_per_s_per_gpu,mfu,peak_bytes,fits,bubble_fraction,"));
  const auto text = report::sweep_csv_row(facts, invalid());
  CHECK(text.starts_with("a1,1,none,invalid,\"no, it \"\"is\"\" none\",,,"));
  CHECK(report::sweep_csv_row(facts, row()).starts_with("0f,2,none,ok,,0.5,1.5,2.5,3.5,true,5.5,"));
  for (const auto& line : {text, report::sweep_csv_row(facts, row())}) CHECK(line.back() == '\n');
}

TEST_CASE("a searched point has its plan") {
  auto searched = facts;
  searched.mode = "search";
  auto found = row();
  found.result = R"({"plan": {"tensor": 8}, "tokens": 1})";
  const auto text = report::sweep_json_row(searched, found, true);
  CHECK(json::parse(text)["plan"] == json({{"tensor", 8}}));
  CHECK(json::parse(report::sweep_json_row(searched, invalid(), true))["plan"].is_null());
  CHECK(report::sweep_csv_header(searched).ends_with(",other_s,plan\n"));
  CHECK(report::sweep_csv_row(searched, found).ends_with(",\"{\"\"tensor\"\":8}\"\n"));
  CHECK(report::sweep_csv_row(searched, invalid()).ends_with(",\n"));
}

TEST_CASE("progress says how many, how fast, how long, and what is best") {
  CHECK(report::sweep_progress({.done = 0, .all = 1}) == "0 of 1 point");
  CHECK(report::sweep_progress({.done = 1500, .all = 10'000, .spent = {5}, .fresh = 500}) ==
        "1,500 of 10,000 points, 100/s, 1 min 25 s left");
  CHECK(report::sweep_progress({.done = 1,
                                .all = 7201,
                                .spent = {1},
                                .fresh = 1,
                                .best = 1234.5,
                                .best_at = "plan.tensor 8"}) ==
        "1 of 7,201 points, 1/s, 2 h 0 min left, best 1,234 tokens/s per GPU (plan.tensor 8)");
}

TEST_CASE("a picture goes from mark to mark, from zero where values fall to half") {
  CHECK(report::sweep_plot(plot(), ascii()) == R"(
mfu
       0.4 + o..                                         .x
           |    ......                                 ..
           |          .....                          ..
           |               ......                  ..
           |                     ..o...          ..
    0.2667 +                           ..........
           |                                 ..........
           |                               ..          ...o
           |                             ..
           |                           ..
    0.1333 +                         ..
           |                       x.
           |
           |
           |
         0 +
           +------------------------------------------------
             1                     2                      4
            cluster.nodes
            plan.tensor: o 1  x 8
)");
}

TEST_CASE("a picture over powers of ten says so; one value, or none, is drawn too") {
  auto wide = plot();
  wide.lines = {{"1", {1, 10, 100}}};
  CHECK_THAT(report::sweep_plot(wide, ascii()), STEPCAST_HOLDS("mfu, by powers of ten\n"));
  for (const auto& values : std::vector<std::vector<std::optional<double>>>{
           {{}, {}, {}}, {{}, 3.0, {}}, {0.0, 0.0, 0.0}, {-1.0, 0.0, 1.0}, {5.0, 5.0, 5.0}}) {
    wide.lines = {{"1", values}};
    CHECK_FALSE(report::sweep_plot(wide, ascii()).empty());
  }
}

TEST_CASE("of more lines than there are marks some are drawn, the first and the last among them") {
  auto many = plot();
  many.lines.clear();
  for (int i = 0; i < 20; ++i)
    many.lines.push_back({"line" + std::to_string(i), {1.0 + i, 2.0, 3.0}});
  const auto text = report::sweep_plot(many, ascii());
  CHECK_THAT(text, STEPCAST_HOLDS("o line0"));
  CHECK_THAT(text, STEPCAST_HOLDS("& line19"));
  CHECK_THAT(text, STEPCAST_HOLDS("(12 between these are not shown)"));
}

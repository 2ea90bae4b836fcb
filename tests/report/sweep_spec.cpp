// SPDX-License-Identifier: Apache-2.0
// A sweep's rows as JSON and as a table, its progress, and its picture.
#include <nlohmann/json.hpp>
#include <sstream>

#include "report/sweep/sweep.hpp"
#include "report/sweep/sweep_plot.hpp"
#include "tests/catch.hpp"
#include "tests/report/golden.hpp"

namespace sweep_spec {

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

TEST_CASE("a table quotes the cells that need it and leaves out absent figures") {
  const auto header = report::sweep_csv_header(facts);
  CHECK(
      header.starts_with("id,plan.tensor,plan.recompute,status,reason,step_time_s,"
                         "tokens_per_s_per_gpu,mfu,peak_bytes,fits,bubble_fraction,"));
  const auto text = report::sweep_csv_row(facts, invalid());
  CHECK(text.starts_with("a1,1,none,invalid,\"no, it \"\"is\"\" none\",,,"));
  CHECK(report::sweep_csv_row(facts, row()).starts_with("0f,2,none,ok,,0.5,1.5,2.5,3.5,true,5.5,"));
  for (const auto& line : {text, report::sweep_csv_row(facts, row())}) CHECK(line.back() == '\n');
}

TEST_CASE("the fastest point of a sweep says that it may run out of memory") {
  std::size_t chance = 0;
  while (search::figures()[chance].name != "fit_chance") ++chance;
  report::SweepSummary summary{.name = "mine", .mode = "simulate", .all = 1};
  summary.counts = {{"ok", 1}};
  summary.axis_names = {"plan.tensor", "plan.recompute"};
  summary.fastest = summary.thriftiest = row();
  summary.fastest->figures[chance] = 0.45;
  CHECK_THAT(report::sweep_text(summary, ascii()),
             STEPCAST_HOLDS("it fits in memory with a chance of 45 % only"));
  summary.fastest->figures[chance] = 0.9;
  CHECK_THAT(report::sweep_text(summary, ascii()), !STEPCAST_HOLDS("fits in memory"));
}

TEST_CASE("a searched point has its plan and the gap that is proved for it") {
  auto searched = facts;
  searched.mode = "search";
  auto found = row();
  found.result = R"({"plan": {"tensor": 8}, "gap": 0.015, "tokens": 1})";
  const auto text = report::sweep_json_row(searched, found, true);
  CHECK(json::parse(text)["plan"] == json({{"tensor", 8}}));
  CHECK(json::parse(text)["gap"] == 0.015);
  CHECK(json::parse(report::sweep_json_row(searched, invalid(), true))["gap"].is_null());
  CHECK(json::parse(report::sweep_json_row(searched, invalid(), true))["plan"].is_null());
  CHECK(report::sweep_csv_header(searched).ends_with(",other_s,plan,gap\n"));
  CHECK(report::sweep_csv_row(searched, found).ends_with(",\"{\"\"tensor\"\":8}\",0.015\n"));
  CHECK(report::sweep_csv_row(searched, invalid()).ends_with(",,\n"));
}

TEST_CASE("JSON that this program does not write is named by the row that holds it") {
  auto asked = facts;
  asked.alerts = true;
  const std::string says =
      "the store's row of point 0f holds JSON that this program does not write; compute the sweep "
      "again in a new store";
  for (const std::string result : {"{\"alerts\": [1", "[]", "{\"alerts\": 7}"}) {
    auto foreign = row();
    foreign.result = result;
    CHECK_THROWS_WITH(report::sweep_csv_row(asked, foreign), says);
    if (result != "{\"alerts\": 7}")
      CHECK_THROWS_WITH(report::sweep_json_row(asked, foreign, true), says);
    const report::SweepSummary summary{"s", "simulate", 1, {}, foreign, {}, {"a", "b"}};
    if (result != "[]") CHECK_THROWS_WITH(report::sweep_text(summary, ascii()), says);
  }
  auto foreign = row();
  foreign.axes[1] = "\"none";
  CHECK_THROWS_WITH(report::sweep_csv_row(facts, foreign), says);
  const report::SweepSummary summary{"s", "simulate", 1, {}, foreign, {}, {"a", "b"}};
  CHECK_THROWS_WITH(report::sweep_summary_json(summary, "1.0"), says);
}

TEST_CASE("progress says how many, how fast, how long, and which point is best") {
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

TEST_CASE("relative figures are in percent of their line's first, wherever that line begins") {
  const auto relative = report::relative_plot(plot());
  CHECK(relative.lines[0].values == std::vector<std::optional<double>>{100.0, 75.0, 50.0});
  CHECK(relative.lines[1].values == std::vector<std::optional<double>>{{}, 100.0, 400.0});
  CHECK_THAT(report::sweep_plot(relative, ascii()),
             STEPCAST_HOLDS("mfu, in percent of the first of each line\n"));
  auto policies = plot();
  policies.lines = {{"8b", {40.0, 20.0, 10.0}, {2, 3, 4}}};
  policies.against = "step_time_s";
  CHECK(report::relative_plot(policies).lines[0].across == std::vector<double>{100, 150, 200});
}

TEST_CASE("nothing is relative to zero") {
  auto zero = plot();
  zero.lines[1].values = {{}, 0.0, 1.0};
  CHECK_THROWS_WITH(report::relative_plot(zero),
                    "mfu is zero at cluster.nodes 2 of plan.tensor 8, the first of its line; "
                    "nothing is relative to that");
}

TEST_CASE(
    "a figure against another has the names of its places, a band its two "
    "edges") {
  report::Plot policies{"peak_bytes", "plan.recompute", "", {"full", "none", "selective"}, {}};
  policies.lines = {{"", {10.0, 30.0, 25.0}, {6, 4, 4.5}}};
  policies.against = "step_time_s";
  policies.band = {12, 24};
  CHECK(report::sweep_plot(policies, ascii()) == R"(
peak_bytes against step_time_s
        30 + o none
           |
           |            o selective
           |------------------------------------------------
           |
        20 +
           |
           |
           |
           |------------------------------------------------
        10 +                                         full o
           |
           |
           |
           |
         0 +
           +------------------------------------------------
             4         4.5          5         5.5         6
            step_time_s
            - 12 to 24
)");
}

TEST_CASE("a picture as SVG: places, a band, bytes in GiB, texts escaped") {
  auto drawn = plot();
  drawn.figure = "peak_bytes";
  drawn.title = "<memory> & \"more\"\x01";
  drawn.places = {"8", "1024", "16384"};
  drawn.lines = {{"a<b", {0x1p30, 0x1p31, 0x1p32}}, {"1024", {{}, 0x3p30, {}}}};
  drawn.band = {0x1p30, 0x3p30};
  drawn.best_of_others = true;
  drawn.where = "plan.tensor < 8";
  golden::check("sweep.svg", report::sweep_svg(drawn));
  auto policies = plot();
  policies.along = "plan.recompute";
  policies.places = {"none", "selective", "full"};
  policies.lines = {{"8b", {40.0, 20.0, 0.5}, {2, 3, 200}}};
  policies.against = "step_time_s";
  golden::check("sweep_against.svg", report::sweep_svg(policies));
}

TEST_CASE("the scales of an SVG end at round numbers, whatever the values") {
  const auto ends = [](const std::vector<std::optional<double>>& values) {
    auto one = plot();
    one.lines = {{"1", values}};
    one.by = "";
    std::string found;
    std::istringstream lines(report::sweep_svg(one));
    for (std::string line; std::getline(lines, line);)
      if (const auto at = line.find("\"faint end\">"); at != line.npos)
        found += (found.empty() ? "" : " ") + line.substr(at + 12, line.find("</") - at - 12);
    return found;
  };
  CHECK(ends({0.41, 0.3, 0.2}) == "0 0.1 0.2 0.3 0.4 0.5");
  CHECK(ends({93.0, 97.0, 100.0}) == "93 94 95 96 97 98 99 100");
  CHECK(ends({3.0, 150.0, 170.0}) == "2 5 10 20 50 100 200");
  CHECK(ends({1.0, 1e5, 1e6}) == "1 10 100 1,000 10,000 100,000 1,000,000");
  CHECK(ends({5.0, 5.0, 5.0}) == "0 1 2 3 4 5");
  CHECK(ends({1e9, 1e9 + 1e-6, {}}) ==
        "0 200,000,000 400,000,000 600,000,000 800,000,000 1,000,000,000");
  CHECK(ends({0.0, {}, {}}) == "-1 -0.8 -0.6 -0.4 -0.2 0");
  CHECK(ends({{}, {}, {}}) == "0 0.2 0.4 0.6 0.8 1");
}

TEST_CASE("a band beyond the values has room") {
  auto banded = plot();
  banded.band = {0.7, 0.8};
  CHECK_THAT(report::sweep_plot(banded, ascii()), STEPCAST_HOLDS("\n       0.8 +---"));
  CHECK_THAT(report::sweep_svg(banded), STEPCAST_HOLDS(">0.8</text>"));
}

TEST_CASE("if there are more lines than marks some are drawn, the first and the last among them") {
  auto many = plot();
  many.lines.clear();
  for (int i = 0; i < 20; ++i)
    many.lines.push_back({"line" + std::to_string(i), {1.0 + i, 2.0, 3.0}});
  const auto text = report::sweep_plot(many, ascii());
  CHECK_THAT(text, STEPCAST_HOLDS("o line0"));
  CHECK_THAT(text, STEPCAST_HOLDS("& line19"));
  CHECK_THAT(text, STEPCAST_HOLDS("(12 between these are not shown)"));
}

}  // namespace sweep_spec

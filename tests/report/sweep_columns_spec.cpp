// SPDX-License-Identifier: Apache-2.0
// The table and the document of a sweep say the same of every point, and why none of them is fine.
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "report/sweep/sweep.hpp"
#include "tests/catch.hpp"

namespace sweep_columns_spec {

using nlohmann::json;
using Cells = std::vector<std::string>;

namespace {

// The cells of one line of a table by RFC 4180.
Cells cells_of(const std::string& line) {
  Cells cells{""};
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"')
      cells.back() += line[++i];
    else if (c == '"')
      quoted = !quoted;
    else if (!quoted && c == ',')
      cells.emplace_back();
    else if (quoted || c != '\n')
      cells.back() += c;
  }
  CHECK_FALSE(quoted);
  return cells;
}

class DrawnRows {
 public:
  explicit DrawnRows(unsigned seed) : random_(seed) {}
  bool coin() { return random_() % 2 == 0; }

  report::SweepFacts facts() {
    return {.version = "1",
            .name = "drawn",
            .mode = coin() ? "search" : "simulate",
            .axes = {{"plan.tensor", {"1", "2"}}, {"mo\"del, base", {"\"a\""}}},
            .alerts = coin(),
            .corrected = coin()};
  }

  report::SweepRow row() {
    report::SweepRow row{.id = "0f",
                         .axes = {coin() ? "2" : "null", coin() ? R"("a, \"b\"\n")" : "\"plain\""},
                         .status = "ok"};
    if (coin()) {
      row.status = "invalid";
      row.reason = coin() ? "\"no\", it said" : "plainly";
      return row;
    }
    for (const auto& figure : search::figures())
      row.figures.push_back(figure.kind == search::Figure::Kind::number
                                ? std::exp(std::uniform_real_distribution(-20.0, 20.0)(random_))
                                : static_cast<double>(random_() % 2));
    json result = json::object();
    if (coin()) result["alerts"] = "slow;\"full\"";
    if (coin()) result["correction"] = {{"factor", 1.0625}};
    if (coin()) result["plan"] = {{"tensor", 2}, {"recompute", "full"}};
    if (coin()) result["gap"] = 0.01;
    row.result = result.dump();
    return row;
  }

 private:
  std::mt19937 random_;
};

// The value of a point in the document as a cell of the table has it.
std::string as_cell(const json& value) {
  if (value.is_null()) return "";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace

TEST_CASE("every row of a sweep's table has a cell for each column, with what its document says") {
  DrawnRows drawn(51);
  for (int i = 0; i < 200; ++i) {
    const auto facts = drawn.facts();
    const auto row = drawn.row();
    const auto header = report::sweep_csv_header(facts), line = report::sweep_csv_row(facts, row);
    const auto columns = cells_of(header), cells = cells_of(line);
    const auto point = json::parse(report::sweep_json_row(facts, row, true));
    INFO(header << line << point.dump());
    REQUIRE(cells.size() == columns.size());
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const auto& name = columns[c];
      INFO(name << ": " << cells[c]);
      const bool axis = c == 1 || c == 2;
      const bool factor = name == "correction_factor";
      const auto& correction = point.contains("correction") ? point["correction"] : json();
      const auto value = axis     ? point["axes"].at(name)
                         : factor ? (correction.is_null() ? json() : correction["factor"])
                                  : point.at(name);
      if (value.is_number_float())
        CHECK(std::stod(cells[c]) == value.get<double>());
      else if (name == "plan")
        CHECK((value.is_null() ? cells[c].empty() : json::parse(cells[c]) == value));
      else if (axis)
        CHECK((value.is_null() ? cells[c] == "null" : cells[c] == as_cell(value)));
      else
        CHECK(cells[c] == as_cell(value));
    }
    // The document has no more than the table.
    CHECK(point.size() + (facts.axes.size() - 1) == columns.size());
  }
}

TEST_CASE(
    "reasons that differ in numbers alone are one, told by the first of them, the most first") {
  report::ReasonCounts counts;
  CHECK(counts.most_first().empty());
  counts.add("invalid", "24 does not divide 32 heads");
  counts.add("does-not-fit", "needs 90.5 GiB of 80 GiB");
  counts.add("does-not-fit", "needs 120 GiB of 80 GiB");  // a fraction is two numbers
  counts.add("invalid", "3 does not divide 8 heads");
  counts.add("invalid", "5 does not divide 8 heads");
  counts.add("no-plan", "5 does not divide 8 heads");  // of another status
  const auto most = counts.most_first();
  REQUIRE(most.size() == 4);
  CHECK(most[0].status == "invalid");
  CHECK(most[0].example == "24 does not divide 32 heads");
  CHECK(most[0].points == 3);
  for (std::size_t i = 1; i < most.size(); ++i) CHECK(most[i].points == 1);
}

TEST_CASE("where no point of a sweep is fine its reasons end with what would help") {
  using Words = std::vector<std::string>;
  using Reason = report::NothingOk::Reason;
  const auto words = [](report::NothingOk why) {
    return report::nothing_ok_words(why, {"cluster.nodes", "plan.tensor"});
  };
  report::NothingOk small{.reasons = {{"does-not-fit", "needs 90 GiB of 80 GiB", 1200}}};
  small.closest = report::SweepRow{.axes = {"4", "8"}, .reason = "needs 81 GiB of 80 GiB"};
  CHECK(
      words(small) ==
      Words{"1,200 does-not-fit, such as: needs 90 GiB of 80 GiB",
            "the closest is cluster.nodes 4, plan.tensor 8: needs 81 GiB of 80 GiB",
            "what would help: a plan that is left out divides nothing but the batch, keeps all "
            "states on every GPU (ZeRO 0) and recomputes nothing: write mode: search, which finds "
            "a plan for every point, or give base.plan, such as {tensor: 8, zero: 1, recompute: "
            "full}"});
  small.has_plan = true;
  CHECK(words(small).back() ==
        "what would help: write mode: search, which finds plans that fit; or vary plan.zero, "
        "plan.recompute, plan.tensor or cluster.nodes further");
  CHECK(words({.reasons = {{"no-plan", "", 3}}}) ==
        Words{"3 no-plan",
              "what would help: loosen search:, or vary cluster.nodes or training.global_batch "
              "further"});
  CHECK(words({.reasons = {{"invalid", "no such model", 3}}}).back() ==
        "what would help: all points have this mistake, so mend the base (--set base.KEY=VALUE, or "
        "its file) or the axis that brings it into all of them");
  const auto many = words({.reasons = std::vector<Reason>(6, {"invalid", "mistaken", 1})});
  CHECK(many.size() == 4 + 1 + 1);  // four are told
  CHECK(many[4] == "and 2 other reasons");
  CHECK(many[5] ==
        "what would help: mend the base where a mistake is in all points, and leave impossible "
        "combinations out with only_if");
}

}  // namespace sweep_columns_spec

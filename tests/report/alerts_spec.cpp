// SPDX-License-Identifier: Apache-2.0
// Alerts as every answer tells them.
#include <nlohmann/json.hpp>

#include "report/alerts.hpp"
#include "report/compare.hpp"
#include "report/json.hpp"
#include "report/page/page.hpp"
#include "report/search/search.hpp"
#include "report/sweep/sweep.hpp"
#include "report/text.hpp"
#include "tests/catch.hpp"
#include "tests/report/examples.hpp"
#include "tests/report/golden.hpp"
#include "tests/report/search_reports.hpp"

namespace alerts_spec {

using forecast::AlertFigure;
using forecast::AlertRule;
using forecast::AlertUnit;
using nlohmann::json;
using Raised = AlertRule::Raised;

namespace {

AlertRule rule(AlertFigure figure, Raised raised, double threshold, const char* condition) {
  return {figure, raised, forecast::facts_of(figure).unit, threshold, condition, {}, {}};
}

// A forecast of ten seconds, of which the mean GPU computes seven and waits three; 40 of 80 GiB are
// taken; the interval is 9 to 11.5 s.
forecast::Forecast judged() {
  auto forecast = examples::forecast();
  forecast.gpus = {.computing = 0.7, .longest_wait = {3.0}};
  return forecast;
}

forecast::Scenario operated() {
  auto scenario = examples::scenario();
  auto size = rule(AlertFigure::memory, Raised::above, 72.0 * (1 << 30), "> 72 GiB");
  size.unit = AlertUnit::bytes;
  auto failures =
      rule(AlertFigure::node_failure_rate, Raised::above, 1.0 / 86400 / 128, "> 1 / 128 days");
  failures.node_mtbf = units::Seconds{256 * 86400.0};
  scenario.alerts = {
      rule(AlertFigure::gpu_utilisation, Raised::below, 0.8, "< 80 %"),
      rule(AlertFigure::memory, Raised::above, 0.9, "> 90 %"),
      size,
      rule(AlertFigure::communication_overhead, Raised::above, 0.3, "> 30 %"),
      rule(AlertFigure::synchronisation, Raised::above, 5, "> 5 s"),
      rule(AlertFigure::throughput, Raised::below, 1500, "< 1500 tokens/s"),
      failures,
      rule(AlertFigure::node_failure_rate, Raised::above, 0.5 / 86400, "> 0.5 / day"),
      rule(AlertFigure::loss, Raised::above, 10, "> 10")};
  return scenario;
}

std::string text(const report::TextOptions& options) {
  return report::alerts_text(operated(), judged(), options);
}

}  // namespace

TEST_CASE("the alerts of the example are the golden ones, wide, narrow and compared") {
  auto slower = judged();
  slower.gpus.computing = 0.85;
  slower.time[forecast::StepPart::tensor_comm] = {3.0};
  golden::check("alerts.txt", text({}) + text({.width = 60, .unicode = false}) +
                                  report::compared_alerts_text(examples::scenario(), judged(),
                                                               operated(), slower, {}));
}

TEST_CASE("colour adds escape codes to raised alerts and nothing else") {
  auto coloured = text({.colour = true});
  CHECK(coloured != text({}));
  for (const std::string code : {"\x1b[1m", "\x1b[1;31m", "\x1b[0m"})
    for (std::size_t at = 0; (at = coloured.find(code)) != coloured.npos;)
      coloured.erase(at, code.size());
  CHECK(coloured == text({}));
}

TEST_CASE("the JSON of a judged forecast has an entry for each rule, in their order") {
  const auto document = json::parse(report::simulate_json(operated(), judged(), "1.2.3"));
  const auto& alerts = document["alerts"];
  REQUIRE(alerts.size() == operated().alerts.size());
  CHECK(alerts[0] == json{{"figure", "gpu_utilisation"},
                          {"condition", "< 80 %"},
                          {"threshold", 0.8},
                          {"value", 0.7},
                          {"unit", "share"},
                          {"state", "raised"},
                          {"low", nullptr},
                          {"high", nullptr},
                          {"certain", true},
                          {"words", "70.0 %"},
                          {"meaning", forecast::facts_of(AlertFigure::gpu_utilisation).meaning},
                          {"reason", nullptr}});
  CHECK(alerts[1]["value"] == 0.5);
  CHECK(alerts[1]["state"] == "quiet");
  CHECK(alerts[2]["value"] == 40LL << 30);
  CHECK(alerts[2]["unit"] == "bytes");
  CHECK(alerts[5]["certain"] == false);
  CHECK(alerts[5]["low"] == Approx(1600 / 1.15));
  CHECK(alerts[6]["value"] == Approx(2.0 / 256 / 86400));  // two nodes
  CHECK(alerts[7]["state"] == "not_simulated");
  CHECK(alerts[8]["value"].is_null());
  CHECK(alerts[8]["reason"] == "only the running job knows it");
  CHECK(document["scenario"]["alerts"]["memory"] == json{"> 90 %", "> 72 GiB"});
  CHECK(document["scenario"]["alerts"]["node_failure_rate"][0] ==
        json{{"when", "> 1 / 128 days"}, {"node_mtbf", 256.0 * 86400}});
}

TEST_CASE("without rules no answer speaks of alerts") {
  const auto scenario = examples::scenario();
  CHECK(report::alerts_text(scenario, judged(), {}).empty());
  CHECK_FALSE(golden::contains(report::simulate_json(scenario, judged(), "1.2.3"), "alerts"));
  CHECK_FALSE(golden::contains(report::simulate_text(scenario, judged()), "lert"));
  CHECK_FALSE(golden::contains(report::point_json(scenario, judged(), nullptr), "alerts"));
  CHECK(report::compared_alerts_text(operated(), judged(), scenario, judged(), {}).empty());
}

TEST_CASE("rules are no change between two scenarios, and no effect is tried of them") {
  CHECK(report::changes_between(examples::scenario(), operated()).empty());
}

TEST_CASE("a search judges each of its plans") {
  search::Outcome outcome{{.scenario = operated()}, {}};
  auto fast = judged(), slow = judged();
  slow.gpus.computing = 0.9;
  outcome.answer.plans = {{.plan = operated().plan, .forecast = fast},
                          {.plan = operated().plan, .forecast = slow}};
  const auto document = json::parse(tests::search_json(outcome));
  CHECK(document["best"]["alerts"][0]["state"] == "raised");
  CHECK(document["plans"][1]["alerts"][0]["state"] == "quiet");
  const search::Why why{.path = {{forecast::StepPart::compute, {10.0}}},
                        .exposed = {{forecast::StepPart::compute, {10.0}}},
                        .helps = {{search::Resource::flops, units::Seconds{1.0}, 0.1}}};
  CHECK_THAT(report::search_text(outcome, why), STEPCAST_HOLDS("Alerts: 1 of 9 raised"));
}

TEST_CASE("a point of a sweep names the alerts that are raised, in its cell and for filters") {
  auto scenario = operated();
  scenario.alerts.push_back(rule(AlertFigure::mfu, Raised::below, 0.3, "< 30 %"));
  const auto result = report::point_json(scenario, judged(), nullptr);
  CHECK(json::parse(result)["alerts"] == "gpu_utilisation;mfu");
  scenario.alerts = {scenario.alerts[1]};
  CHECK(json::parse(report::point_json(scenario, judged(), nullptr))["alerts"] == "");

  report::SweepFacts facts{"1.0", "s", "simulate", {{"plan.tensor", {"1"}}}, true};
  report::SweepRow row{"0f", {"1"}, "ok", "", {}, result};
  row.figures.resize(search::figures().size());
  CHECK(report::sweep_csv_header(facts).ends_with(",other_s,alerts\n"));
  CHECK(report::sweep_csv_row(facts, row).ends_with(",gpu_utilisation;mfu\n"));
  CHECK(json::parse(report::sweep_json_row(facts, row, true))["alerts"] == "gpu_utilisation;mfu");
  const report::SweepSummary summary{"s", "simulate", 1, {{"ok", 1}}, row, row, {"plan.tensor"}};
  CHECK_THAT(report::sweep_text(summary, {}),
             STEPCAST_HOLDS("alerts raised: gpu_utilisation, mfu\n"));
  const report::SweepRow invalid{"a1", {"1"}, "invalid", "none", {}, ""};
  CHECK(report::sweep_csv_row(facts, invalid).ends_with(",,\n"));
  CHECK(json::parse(report::sweep_json_row(facts, invalid, true))["alerts"].is_null());
  facts.mode = "search";
  CHECK(report::sweep_csv_header(facts).ends_with(",alerts,plan,gap\n"));
}

TEST_CASE("a condition cannot send commands to the terminal") {
  auto scenario = operated();
  scenario.alerts.front().condition = "< 80\x1b[2J %";
  CHECK_FALSE(golden::contains(report::alerts_text(scenario, judged(), {}), "\x1b"));
}

}  // namespace alerts_spec

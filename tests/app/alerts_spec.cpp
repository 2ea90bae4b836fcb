// SPDX-License-Identifier: Apache-2.0
// Rules of operators as users meet them, from the command line.
#include <nlohmann/json.hpp>

#include "report/document.hpp"
#include "scenarios/scenario_file.hpp"
#include "tests/app/stepcast.hpp"
#include "tests/catch.hpp"

namespace {

using nlohmann::json;
using tests::stepcast;

const std::string example = "scenarios/examples/llama3-70b-128-h100-alerts.yaml";

// The same alone, and what it is forecast to.
json simulated(std::vector<std::string> more = {}) {
  std::vector<std::string> arguments{"simulate", example, "--json", "--quiet"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const auto run = stepcast(arguments);
  CHECK(run.status == app::success);
  return json::parse(run.out);
}

json alert(const json& document, const std::string& figure) {
  for (const auto& one : document["alerts"])
    if (one["figure"] == figure) return one;
  return {};
}

}  // namespace

TEST_CASE("alerts are judged by the figures that the same document holds") {
  const auto document = simulated();
  const auto& step = document["step"];
  const auto& memory = document["memory"];
  CHECK(alert(document, "throughput_per_gpu")["value"] == step["tokens_per_s_per_gpu"]);
  CHECK(alert(document, "mfu")["value"] == step["mfu"]);
  CHECK(alert(document, "memory")["value"].get<double>() ==
        Approx(memory["peak_bytes"].get<double>() / memory["capacity_bytes"].get<double>()));
  CHECK(alert(document, "bubble")["value"] == document["pipeline"]["bubble_fraction"]);
  double communication = 0;
  for (const auto* part : {"tensor", "context", "expert", "pipeline", "data"})
    communication += document["time"][std::string(part) + "_comm_s"].get<double>();
  CHECK(alert(document, "communication_overhead")["value"].get<double>() ==
        Approx(communication / step["time_s"].get<double>()));
  CHECK(alert(document, "loss")["state"] == "not_simulated");
}

TEST_CASE("rules change no figure of a forecast") {
  auto with = simulated(), without = simulated({"--set", "alerts=null"});
  CHECK_FALSE(without.contains("alerts"));
  with.erase("alerts");
  with["scenario"].erase("alerts");
  for (auto* one : {&with, &without}) (*one)["simulation"].erase("wall_s");
  CHECK(with == without);
}

TEST_CASE("a resolved scenario has the rules of the scenario that it was resolved from") {
  const auto scenario = scenarios::load_scenario(example);
  REQUIRE(scenario.alerts.size() >= 8);
  const auto again = scenarios::read_scenario(report::scenario_document(scenario).dump(), "r.json");
  CHECK(again.alerts == scenario.alerts);
}

TEST_CASE("a comparison judges both scenarios by the rules of the first") {
  const auto run = stepcast(
      {"simulate", example, "--set", "alerts={mfu: below 99 %}", "--against", example, "--quiet"});
  CHECK(run.status == app::success);
  CHECK_THAT(run.out, STEPCAST_HOLDS("Alerts: 1 of 1 raised (against, now)"));
  CHECK_THAT(run.out, STEPCAST_HOLDS("What changed\n  nothing\n"));
}

TEST_CASE("mistakes in rules end the program with each at its place") {
  const auto run = stepcast(
      {"simulate", example, "--set", "alerts.mfu=40 %", "--set", "alerts.memry=above 90 %"});
  CHECK(run.status == app::wrong_input);
  CHECK(run.out.empty());
  CHECK_THAT(run.err, STEPCAST_HOLDS("--set 1: alerts.mfu: '40 %' compares with nothing"));
  CHECK_THAT(run.err, STEPCAST_HOLDS("--set 2: alerts.memry: unknown key"));
  CHECK_THAT(run.err, STEPCAST_HOLDS("did you mean 'memory'?"));
}

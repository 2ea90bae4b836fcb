// SPDX-License-Identifier: Apache-2.0
// Rules of operators as users meet them, from the command line.
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <system_error>
#include <utility>

#include "report/document.hpp"
#include "scenarios/scenario_file.hpp"
#include "tests/app/stepcast.hpp"
#include "tests/catch.hpp"

namespace alerts_spec {

namespace fs = std::filesystem;

namespace {

using nlohmann::json;
using tests::stepcast;

const std::string example = "scenarios/examples/llama3-70b-128-h100-alerts.yaml";

// The forecast of the example with further arguments.
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

// A small sweep in a folder of its own, removed at the end of the test.
class Sweep {
 public:
  Sweep() : folder_(fs::temp_directory_path() / name()) { fs::create_directories(folder_); }
  ~Sweep() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  // The points of the sweep; `rest` ends the base and varies something.
  json run(const std::string& rest) const {
    std::ofstream(folder_ / "s.yaml") << "base:\n  model: llama3-8b\n"
                                         "  cluster: {node: dgx-h100, nodes: 1}\n"
                                         "  training: {sequence_length: 1024, global_batch: 64}\n" +
                                             rest;
    const auto run = stepcast({"sweep", file("s.yaml"), "--store", file("s.sqlite"), "--csv",
                               file("s.csv"), "--json", "--quiet"});
    CHECK(run.status == app::success);
    return json::parse(run.out)["points"];
  }
  // The first two lines of the table.
  std::pair<std::string, std::string> first_lines() const {
    std::ifstream csv(folder_ / "s.csv");
    std::string header, row;
    std::getline(csv, header);
    std::getline(csv, row);
    return {header, row};
  }

 private:
  static std::string name() { return "alerts_" + std::to_string(std::random_device()()); }
  std::string file(const std::string& one) const { return (folder_ / one).string(); }
  fs::path folder_;
};

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

TEST_CASE("a sweep says of every point which alerts it raises, and answers anew for other rules") {
  const Sweep sweep;
  const std::string tensor = "vary: {plan.tensor: [2, 3, 8]}\n";
  const auto points =
      sweep.run("  alerts: {memory: above 1 %, mfu: below 100 %, loss: above 10}\n" + tensor);
  CHECK(points[0]["alerts"] == "memory;mfu");
  CHECK(points[1]["status"] == "invalid");
  CHECK(points[1]["alerts"].is_null());
  const auto [header, row] = sweep.first_lines();
  CHECK(header.ends_with(",alerts"));
  CHECK(row.ends_with(",memory;mfu"));
  CHECK(sweep.run("  alerts: {memory: above 99 %}\n" + tensor)[0]["alerts"] == "");
  CHECK_FALSE(sweep.run(tensor)[0].contains("alerts"));
}

TEST_CASE("a threshold can be an axis of a sweep") {
  const auto points = Sweep().run("vary: {alerts.memory: [above 1 %, above 900 %]}\n");
  CHECK(points[0]["alerts"] == "memory");
  CHECK(points[1]["alerts"] == "");
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

}  // namespace alerts_spec

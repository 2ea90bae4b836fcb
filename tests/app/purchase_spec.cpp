// SPDX-License-Identifier: Apache-2.0
// A purchase as a user meets it: its answer, its exit statuses, and the same bytes with any number
// of threads.
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/app/stepcast.hpp"
#include "tests/catch.hpp"

namespace purchase_spec {

namespace {

using nlohmann::json;
using tests::stepcast;

// A purchase with few plans, so that searches are short.
const std::string small = [] {
  const auto file = std::filesystem::temp_directory_path() / "stepcast-purchase-spec.yaml";
  std::ofstream(file) << R"(
workload: {model: llama3-8b, training: {sequence_length: 8192, global_batch: 64}, tokens: 1e11}
constraints: {deadline: 60 days}
economics: {electricity: 0.08 USD/kWh, pue: 1.25}
search: {tensor: 2, pipeline: 1, context: 1, micro_batch: 1, zero: [0, 1]}
options:
  - {name: bought, cluster: {node: dgx-h100, nodes: [1, 2]}, price: {node: 300e3 USD}}
  - {name: rented, cluster: {node: dgx-h100, nodes: 2}, rent: {per_gpu_hour: 2.5 USD}}
)";
  return file.string();
}();

tests::Outcome bought(std::vector<std::string> more = {}) {
  std::vector<std::string> arguments{"purchase", small, "--quiet"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return stepcast(arguments);
}

}  // namespace

TEST_CASE("a purchase is decided: days are tokens over throughput, money is arithmetic") {
  const auto run = bought({"--json"});
  CHECK(run.status == app::success);
  CHECK(run.err.empty());
  const auto document = json::parse(run.out);
  REQUIRE(document["options"].size() == 3);
  for (const auto& option : document["options"]) {
    CAPTURE(option["name"]);
    const double days = 1e11 / (64 * 8192 / option["step_time_s"].get<double>()) / 86400;
    CHECK(option["days"] == Approx(days));
    const double nodes = option["nodes"], energy = option["energy_wh"];
    // The first two are bought, of one node and of two.
    const double watts = document["options"][nodes == 1 ? 0 : 1]["power_w"];
    CHECK(energy == Approx(watts * 24 * days));
    if (option["rent_cost"] > 0) {
      CHECK(option["power_w"] == 0);
      CHECK(option["total_cost"] == Approx(nodes * 8 * 2.5 * 24 * days));
    } else {
      CHECK(option["capital"] == Approx(nodes * 300e3 * days / 1460));
      CHECK(option["energy_cost"] == Approx(energy / 1000 * 0.08));
    }
  }
  CHECK(document["options"][0]["power_w"] == 12'750);
  CHECK(document["recommended"]["name"] == "bought/1");
}

TEST_CASE("the plan of an option simulates to its step") {
  const auto option = json::parse(bought({"--json"}).out)["options"][1];
  std::vector<std::string> arguments{"simulate", small, "--json", "--quiet"};
  const auto file = std::filesystem::temp_directory_path() / "stepcast-purchase-step.yaml";
  std::ofstream(file) << "model: llama3-8b\ncluster: {node: dgx-h100, nodes: 2}\n"
                         "training: {sequence_length: 8192, global_batch: 64}\nplan: "
                      << option["plan"].dump() << '\n';
  arguments[1] = file.string();
  const auto run = stepcast(arguments);
  INFO(run.err);
  CHECK(json::parse(run.out)["step"]["time_s"] == option["step_time_s"]);
}

TEST_CASE("a purchase does not depend on threads") {
  auto one = json::parse(bought({"--json", "--threads", "1"}).out);
  auto four = json::parse(bought({"--json", "--threads", "4"}).out);
  one.erase("wall_s");
  four.erase("wall_s");
  CHECK(one == four);
}

TEST_CASE("where nothing is feasible the status is 1, and every option says why") {
  const auto run = bought({"--json", "--set", "constraints.deadline=1 hour"});
  CHECK(run.status == app::no_answer);
  CHECK_THAT(run.err, STEPCAST_HOLDS("stepcast: no option is feasible: bought/1 takes 373 times "
                                     "as long as the deadline allows"));
  const auto document = json::parse(run.out);
  CHECK(document["recommended"] == nullptr);
  for (const auto& option : document["options"]) CHECK(option["binding"] == "deadline");
  const auto text = bought({"--set", "constraints.deadline=1 hour"});
  CHECK(text.status == app::no_answer);
  CHECK_THAT(text.out, STEPCAST_HOLDS("rented: takes 188 times as long as the deadline"));
}

TEST_CASE("mistakes in a purchase are found before anything is searched") {
  const auto run = bought({"--set", "options.0.pric=3"});
  CHECK(run.status == app::wrong_input);
  CHECK(run.out.empty());
  CHECK_THAT(run.err, STEPCAST_HOLDS("--set 1: options.0.pric: unknown key"));
  CHECK_THAT(run.err, STEPCAST_HOLDS("did you mean 'price'?"));
}

}  // namespace purchase_spec

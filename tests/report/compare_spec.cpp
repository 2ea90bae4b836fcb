// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <nlohmann/json.hpp>

#include "report/compare.hpp"
#include "tests/catch.hpp"
#include "tests/report/examples.hpp"
#include "tests/report/golden.hpp"

namespace compare_spec {

using nlohmann::json;
using report::Change;

namespace {

// The scenario with half the microbatches per replica, of twice the size.
forecast::Scenario other() {
  auto scenario = examples::scenario();
  scenario.name = "the same in one microbatch";
  scenario.plan.micro_batch = 2;
  scenario.training.global_batch = 32;
  return scenario;
}

forecast::Forecast slower() {
  auto forecast = examples::forecast();
  forecast.step.time = {12.0};
  forecast.time[forecast::StepPart::compute] = {7.5};
  forecast.memory.stages[0].activations = {8.0 * (1 << 30)};
  forecast.memory.peak = {44.0 * (1 << 30)};
  forecast.critical_path = {{forecast::StepPart::compute, {9.0}},
                            {forecast::StepPart::tensor_comm, {3.0}}};
  forecast.pipeline.stages[0].bubble_by_cause = {3'000'000'000'000, 0};
  return forecast;
}

const std::vector<report::Effect> effects{
    {.of = "training.global_batch",
     .step_time = units::Seconds{9.0},
     .peak = units::Bytes{40.0 * (1 << 30)},
     .why_not = {}},
    {.of = "plan.micro_batch", .step_time = {}, .peak = {}, .why_not = "it does not divide"}};

}  // namespace

TEST_CASE("changes are the values that differ, by path") {
  const auto changes = report::changes_between(examples::scenario(), other());
  REQUIRE(changes.size() == 2);
  CHECK(changes[0].path == "training.global_batch");
  CHECK(changes[0].from == "16");
  CHECK(changes[0].to == "32");
  CHECK(changes[1].path == "plan.micro_batch");
  CHECK(report::changes_between(other(), other()).empty());
}

TEST_CASE("the division of experts is no change of a dense model") {
  const auto from = examples::scenario();
  REQUIRE(!from.model.moe);
  auto to = from;
  to.plan.tensor *= 2;
  CHECK(report::changes_between(from, to).size() == 1);
  const auto changed = json::parse(report::with_part(from, to, "plan.tensor"));
  CHECK(changed["plan"]["tensor"] == to.plan.tensor);
  CHECK(!changed["plan"].contains("expert_tensor"));
}

TEST_CASE(
    "a key that one of two scenarios leaves out is left out, whereas none is a word of keys") {
  const auto forecast = examples::simulated();
  auto one = examples::scenario();
  auto two = one;
  two.software.interference = 0.25;
  report::TextOptions ascii;
  ascii.unicode = false;
  CHECK_THAT(report::compare_text({one, forecast}, {two, forecast}, {}, ascii),
             STEPCAST_HOLDS("left out -> 0.25"));
  CHECK_THAT(report::compare_text({two, forecast}, {one, forecast}, {}, ascii),
             STEPCAST_HOLDS("0.25 -> left out"));
}

TEST_CASE("a changed quantity has its unit in the text, with all digits where few would not do") {
  const auto from = examples::scenario();
  auto to = from;
  to.cluster.fabric.latency = 2.0 * from.cluster.fabric.latency;
  to.cluster.node.device.memory_bandwidth = {3.35e12};
  const auto text = [&] {
    const auto forecast = examples::forecast();
    return report::compare_text({from, forecast}, {to, forecast}, {}, {});
  };
  CHECK_THAT(text(), STEPCAST_HOLDS("3.35 TB/s") && STEPCAST_HOLDS(" us"));
  to.cluster.fabric.latency = 1.0001 * from.cluster.fabric.latency;
  CHECK_THAT(text(), STEPCAST_HOLDS("0001 us"));
}

TEST_CASE("a comparison says how many parameters the models have") {
  const auto forecast = examples::forecast();
  const auto one = examples::scenario();
  auto two = one;
  two.model.layers *= 2;
  const auto same = report::compare_text({one, forecast}, {one, forecast}, {}, {});
  CHECK_THAT(same, STEPCAST_HOLDS(" parameters)\n"));
  CHECK_THAT(report::compare_text({one, forecast}, {two, forecast}, {}, {}),
             STEPCAST_HOLDS(" parameters) against "));
}

TEST_CASE("a changed quantity has its unit beside it in JSON, and a count has none") {
  const auto from = examples::scenario();
  auto to = from;
  to.software.bucket = {1e6};  // changes the plan's as well, which follows it
  to.cluster.fabric.latency = {2e-6};
  to.plan.micro_batch = 2;
  const auto changes = json::parse(report::compared_json(from, to, {}))["changes"];
  std::map<std::string, json> units;
  for (const auto& change : changes) units[change["path"]] = change.value("unit", json());
  CHECK(units == std::map<std::string, json>{{"cluster.fabric.latency", "s"},
                                             {"plan.bucket", "B"},
                                             {"plan.micro_batch", nullptr},
                                             {"software.bucket", "B"}});
}

TEST_CASE("parts are keys of plan and training, wholes the rest, and keys that follow are none") {
  CHECK(report::parts_of({{"model.layers", "1", "2"},
                          {"model.hidden", "1", "2"},
                          {"cluster.node.device.sms", "1", "2"},
                          {"cluster.gpus", "1", "2"},
                          {"plan.data", "1", "2"},
                          {"plan.overlap.data", "1", "2"},
                          {"plan.overlap.tensor", "1", "2"},
                          {"software.compile", "1", "2"}}) ==
        std::vector<std::string>{"model", "cluster.node", "cluster.gpus", "plan.overlap",
                                 "software"});
}

TEST_CASE("a scenario with one part of another has that part and nothing else of it") {
  const auto text = report::with_part(examples::scenario(), other(), "plan.micro_batch");
  const auto document = json::parse(text);
  CHECK(document["plan"]["micro_batch"] == 2);
  CHECK(document["training"]["global_batch"] == 16);
  CHECK_FALSE(document["plan"].contains("data"));
}

TEST_CASE("two forecasts side by side read as changed keys and changed figures") {
  const auto a = examples::scenario(), b = other();
  const auto before = examples::forecast(), after = slower();
  golden::check("compare.txt", report::compare_text({a, before}, {b, after}, effects,
                                                    {.width = 90, .unicode = false}));
}

TEST_CASE("the JSON of a comparison is that of the one scenario with the other inside") {
  const auto a = examples::scenario(), b = other();
  const auto before = examples::forecast(), after = slower();
  const auto document =
      json::parse(report::compare_json({a, before}, {b, after}, effects, "1.2.3"));
  CHECK(document["step"]["time_s"] == 12.0);
  const auto& against = document["against"];
  CHECK(against["step"]["time_s"] == 10.0);
  CHECK(against["changes"][0] == json{{"path", "training.global_batch"}, {"from", 16}, {"to", 32}});
  CHECK(against["effects"][0]["step_time_s"] == 9.0);
  CHECK(against["effects"][1]["step_time_s"].is_null());
  CHECK(against["effects"][1]["reason"] == "it does not divide");
}

}  // namespace compare_spec

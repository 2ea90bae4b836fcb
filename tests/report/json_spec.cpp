// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "report/document.hpp"
#include "report/json.hpp"
#include "tests/catch.hpp"
#include "tests/report/examples.hpp"
#include "tests/report/golden.hpp"

namespace json_spec {

using Json = nlohmann::ordered_json;

namespace {

Json parsed(const forecast::Scenario& scenario, const forecast::Forecast& forecast) {
  return Json::parse(report::simulate_json(scenario, forecast, "1.2.3"));
}

std::vector<std::string> keys(const Json& object) {
  std::vector<std::string> names;
  for (const auto& item : object.items()) names.push_back(item.key());
  return names;
}

}  // namespace

TEST_CASE("the JSON report of the example is the golden one") {
  golden::check("simulate.json",
                report::simulate_json(examples::scenario(), examples::simulated(), "1.2.3"));
}

TEST_CASE("the JSON report has the keys that scripts rely on, in their order") {
  using Names = std::vector<std::string>;
  const auto report = parsed(examples::scenario(), examples::simulated());
  CHECK(keys(report) == Names{"stepcast", "scenario", "model", "step", "time", "pipeline", "layer",
                              "memory", "critical_path", "evidence", "network", "validated",
                              "simulation"});
  CHECK(keys(report["step"]) == Names{"time_s", "time_low_s", "time_high_s", "tokens",
                                      "tokens_per_s", "tokens_per_s_per_gpu", "useful_tokens_per_s",
                                      "dropped", "model_flops", "tflops_per_gpu", "mfu", "hfu",
                                      "microbatches"});
  CHECK(keys(report["pipeline"]["stages"][0]) ==
        Names{"stage", "layers", "busy_s", "bubble_s", "peak_in_flight", "forward_s",
              "backward_input_s", "backward_weight_s", "recompute_s", "bubble_by_cause"});
  CHECK(keys(report["pipeline"]["stages"][0]["bubble_by_cause"]) ==
        Names{"warm_up_s", "drain_s", "imbalance_s", "straggler_s", "communication_s", "host_s"});
  CHECK(keys(report["memory"]["stages"][0]) ==
        Names{"weights", "gradients", "optimizer", "activations", "temporary", "communication",
              "framework", "peak", "peak_allocated", "peak_reserved"});
}

TEST_CASE("the parts of the time in the JSON report sum to the step time") {
  const auto report = parsed(examples::scenario(), examples::forecast());
  double sum = 0;
  for (const auto& part : report["time"]) sum += part.get<double>();
  CHECK(report["time"].size() == 11);
  CHECK(sum == report["step"]["time_s"].get<double>());
}

TEST_CASE("the evidence of the JSON report sums to the step, and so does that of its kinds") {
  const auto evidence = parsed(examples::scenario(), examples::simulated())["evidence"];
  CHECK(keys(evidence) == std::vector<std::string>{"measured_s", "interpolated_s", "scaled_s",
                                                   "physics_s", "kinds", "measurements"});
  double kinds = 0, all = 0;
  for (const auto* key : {"measured_s", "interpolated_s", "scaled_s", "physics_s"}) {
    all += evidence[key].get<double>();
    for (const auto& kind : evidence["kinds"]) kinds += kind[key].get<double>();
  }
  CHECK(all == 10);
  CHECK(kinds == 10);
  CHECK(evidence["measurements"][0]["command"] ==
        "tools/measure_kernels.py --product weight_gradient,1,4096,1024,1000");
  CHECK(evidence["measurements"][1]["command"] ==
        "mpirun -np 16 -N 8 alltoall_perf -b 1048576 -e 1048576");
}

TEST_CASE("a forecast that nobody asked for its basis has no evidence") {
  CHECK(!parsed(examples::scenario(), examples::forecast()).contains("evidence"));
}

TEST_CASE("numbers in JSON read back to the same value") {
  auto forecast = examples::forecast();
  forecast.step.time = units::Seconds{0.1 + 0.2};
  forecast.step.model_flops = units::Flops{4.5e18 / 7};
  const auto report = parsed(examples::scenario(), forecast);
  CHECK(report["step"]["time_s"].get<double>() == 0.1 + 0.2);
  CHECK(report["step"]["model_flops"].get<double>() == 4.5e18 / 7);
}

TEST_CASE("names with quotes, control characters and broken UTF-8 stay valid JSON") {
  auto scenario = examples::scenario();
  scenario.name = "a \"quoted\"\nname\x01 \xff\xc3 π";
  const auto report = parsed(scenario, examples::forecast());
  CHECK(report["scenario"]["name"] == "a \"quoted\"\nname\x01 \xef\xbf\xbd\xef\xbf\xbd π");
}

TEST_CASE("a number that is not finite is refused by name, not printed") {
  auto forecast = examples::forecast();
  forecast.step.mfu = std::numeric_limits<double>::infinity();
  CHECK_THROWS_WITH(report::simulate_json(examples::scenario(), forecast, "1"),
                    "mfu is not finite");
  forecast.step.mfu = std::nan("");
  CHECK_THROWS_AS(report::simulate_json(examples::scenario(), forecast, "1"), std::domain_error);
}

TEST_CASE("values that a plan leaves to the software are written out") {
  auto scenario = examples::scenario();
  scenario.software.overlap_tensor = true;
  scenario.plan.overlap.data = false;
  const auto plan = Json::parse(report::scenario_document(scenario).dump(2))["plan"];
  CHECK(plan["overlap"]["tensor"] == true);
  CHECK(plan["overlap"]["data"] == false);
  CHECK(plan["bucket"] == 160'000'000);
}

TEST_CASE("a parameterised recomputation is the mapping that plans take") {
  auto scenario = examples::scenario();
  scenario.plan.recompute = {strategies::Recompute::Kind::full_layers, 3};
  const auto plan = Json::parse(report::scenario_document(scenario).dump(2))["plan"];
  CHECK(plan["recompute"].dump() == R"({"full_layers":3})");
  const auto rows = [&](std::vector<std::int64_t> every) {
    scenario.plan.recompute = {strategies::Recompute::Kind::full, 0, {}, std::move(every)};
    return Json::parse(report::scenario_document(scenario).dump(2))["plan"]["recompute"].dump();
  };
  CHECK(rows({}) == R"("full")");
  CHECK(rows({4}) == R"({"checkpoint_every":4})");
  CHECK(rows({8, 2}) == R"({"checkpoint_every":[8,2]})");
}

}  // namespace json_spec

// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "report/runs/explanation.hpp"
#include "tests/catch.hpp"
#include "tests/report/golden.hpp"

namespace explanation_spec {

using forecast::Cause;
using forecast::KernelClass;
using forecast::StepPart;
using nlohmann::json;

namespace {

// The explanation of a step of 14 s that was forecast to take 10 s.
report::Explanation explanation() {
  report::Explanation of{.scenario = "run.yaml",
                         .measured = {14},
                         .forecast = {10},
                         .low = {9},
                         .high = {12},
                         .told = units::Seconds{14.2},
                         .deviations = 3.2};
  forecast::Diagnosis found{.step = "ProfilerStep#3",
                            .measured = {14},
                            .forecast = {10},
                            .ranks = {0, 1, 2, 3, 5, 8},
                            .gpus = 16};
  found.suspects = {{.cause = Cause::straggler,
                     .seconds = {2},
                     .factor = 1.25,
                     .ranks = {5},
                     .set = "cluster.stragglers=[{gpus: [5], slowdown: 1.25}]"},
                    {.cause = Cause::slow_link,
                     .seconds = {1},
                     .factor = 2,
                     .seen = {2},
                     .expected = {1},
                     .part = StepPart::tensor_comm,
                     .ranks = {0, 1},
                     .set = "cluster.node.nvlink.bandwidth=225 GB/s"},
                    {.cause = Cause::late_rank, .seconds = {0.5}, .ranks = {8}}};
  found.unexplained = {0.5};
  of.diagnosis = found;
  of.traces = {"traces/rank0.json"};
  of.tried = {units::Seconds{12.1}, std::nullopt, std::nullopt};
  return of;
}

}  // namespace

TEST_CASE("suspects are listed with seconds, evidence and a test") {
  golden::check("explain.txt",
                report::explanation_text(explanation(), {.width = 90, .unicode = false}));
}

// One suspect of each cause, each of which costs a second: it took 4 s instead of 2, twice as long.
std::vector<forecast::Suspect> one_of_each_cause() {
  std::vector<forecast::Suspect> all;
  for (int cause = 0; cause <= static_cast<int>(Cause::copies); ++cause)
    all.push_back({.cause = static_cast<Cause>(cause),
                   .seconds = {1},
                   .factor = 2,
                   .seen = {4},
                   .expected = {2},
                   .kernels = KernelClass::attention,
                   .part = StepPart::pipeline_comm,
                   .ranks = {0, 2},
                   .stage = 1,
                   .stalled = 1,
                   .transfers = 64});
  return all;
}

TEST_CASE("each cause is told by a sentence of its own, with the times and ranks it rests on") {
  auto of = explanation();
  of.diagnosis->suspects = one_of_each_cause();
  of.diagnosis->unexplained = {-9};
  golden::check("explain_causes.txt",
                report::explanation_text(of, {.width = 90, .unicode = false}));
}

TEST_CASE("two slow classes of kernels do not each say that the others are as fast as forecast") {
  const auto told = [](std::vector<forecast::Suspect> suspects) {
    auto of = explanation();
    of.diagnosis->suspects = std::move(suspects);
    return report::explanation_text(of, {.width = 200, .unicode = false});
  };
  forecast::Suspect products{.cause = Cause::slow_kernels,
                             .seconds = {1},
                             .factor = 1.4,
                             .kernels = KernelClass::products};
  auto attention = products;
  attention.kernels = KernelClass::attention;
  CHECK(told({products}).find("the rest does not") != std::string::npos);
  const auto both = told({products, attention});
  CHECK(both.find("the rest does not") == std::string::npos);
  CHECK(both.find("the rest by another factor") != std::string::npos);
}

TEST_CASE("every layer is computed again where more than attention runs forward too often") {
  auto of = explanation();
  of.diagnosis->suspects = {{.cause = Cause::recomputation, .seconds = {1}, .factor = 2}};
  const auto text = report::explanation_text(of, {.width = 200, .unicode = false});
  CHECK(text.find("every layer is computed again") != std::string::npos);
}

TEST_CASE("a traced step without suspects is said to be so, and so is a --measured that differs") {
  auto of = explanation();
  of.told = units::Seconds{15};  // 7 % from the 14 s of the traced step
  of.diagnosis->suspects.clear();
  const auto text = report::explanation_text(of, {.width = 200, .unicode = false});
  CHECK(text.find("--measured says 15.0 s, the traced step took 14.0 s") != std::string::npos);
  CHECK(text.find("None above 1 % of the step.") != std::string::npos);

  of.told = units::Seconds{14.6};  // 4 % from them
  CHECK(report::explanation_text(of).find("--measured says") == std::string::npos);
}

TEST_CASE("a difference that no single key explains is told so") {
  auto of = explanation();
  of.diagnosis.reset();
  CHECK(report::explanation_text(of).find(
            "No single key explains as much as a tenth of the difference.") != std::string::npos);
}

TEST_CASE("of a step that was as fast as forecast it is said that nothing slowed it") {
  auto of = explanation();
  of.diagnosis.reset();
  of.measured = of.forecast;
  const auto text = report::explanation_text(of);
  CHECK(text.find("nothing slowed it") != std::string::npos);
  CHECK(text.find("key") == std::string::npos);
}

TEST_CASE("a trace of another run is said instead of suspects") {
  auto of = explanation();
  of.diagnosis->suspects.clear();
  of.diagnosis->mismatches = {{"GPUs", "8", "16"}, {"number format", "fp16", "bf16"}};
  golden::check("explain_mismatch.txt",
                report::explanation_text(of, {.width = 90, .unicode = false}));
  const auto document = json::parse(report::explanation_json(of, "1.2.3"));
  CHECK(document["trace"]["mismatches"][0]["trace"] == "8");
  CHECK(document["unexplained_s"].is_null());
}

TEST_CASE("without a trace changes of one key are listed, and a trace is asked for") {
  auto of = explanation();
  of.diagnosis.reset();
  of.changes = {{"every layer is computed again", "plan.recompute=full", {13}, std::nullopt},
                {"NICs are slower", "cluster.node.nics.bandwidth=12.5 GB/s", {14}, 4.0}};
  golden::check("explain_time.txt", report::explanation_text(of, {.width = 90, .unicode = false}));
}

TEST_CASE("the JSON of an explanation has every suspect whole") {
  const auto document = json::parse(report::explanation_json(explanation(), "1.2.3"));
  CHECK(document["measured_s"] == 14.0);
  CHECK(document["excess_s"] == 4.0);
  const auto& first = document["suspects"][0];
  CHECK(first["cause"] == "straggler");
  CHECK(first["seconds"] == 2.0);
  CHECK(first["share"].get<double>() == Approx(2.0 / 14));
  CHECK(first["ranks"] == json::array({5}));
  CHECK(first["forecast_with_set_s"] == 12.1);
  CHECK(document["suspects"][1]["communication"] == "tensor_comm");
  CHECK(document["suspects"][2]["set"].is_null());
  CHECK(document["unexplained_s"] == 0.5);
}

}  // namespace explanation_spec

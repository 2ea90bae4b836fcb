// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <random>

#include "forecast/accuracy/intervals.hpp"
#include "forecast/accuracy/validation.hpp"
#include "tests/catch.hpp"

namespace intervals_spec {

using forecast::Circumstances;
using forecast::Residual;

namespace {

Circumstances on(const std::string& device, std::string software = "mine", std::int64_t gpus = 8) {
  return {{device, std::move(software)}, device, gpus, 2048, {"bf16"}};
}

std::vector<Residual> set(const std::string& name, const Circumstances& run,
                          const std::vector<double>& logs) {
  std::vector<Residual> residuals;
  for (const double log : logs) residuals.push_back({name, run, log});
  return residuals;
}

std::vector<Residual> together(std::initializer_list<std::vector<Residual>> parts) {
  std::vector<Residual> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

const std::vector<double> ten{-0.5, -0.4, -0.3, -0.2, -0.1, 0.1, 0.2, 0.3, 0.4, 0.5};

}  // namespace

TEST_CASE("the interval of ten like runs leaves out the outermost on each side") {
  const auto intervals = forecast::intervals_of(set("one", on("a100"), ten));
  REQUIRE(intervals.regimes.size() == 1);  // device and software distinguish nothing here
  CHECK(intervals.regimes.front().regime.empty());
  CHECK(intervals.regimes.front().rows == 10);
  // By nearest rank, a tenth of the votes lies at or below -0.5, and nine tenths at or above -0.4.
  CHECK(intervals.regimes.front().low == Approx(-0.4));
  CHECK(intervals.regimes.front().high == Approx(0.4));
  CHECK(intervals.between == 0);
}

TEST_CASE("a data set has one vote, whatever its rows") {
  const auto intervals =
      forecast::intervals_of(together({set("large", on("a100"), std::vector<double>(90, 0.0)),
                                       set("s", on("a100"), {0.3}), set("t", on("a100"), {-0.3})}));
  CHECK(intervals.regimes.front().high == 0.3);  // two thirds of the votes are below, not 91 of 92
  CHECK(intervals.regimes.front().low == -0.3);
}

TEST_CASE("a regime with few votes is drawn towards the next wider one") {
  // The regime of all has votes of 0.1 and 0.5, which are its tenths. Each device has one vote for
  // itself against two for all.
  const auto intervals = forecast::intervals_of(
      together({set("one", on("a100"), {0.1}), set("two", on("h100"), {0.5})}));
  REQUIRE(intervals.regimes.size() == 3);
  const auto& all = intervals.regimes[0];
  const auto& a100 = intervals.regimes[1];
  CHECK(all.low == Approx(0.1));
  CHECK(all.high == Approx(0.5));
  REQUIRE(a100.regime == std::vector<std::string>{"a100"});
  CHECK(a100.low == Approx(0.1));
  CHECK(a100.high == Approx((0.1 + 2 * 0.5) / 3));
  CHECK(intervals.regimes[2].low == Approx((0.5 + 2 * 0.1) / 3));
  CHECK(a100.datasets == 1);
}

TEST_CASE("rows that are part of a data set are part of a vote") {
  const auto intervals = forecast::intervals_of(
      together({set("one", on("a100", "mine"), {0.0}), set("one", on("a100", "yours"), {0.6})}));
  REQUIRE(intervals.regimes.size() == 3);
  CHECK(intervals.regimes[1].high == Approx((0.5 * 0.0 + 2 * 0.6) / 2.5));
}

TEST_CASE("many votes speak for themselves") {
  std::vector<Residual> residuals = set("other", on("h100"), {-1.0, 1.0});
  for (int i = 0; i < 99; ++i)
    for (const auto& one : set(std::to_string(i), on("a100"), {0.1})) residuals.push_back(one);
  const auto intervals = forecast::intervals_of(residuals);
  const auto interval = forecast::interval_of(on("a100"), intervals);
  // The forecast itself is never outside its interval, and the source adds a 99th of the variance
  // between the 99 known sources.
  const double source = 1.2816 * intervals.between / std::sqrt(99);
  CHECK(interval.high == Approx(std::sqrt(0.1 * 0.1 + source * source)));
  CHECK(interval.low == Approx(-source));
}

TEST_CASE("the narrowest measured regime answers, and says which runs it is based on") {
  const auto intervals = forecast::intervals_of(
      together({set("one", on("a100", "mine"), ten), set("two", on("a100", "yours"), {0.0}),
                set("three", on("h100", "mine"), {0.0})}));
  const auto mine = forecast::interval_of(on("a100", "mine"), intervals).validated;
  CHECK(mine.regime == std::vector<std::string>{"a100", "mine"});
  CHECK(mine.rows == 10);
  CHECK(mine.datasets == 1);
  CHECK(mine.outside.empty());
  const auto theirs = forecast::interval_of(on("a100", "theirs"), intervals).validated;
  CHECK(theirs.regime == std::vector<std::string>{"a100"});
  CHECK(theirs.datasets == 2);
}

TEST_CASE("a device that was never measured widens the interval by the spread between data sets") {
  // The sets' medians are -0.1, 0 and 0.1, whose standard deviation is 0.1.
  const auto intervals = forecast::intervals_of(together(
      {set("a", on("a100"), {-0.1}), set("b", on("a100"), {0.0}), set("c", on("a100"), {0.1})}));
  CHECK(intervals.between == Approx(0.1));
  const auto interval = forecast::interval_of(on("h20"), intervals);
  // The spread counts once for the device, and a third for the source, of which three are known.
  CHECK(interval.high == Approx(std::sqrt(0.1 * 0.1 + 4.0 / 3 * std::pow(1.2816 * 0.1, 2))));
  CHECK(interval.low == Approx(-interval.high));
  CHECK(interval.validated.outside == std::vector<std::string>{"no run on h20 was measured"});
  CHECK(interval.validated.rows == 3);  // the runs that it is based on
}

TEST_CASE("settings outside are named with their distance, and each widens the interval") {
  const auto intervals =
      forecast::intervals_of(together({set("a", on("a100"), {-0.1}), set("b", on("a100"), {0.1})}));
  auto run = on("a100");
  const auto inside = forecast::interval_of(run, intervals);
  run.gpus = 32;
  run.sequence = 8192;
  run.traits = {"bf16", "mixture of experts"};
  const auto outside = forecast::interval_of(run, intervals);
  CHECK(outside.validated.outside ==
        std::vector<std::string>{
            "mixture of experts not measured on a100",
            "32 GPUs, 4.0 times the most measured on a100 (8)",
            "8,192 tokens per sequence, 4.0 times the most measured on a100 (2,048)"});
  // Experts count once, each size by its two doublings.
  const double beyond = 5 * std::pow(1.2816 * intervals.between, 2);
  CHECK(outside.high == Approx(std::sqrt(inside.high * inside.high + beyond)));
}

TEST_CASE("80 % of new runs lie inside, of all data sets and of data sets left out") {
  const auto seed = GENERATE(range(0u, 5u));
  std::mt19937 random(seed);
  std::normal_distribution<double> offset(0.05, 0.08), scatter(0, 0.06);
  std::vector<forecast::DatasetRows> sets;
  for (int s = 0; s < 40; ++s) {
    forecast::DatasetRows one{"set " + std::to_string(s), {}};
    const double own = offset(random);
    for (int r = 0; r < 5 + s % 4 * 20; ++r) {
      forecast::ValidationRow row;
      row.predicted_s = units::Seconds{1.0};
      row.measured_s = units::Seconds{std::exp(own + scatter(random))};
      row.run = on(s % 2 ? "a100" : "h100");
      one.rows.push_back(row);
    }
    sets.push_back(one);
  }
  const auto intervals = forecast::intervals_of(forecast::residuals_of(sets));
  for (auto& one : sets)
    for (auto& row : one.rows) {
      const auto interval = forecast::interval_of(*row.run, intervals);
      row.low_s = std::exp(interval.low) * *row.predicted_s;
      row.high_s = std::exp(interval.high) * *row.predicted_s;
    }
  forecast::leave_out(sets);
  const auto score = forecast::score(sets);
  CHECK(score.coverage.value() == Approx(0.8).margin(0.05));
  CHECK(score.coverage_left_out.value() == Approx(0.8).margin(0.06));
}

TEST_CASE("without a table the interval is the forecast itself") {
  forecast::Forecast forecast;
  forecast.step.time = forecast.step.time_low = forecast.step.time_high = units::Seconds{2.0};
  const forecast::Scenario any;
  forecast::add_interval(forecast, any, {});
  CHECK(forecast.step.time_high == forecast.step.time);
  CHECK_FALSE(forecast.validated);
}

TEST_CASE("a regime has the family of its device, and the bound of its step") {
  forecast::Scenario scenario;
  scenario.cluster.node.device.name = "h800-80gb-sxm";
  scenario.cluster.gpus = 2048;
  scenario.software.name = "megatron-core";
  scenario.model.moe = model::Moe{};
  forecast::Forecast forecast;
  forecast.step.time = units::Seconds{1.0};
  forecast.time[forecast::StepPart::other] = units::Seconds{0.2};
  const auto run = forecast::circumstances_of(scenario, forecast);
  CHECK(run.regime == std::vector<std::string>{"Hopper MoE", "h100", "megatron-core", "host-bound",
                                               "bf16", "above 512 GPUs"});
  CHECK(run.device == "h100");
  CHECK(run.traits == std::vector<std::string>{"bf16", "megatron-core", "mixture of experts"});
}

}  // namespace intervals_spec

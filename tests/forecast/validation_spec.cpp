// SPDX-License-Identifier: Apache-2.0
#include "forecast/accuracy/regime.hpp"
#include "forecast/accuracy/validation.hpp"
#include "tests/catch.hpp"

namespace validation_spec {

using Catch::Matchers::WithinRel;
using forecast::ValidationRow;
using namespace units::literals;

namespace {

ValidationRow timed(std::string id, double measured, double predicted) {
  ValidationRow row;
  row.id = std::move(id);
  row.measured_s = units::Seconds{measured};
  row.predicted_s = units::Seconds{predicted};
  return row;
}

forecast::DatasetScore only(std::vector<ValidationRow> rows) {
  return forecast::score({{"set", std::move(rows)}}).datasets.front();
}

}  // namespace

TEST_CASE(
    "the error of a row is its forecast less the measurement, as a share of the measurement") {
  CHECK(forecast::error(timed("a", 2.0, 3.0)) == 0.5);
  CHECK(forecast::error(timed("a", 4.0, 3.0)) == -0.25);
}

TEST_CASE("a row without a positive measurement or without forecast has no error") {
  ValidationRow unpredicted;
  unpredicted.measured_s = 1.0_s;
  CHECK_FALSE(forecast::error(unpredicted));
  CHECK_FALSE(forecast::error(timed("a", 0.0, 3.0)));
  CHECK_FALSE(forecast::error(ValidationRow{}));
}

TEST_CASE("a data set has the mean magnitude and the signed median of its errors") {
  const auto score = only(
      {timed("a", 4.0, 5.0), timed("b", 4.0, 3.0), timed("c", 4.0, 6.0), timed("d", 4.0, 4.0)});
  CHECK(score.time.mape == 0.25);     // (0.25 + 0.25 + 0.5 + 0) / 4
  CHECK(score.time.median == 0.125);  // between 0 and 0.25 of -0.25, 0, 0.25, 0.5
  CHECK(score.time.worst == 0.5);
  CHECK(score.time.worst_id == "c");
}

TEST_CASE("nine rows of ten are no further off than p90") {
  std::vector<ValidationRow> rows;
  for (int i = 1; i <= 10; ++i) rows.push_back(timed("row", 100.0, 100.0 + (i % 2 ? i : -i)));
  CHECK_THAT(only(rows).time.p90.value(), WithinRel(0.09, 1e-12));
  rows.resize(1);
  CHECK_THAT(only(rows).time.p90.value(), WithinRel(0.01, 1e-12));
}

TEST_CASE("unsupported rows and times that do not count leave the time score alone") {
  auto unsupported = timed("b", 1.0, 9.0);
  unsupported.status = ValidationRow::Status::unsupported;
  auto launch_bound = timed("c", 1.0, 9.0);
  launch_bound.time_counts = false;
  const auto score = only({timed("a", 4.0, 5.0), unsupported, launch_bound});
  CHECK(score.time.mape == 0.25);
  CHECK(score.supported == 2);
}

TEST_CASE("coverage is the share of measurements inside the interval, ends included") {
  std::vector<ValidationRow> rows{timed("in", 2.0, 2.0), timed("end", 3.0, 2.0),
                                  timed("out", 4.0, 2.0), timed("without interval", 2.0, 2.0)};
  for (int i = 0; i < 3; ++i) {
    rows[static_cast<std::size_t>(i)].low_s = 1.0_s;
    rows[static_cast<std::size_t>(i)].high_s = 3.0_s;
  }
  CHECK_THAT(only(rows).coverage.value(), WithinRel(2.0 / 3.0, 1e-12));
}

TEST_CASE("the overall error is the mean over data sets, whatever their size") {
  ValidationRow memory_only;
  memory_only.measured_bytes = 4.0_GiB;
  memory_only.predicted_bytes = 3.0_GiB;
  const auto total = forecast::score({{"large", {timed("a", 4.0, 5.0), timed("b", 4.0, 5.0)}},
                                      {"small", {timed("c", 4.0, 7.0)}},
                                      {"memory", {memory_only}}});
  CHECK(total.time.mape == 0.5);  // (0.25 + 0.75) / 2: the third has no time
  CHECK(total.memory.mape == 0.25);
  CHECK(total.rows == 4);
  CHECK(total.unsupported == 0);
}

TEST_CASE("where there is nothing to score, scores are absent") {
  const auto total = forecast::score({{"empty", {}}});
  CHECK_FALSE(total.time.mape);
  CHECK_FALSE(total.coverage);
  const auto& empty = total.datasets.front();
  CHECK_FALSE(empty.time.mape);
  CHECK_FALSE(empty.time.median);
  CHECK_FALSE(empty.time.p90);
  CHECK_FALSE(empty.time.worst);
}

TEST_CASE("over several data sets, median and p90 give each data set one vote") {
  std::vector<ValidationRow> large;
  for (int i = 0; i < 8; ++i) large.push_back(timed("low", 4.0, 3.0));
  const auto total = forecast::score({{"large", large}, {"small", {timed("high", 4.0, 7.0)}}});
  CHECK(total.time.rows == 9);
  CHECK(total.time.datasets == 2);
  CHECK(total.time.median == 0.25);  // between -0.25 and 0.75, with half of the votes each
  CHECK(total.time.p90 == 0.75);
  CHECK(total.time.worst == 0.75);
  CHECK(total.time.worst_id == "small: high");
}

TEST_CASE("memory has the same figures as time") {
  std::vector<ValidationRow> rows(3);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].id = std::to_string(i);
    rows[i].measured_bytes = 4.0_GiB;
    rows[i].predicted_bytes = (static_cast<double>(i) + 3) * 1.0_GiB;  // -25 %, 0, +25 %
  }
  rows[2].predicted_bytes = 6.0_GiB;  // +50 %
  const auto score = only(rows);
  CHECK(score.memory.mape == 0.25);
  CHECK(score.memory.median == 0.0);
  CHECK(score.memory.p90 == 0.5);
  CHECK(score.memory.worst_id == "2");
  CHECK_FALSE(score.time.mape);
}

TEST_CASE("runs that ran out of memory are set against the forecast's word on it") {
  const auto run = [](bool overflowed, bool fits) {
    ValidationRow row;
    row.out_of_memory = overflowed;
    row.predicted_fits = fits;
    return row;
  };
  ValidationRow unsupported = run(true, true);
  unsupported.status = ValidationRow::Status::unsupported;
  const auto outcomes =
      forecast::score(
          {{"one", {run(false, true), run(false, true), unsupported}},
           {"two", {run(false, false), run(true, false), run(true, true), ValidationRow{}}}})
          .outcomes;
  CHECK(outcomes.ran_as_forecast == 2);
  CHECK(outcomes.ran_against_forecast == 1);
  CHECK(outcomes.overflowed_as_forecast == 1);
  CHECK(outcomes.overflowed_against_forecast == 1);
}

TEST_CASE("passes are scored by kind, and need no step time") {
  ValidationRow row;
  row.passes = {{"forward", 4.0_s, 5.0_s}, {"backward_input", 4.0_s, 3.0_s}};
  ValidationRow other;
  other.passes = {{"forward", 4.0_s, 6.0_s}, {"backward_input", 4.0_s, std::nullopt}};
  const auto total = forecast::score({{"set", {row, other}}});
  REQUIRE(total.passes.size() == 2);
  CHECK(total.passes[0].kind == "forward");
  CHECK(total.passes[0].time.mape == 0.375);
  CHECK(total.passes[1].time.rows == 1);
  CHECK(total.passes[1].time.median == -0.25);
}

TEST_CASE("errors by cause: sizes in order of size, a data set one vote in its group") {
  const auto on = [](double predicted, const char* device, const char* scale) {
    ValidationRow row = timed("row", 4.0, predicted);
    row.groups = {device, "bf16", "tp", scale, "dense"};
    return row;
  };
  const auto total = forecast::score(
      {{"one", {on(5.0, "A100", "<=64"), on(5.0, "A100", "<=8"), on(5.0, "A100", ">512")}},
       {"two", {on(7.0, "A100", "<=8"), on(4.0, "H100", "<=512")}}});
  REQUIRE(total.causes.size() == 6);
  CHECK(total.causes[0].cause == "device");
  REQUIRE(total.causes[0].groups.size() == 2);
  CHECK(total.causes[0].groups[0].group == "A100");
  CHECK(total.causes[0].groups[0].time.mape == 0.5);  // (0.25 + 0.75) / 2: three rows have one vote
  std::string scales;
  for (const auto& group : total.causes[3].groups) scales += group.group + " ";
  CHECK(scales == "<=8 <=64 <=512 >512 ");
}

TEST_CASE("a row on a device that nothing is fitted to is shown apart, and counts in no total") {
  auto other = timed("tpu", 4.0, 8.0);
  other.fitted = false;
  other.measured_bytes = 2.0_GiB;
  other.predicted_bytes = 3.0_GiB;
  other.low_s = 1.0_s;
  other.high_s = 2.0_s;
  other.predicted_fits = false;
  auto idle = other;  // its time does not count here either
  idle.id = "idle";
  idle.time_counts = false;
  idle.measured_bytes = {};
  const auto total = forecast::score({{"set", {timed("gpu", 4.0, 5.0), other, idle}}});
  CHECK(total.time.mape == 0.25);
  CHECK(total.time.rows == 1);
  CHECK_FALSE(total.memory.mape);
  CHECK_FALSE(total.coverage);
  CHECK(total.outcomes.ran_against_forecast == 0);
  CHECK(total.apart.time.rows == 1);
  CHECK(total.apart.time.mape == 1.0);
  CHECK(total.apart.memory.mape == 0.5);
  CHECK(total.datasets[0].apart.time.worst_id == "tpu");
  CHECK(total.datasets[0].supported == 3);
  CHECK(forecast::residuals_of({{"set", {other}}}).empty());
}

TEST_CASE("data sets that joined at the same time have a mean of their own") {
  const auto total = forecast::score({{"late", {timed("a", 4.0, 5.0)}, "2026-11"},
                                      {"early", {timed("b", 4.0, 4.0), timed("c", 4.0, 6.0)}},
                                      {"later", {timed("d", 4.0, 8.0)}, "2027-02"},
                                      {"as late", {timed("e", 4.0, 7.0)}, "2026-11"}});
  REQUIRE(total.cohorts.size() == 3);
  CHECK(total.cohorts[0].added == "");
  CHECK(total.cohorts[0].time.mape == 0.25);  // (0 + 0.5) / 2
  CHECK(total.cohorts[0].rows == 2);
  CHECK(total.cohorts[1].added == "2026-11");
  CHECK(total.cohorts[1].datasets == 2);
  CHECK(total.cohorts[1].time.mape == 0.5);  // (0.25 + 0.75) / 2
  CHECK(total.cohorts[2].time.mape == 1.0);
  CHECK(total.time.mape == 0.5625);  // each of the four has a vote
}

TEST_CASE("rates by a formula of the source's own are compared within the data set") {
  const auto rated = [](const char* id, double measured, double predicted) {
    ValidationRow row;
    row.id = id;
    row.measured_rate = units::FlopsPerSecond{measured};
    row.predicted_rate = units::FlopsPerSecond{predicted};
    return row;
  };
  // The source counts half of the program's flops, and its second run is a fifth slower than
  // forecast.
  const auto score =
      only({rated("a", 5.0, 10.0), rated("b", 4.0, 10.0), rated("c", 2.0, 4.0), timed("d", 1, 1)});
  CHECK(score.relative.rows == 3);
  CHECK(score.rows[0].relative_error == 0.0);
  CHECK(score.rows[1].relative_error == 0.25);
  CHECK(score.relative.worst_id == "b");
  CHECK(score.time.rows == 1);
  CHECK_FALSE(score.rows[3].relative_error);
}

TEST_CASE("a regime is a generation of devices and a kind of model") {
  CHECK(forecast::regime_of("A100", "dense") == "Ampere dense");
  CHECK(forecast::regime_of("H200", "MoE") == "Hopper MoE");
  CHECK(forecast::regime_of("GB300", "MoE") == "Blackwell MoE");
  CHECK(forecast::regime_of("B200", "dense") == "Blackwell dense");
  CHECK(forecast::regime_of("TPU v4", "dense") == "TPU v4 dense");
  CHECK(forecast::regime_of("", "dense") == "");
}

TEST_CASE("a size is a size, whatever its number of digits") {
  std::vector<ValidationRow> rows;
  for (const auto* scale : {">9223372036854775807", "<=9223372036854775807", "<=8"}) {
    rows.push_back(timed("row", 4.0, 5.0));
    rows.back().groups = {"A100", "bf16", "tp", scale, "dense"};
  }
  const auto total = forecast::score({{"one", rows}});
  std::string scales;
  for (const auto& group : total.causes[3].groups) scales += group.group + " ";
  CHECK(scales == "<=8 <=9223372036854775807 >9223372036854775807 ");
}

}  // namespace validation_spec

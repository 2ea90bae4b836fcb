// SPDX-License-Identifier: Apache-2.0
#include "forecast/validation.hpp"
#include "tests/catch.hpp"

using Catch::Matchers::WithinRel;
using forecast::Row;
using namespace units::literals;

namespace {

Row timed(std::string id, double measured, double predicted) {
  Row row;
  row.id = std::move(id);
  row.measured_s = units::Seconds{measured};
  row.predicted_s = units::Seconds{predicted};
  return row;
}

forecast::DatasetScore only(std::vector<Row> rows) {
  return forecast::score({{"set", std::move(rows)}}).datasets.front();
}

}  // namespace

TEST_CASE("the error of a row is what the forecast says too much, as a share of the measurement") {
  CHECK(forecast::error(timed("a", 2.0, 3.0)) == 0.5);
  CHECK(forecast::error(timed("a", 4.0, 3.0)) == -0.25);
}

TEST_CASE("a row without a positive measurement or without forecast has no error") {
  Row unpredicted;
  unpredicted.measured_s = 1.0_s;
  CHECK_FALSE(forecast::error(unpredicted));
  CHECK_FALSE(forecast::error(timed("a", 0.0, 3.0)));
  CHECK_FALSE(forecast::error(Row{}));
}

TEST_CASE("a data set has the mean magnitude and the signed median of its errors") {
  const auto score = only(
      {timed("a", 4.0, 5.0), timed("b", 4.0, 3.0), timed("c", 4.0, 6.0), timed("d", 4.0, 4.0)});
  CHECK(score.mape == 0.25);     // (0.25 + 0.25 + 0.5 + 0) / 4
  CHECK(score.median == 0.125);  // between 0 and 0.25 of -0.25, 0, 0.25, 0.5
  CHECK(score.worst == 0.5);
  CHECK(score.worst_id == "c");
}

TEST_CASE("nine rows of ten are no further off than p90") {
  std::vector<Row> rows;
  for (int i = 1; i <= 10; ++i) rows.push_back(timed("row", 100.0, 100.0 + (i % 2 ? i : -i)));
  CHECK_THAT(only(rows).p90.value(), WithinRel(0.09, 1e-12));
  rows.resize(1);
  CHECK_THAT(only(rows).p90.value(), WithinRel(0.01, 1e-12));
}

TEST_CASE("unsupported rows and times that do not count leave the time score alone") {
  auto unsupported = timed("b", 1.0, 9.0);
  unsupported.status = Row::Status::unsupported;
  auto launch_bound = timed("c", 1.0, 9.0);
  launch_bound.time_counts = false;
  const auto score = only({timed("a", 4.0, 5.0), unsupported, launch_bound});
  CHECK(score.mape == 0.25);
  CHECK(score.supported == 2);
}

TEST_CASE("coverage is the share of measurements inside the interval, ends included") {
  std::vector<Row> rows{timed("in", 2.0, 2.0), timed("end", 3.0, 2.0), timed("out", 4.0, 2.0),
                        timed("without interval", 2.0, 2.0)};
  for (int i = 0; i < 3; ++i) {
    rows[static_cast<std::size_t>(i)].low_s = 1.0_s;
    rows[static_cast<std::size_t>(i)].high_s = 3.0_s;
  }
  CHECK_THAT(only(rows).coverage.value(), WithinRel(2.0 / 3.0, 1e-12));
}

TEST_CASE("the overall error is the mean over data sets, whatever their size") {
  Row memory_only;
  memory_only.measured_bytes = 4.0_GiB;
  memory_only.predicted_bytes = 3.0_GiB;
  const auto total = forecast::score({{"large", {timed("a", 4.0, 5.0), timed("b", 4.0, 5.0)}},
                                      {"small", {timed("c", 4.0, 7.0)}},
                                      {"memory", {memory_only}}});
  CHECK(total.mape == 0.5);  // (0.25 + 0.75) / 2: the third has no time
  CHECK(total.memory_mape == 0.25);
  CHECK(total.rows == 4);
  CHECK(total.unsupported == 0);
}

TEST_CASE("where there is nothing to score, scores are absent") {
  const auto total = forecast::score({{"empty", {}}});
  CHECK_FALSE(total.mape);
  CHECK_FALSE(total.coverage);
  const auto& empty = total.datasets.front();
  CHECK_FALSE(empty.mape);
  CHECK_FALSE(empty.median);
  CHECK_FALSE(empty.p90);
  CHECK_FALSE(empty.worst);
}

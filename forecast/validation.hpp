// SPDX-License-Identifier: Apache-2.0
// Forecasts against measurements: the error of every row, and what a set of rows says together.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "units/quantity.hpp"

namespace forecast {

// One measurement and, where the tool can make one, its forecast. Absent = not measured or not
// forecast. `low_s` to `high_s` is the forecast's 80 % interval.
struct Row {
  enum class Status { ok, unsupported };
  std::string id;
  Status status = Status::ok;
  std::string reason;  // of `unsupported`
  std::optional<units::Seconds> measured_s, predicted_s, low_s, high_s;
  std::optional<units::Bytes> measured_bytes, predicted_bytes;
  std::string memory_kind;  // "allocated", "reserved" or "device"; empty without memory
  bool time_counts = true;  // false: the time is shown but says nothing about the forecast
};

struct DatasetRows {
  std::string name;
  std::vector<Row> rows;
};

// Fractions, not percent. Absent where no row has what it takes.
struct DatasetScore {
  std::string name;
  std::vector<Row> rows;         // as given
  std::optional<double> mape;    // mean of |error| over the rows whose time counts
  std::optional<double> median;  // of the signed error: the bias
  std::optional<double> p90;     // smallest |error| that nine rows of ten do not exceed
  std::optional<double> worst;   // largest |error|
  std::string worst_id;          // its row, the first of equals
  std::optional<double> memory_mape;
  std::optional<double> coverage;  // share of rows measured inside the interval, ends included
  std::size_t supported = 0;       // rows with status ok
};

struct Score {
  std::vector<DatasetScore> datasets;  // as given
  // Means over the data sets that have the figure: a large set weighs no more than a small one.
  std::optional<double> mape, memory_mape, coverage;
  std::size_t rows = 0, unsupported = 0;
};

// (predicted − measured) / measured. Absent if either is, if the measurement is not positive, or if
// the quotient is not finite.
std::optional<double> error(const Row& row);
std::optional<double> memory_error(const Row& row);

// O(rows log rows).
Score score(std::vector<DatasetRows> datasets);

}  // namespace forecast

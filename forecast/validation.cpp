// SPDX-License-Identifier: Apache-2.0
#include "forecast/validation.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace forecast {
namespace {

template <class Quantity>
std::optional<double> relative_error(const std::optional<Quantity>& measured,
                                     const std::optional<Quantity>& predicted) {
  if (!measured || !predicted || !(measured->value > 0)) return std::nullopt;
  const double relative = (*predicted - *measured) / *measured;
  if (!std::isfinite(relative)) return std::nullopt;
  return relative;
}

// A running mean that is absent until something was added.
class Mean {
 public:
  void add(std::optional<double> value) {
    if (!value) return;
    sum_ += *value;
    ++count_;
  }
  std::optional<double> value() const {
    if (count_ == 0) return std::nullopt;
    return sum_ / static_cast<double>(count_);
  }

 private:
  double sum_ = 0;
  std::size_t count_ = 0;
};

double median_of_sorted(const std::vector<double>& sorted) {
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

// Nearest rank: the ⌈0.9 n⌉-th smallest, in whole numbers so that 0.9 · 10 is nine.
double p90_of_sorted(const std::vector<double>& sorted) {
  return sorted[(9 * sorted.size() + 9) / 10 - 1];
}

std::optional<double> inside_interval(const Row& row) {
  if (!row.low_s || !row.high_s || !row.measured_s) return std::nullopt;
  return *row.low_s <= *row.measured_s && *row.measured_s <= *row.high_s ? 1.0 : 0.0;
}

void describe(DatasetScore& score, std::vector<double> errors) {
  if (errors.empty()) return;
  std::ranges::sort(errors);
  score.median = median_of_sorted(errors);
  for (double& each : errors) each = std::abs(each);
  std::ranges::sort(errors);
  score.p90 = p90_of_sorted(errors);
}

DatasetScore score_one(DatasetRows dataset) {
  DatasetScore result;
  result.name = std::move(dataset.name);
  result.rows = std::move(dataset.rows);
  std::vector<double> errors;
  Mean time, memory, inside;
  for (const Row& row : result.rows) {
    if (row.status != Row::Status::ok) continue;
    ++result.supported;
    if (const auto off = memory_error(row)) memory.add(std::abs(*off));
    const auto off = error(row);
    if (!off || !row.time_counts) continue;
    errors.push_back(*off);
    time.add(std::abs(*off));
    inside.add(inside_interval(row));
    if (!result.worst || std::abs(*off) > *result.worst) {
      result.worst = std::abs(*off);
      result.worst_id = row.id;
    }
  }
  describe(result, std::move(errors));
  result.mape = time.value();
  result.memory_mape = memory.value();
  result.coverage = inside.value();
  return result;
}

}  // namespace

std::optional<double> error(const Row& row) {
  return relative_error(row.measured_s, row.predicted_s);
}

std::optional<double> memory_error(const Row& row) {
  return relative_error(row.measured_bytes, row.predicted_bytes);
}

Score score(std::vector<DatasetRows> datasets) {
  Score total;
  Mean time, memory, inside;
  for (DatasetRows& dataset : datasets) {
    total.datasets.push_back(score_one(std::move(dataset)));
    const DatasetScore& latest = total.datasets.back();
    total.rows += latest.rows.size();
    total.unsupported += latest.rows.size() - latest.supported;
    time.add(latest.mape);
    memory.add(latest.memory_mape);
    inside.add(latest.coverage);
  }
  total.mape = time.value();
  total.memory_mape = memory.value();
  total.coverage = inside.value();
  return total;
}

}  // namespace forecast

// SPDX-License-Identifier: Apache-2.0
// Forecasts against measurements: the error of every row, and statistics of sets of rows.
#pragma once
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "forecast/accuracy/intervals.hpp"
#include "units/quantity.hpp"

namespace forecast {

// The properties by which rows are grouped to find the causes of errors.
inline constexpr std::array<std::string_view, 6> causes{"device", "precision", "parallelism",
                                                        "scale",  "model",     "regime"};

// A measured pass of one stage and microbatch, or of one layer ("layer.forward").
struct PassTime {
  std::string kind;
  std::optional<units::Seconds> measured, predicted;
};

// One measurement and, where the tool can make one, its forecast. Absent = not measured or not
// forecast. `low_s` to `high_s` is the forecast's 80 % interval.
struct ValidationRow {
  enum class Status { ok, unsupported };
  std::string id;
  Status status = Status::ok;
  std::string reason;  // reason of `unsupported`
  std::optional<units::Seconds> measured_s, predicted_s, low_s, high_s;
  std::optional<units::Bytes> measured_bytes, predicted_bytes;
  std::string memory_kind;  // "allocated", "reserved" or "device"; empty without memory
  bool time_counts = true;  // false: the time is shown but says nothing about the forecast
  bool fitted = true;       // false: no figure of its device was ever fitted, so that the row is
                            // shown apart, and no total knows it
  // Only for runs whose source prints a rate by a formula of its own: a single rate says nothing,
  // but several with the same tokens per GPU can be compared.
  std::optional<units::FlopsPerSecond> measured_rate, predicted_rate;  // per GPU
  std::optional<double> relative_error;  // of the forecast rate over the measured one, against the
                                         // data set's median; `score` fills it in
  bool out_of_memory = false;            // the run did not fit
  std::optional<bool> predicted_fits;    // the forecast's word on that
  std::vector<PassTime> passes;
  std::array<std::string, causes.size()> groups;  // one of each cause
  std::vector<std::string> assumed;               // values that the source does not state
  std::optional<Circumstances> run;               // circumstances of a forecast run
  std::optional<bool> inside_left_out;            // the interval that all other data sets give
};

struct DatasetRows {
  std::string name;
  std::vector<ValidationRow> rows;
  std::string added = {};  // when it joined the others: "2026-11"; empty: one of the first
};

// Statistics of errors. Fractions, not percent; absent without any error. If there are several data
// sets, each has one vote, which its rows share.
struct Errors {
  std::size_t rows = 0, datasets = 0;
  std::optional<double> mape;    // mean of |error|
  std::optional<double> median;  // median of the signed error: the bias
  std::optional<double> p90;     // smallest |error| that nine votes of ten do not exceed
  std::optional<double> worst;   // largest |error|
  std::string worst_id;          // its row, the first of equals; of several data sets "SET: ROW"
};

// Runs that ran, and runs that ran out of memory, each by whether the forecast fits.
struct Outcomes {
  std::size_t ran_as_forecast = 0, ran_against_forecast = 0;  // forecast fits, does not
  std::size_t overflowed_as_forecast = 0, overflowed_against_forecast = 0;
};

// Whether any run ran out of memory or was said to.
inline bool any_overflow(const Outcomes& outcomes) {
  return outcomes.ran_against_forecast + outcomes.overflowed_as_forecast +
             outcomes.overflowed_against_forecast >
         0;
}

// Rows on devices that nothing is fitted to.
struct ShownApart {
  Errors time, memory;
};

struct DatasetScore {
  std::string name, added;
  std::vector<ValidationRow> rows;  // as given
  Errors time;                      // errors of the rows whose time counts
  Errors memory;
  ShownApart apart;
  Errors relative;                 // errors of rows that are compared with each other
  std::optional<double> coverage;  // share of rows measured inside the interval, ends included
  std::optional<double> coverage_left_out;  // and inside that of the other data sets
  Outcomes outcomes;
  std::size_t supported = 0;  // rows with status ok
};

struct GroupScore {
  std::string group;
  Errors time, memory;
};

struct CauseScore {
  std::string cause;
  std::vector<GroupScore> groups;  // by name, numbers in names as numbers
};

// Data sets that joined at the same time.
struct CohortScore {
  std::string added;
  std::size_t datasets = 0, rows = 0, supported = 0;
  Errors time, memory;
};

struct PassScore {
  std::string kind;
  Errors time;  // one row a pass
};

struct Score {
  std::vector<DatasetScore> datasets;  // as given
  Errors time, memory;
  ShownApart apart;
  std::vector<CohortScore> cohorts;  // the first ones first
  // Means over the data sets that have the figure: a large set weighs no more than a small one.
  std::optional<double> coverage, coverage_left_out;
  Outcomes outcomes;
  std::vector<PassScore> passes;   // in order of appearance
  std::vector<CauseScore> causes;  // in the order of forecast::causes
  std::size_t rows = 0, unsupported = 0;
};

// (predicted − measured) / measured. Absent if either is, if the measurement is not positive, or if
// the quotient is not finite.
std::optional<double> error(const ValidationRow& row);
std::optional<double> memory_error(const ValidationRow& row);
std::optional<double> error(const PassTime& pass);

// The error that counts for the score: of a supported row whose time counts, on a device that
// something is fitted to.
std::optional<double> counted_error(const ValidationRow& row);

// The residuals from which the intervals are made: every row with a counted error.
std::vector<Residual> residuals_of(const std::vector<DatasetRows>& datasets);

// Fills in `inside_left_out` of every row with a counted error. O(data sets · rows log rows).
void leave_out(std::vector<DatasetRows>& datasets);

// O(rows log rows).
Score score(std::vector<DatasetRows> datasets);

}  // namespace forecast

// SPDX-License-Identifier: Apache-2.0
// 80 % intervals of the step time, from the residuals of published runs, regime by regime.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "forecast/forecast.hpp"
#include "forecast/scenario.hpp"

namespace forecast {

// The properties of a run that decide the width of its interval.
struct Circumstances {
  // The run's distinctions, from the widest to the narrowest: the device's generation and whether
  // the model is dense or has experts, device family, software profile, the limit of the step,
  // precision, scale. The first n of them are a regime, too, for any n.
  std::vector<std::string> regime;
  std::string device;  // its family
  std::int64_t gpus = 0, sequence = 0;
  std::vector<std::string> traits;  // traits that a device was measured with, or not; sorted
};

Circumstances circumstances_of(const Scenario& scenario, const Forecast& forecast);

// A measured run: log(measured / predicted), positive where the forecast was too short.
struct Residual {
  std::string dataset;
  Circumstances run;
  double log_ratio = 0;
};

struct RegimeSpread {
  std::vector<std::string> regime;
  std::size_t rows = 0, datasets = 0;
  double low = 0, high = 0;  // tenth and ninetieth percentile of log(measured / predicted)
  friend bool operator==(const RegimeSpread&, const RegimeSpread&) = default;
};

// The most that was measured on a family of devices.
struct MeasuredDevice {
  std::string device;
  std::int64_t gpus = 0, sequence = 0;
  std::vector<std::string> traits;  // sorted
  friend bool operator==(const MeasuredDevice&, const MeasuredDevice&) = default;
};

// The table of quantiles. Empty: no intervals.
struct Intervals {
  double between = 0;                   // standard deviation of the data sets' median log ratios
  std::vector<RegimeSpread> regimes;    // sorted; the first is of all runs
  std::vector<MeasuredDevice> devices;  // sorted
  friend bool operator==(const Intervals&, const Intervals&) = default;
};

// Every data set has one vote, its rows share it. A regime's quantiles are the mean of its own,
// weighing as much as the votes that fall into it, and those of the next wider regime, weighing
// `prior_votes`: where few were measured, the wider one speaks. A regime with the same runs as the
// wider one is not listed. O(rows log rows).
inline constexpr double prior_votes = 2;
Intervals intervals_of(const std::vector<Residual>& residuals);

// The logarithms by which the step may be shorter (low ≤ 0) and longer (high ≥ 0) than forecast,
// and where the run stands. Both are widened by 1.2816 (80 % of a normal distribution) times
// `between`, as squares: over the number of data sets of the regime, since a run comes from a
// source of its own; and once for each thing that was never measured and each doubling beyond the
// largest. The table must not be empty.
struct Interval {
  double low = 0, high = 0;
  Validated validated;
};
Interval interval_of(const Circumstances& run, const Intervals& intervals);

// Fills in the step's interval; leaves it as it is if the table is empty.
void add_interval(Forecast& forecast, const Scenario& scenario, const Intervals& intervals);

}  // namespace forecast

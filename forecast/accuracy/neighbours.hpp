// SPDX-License-Identifier: Apache-2.0
// The gain of measured steps for the forecasts of their neighbours: runs of published data sets,
// each corrected by others of its set.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "forecast/accuracy/correction.hpp"
#include "forecast/accuracy/intervals.hpp"

namespace forecast {

// A measured run beside its forecast.
struct MeasuredRun {
  Circumstances run;
  Setting setting;
  units::Seconds measured, forecast;
};

struct MeasuredSet {
  std::string name;
  std::vector<MeasuredRun> runs;
};

// The mean error of forecasts, and the share of measured steps inside of the 80 % interval.
struct Accuracy {
  double error = 0;     // mean of |forecast - measured| / measured
  double coverage = 0;  // share
  double width = 0;     // mean of the logarithm of the interval's high over low end
};

// A data set of n runs, each run corrected by …
struct NeighbourScore {
  std::string name;
  std::size_t runs = 0;
  Accuracy plain;    // nothing
  Accuracy any;      // one other run: the mean over all n - 1
  Accuracy nearest;  // the one that is most alike
  Accuracy rest;     // all others
};

// Scores of every data set with at least two runs. A set is judged without its own runs: prior and
// similarity are from the other sets. O(sets² · pairs + runs³ of each set).
std::vector<NeighbourScore> score_neighbours(const std::vector<MeasuredSet>& sets);

// The mean over the sets: a large one weighs no more than a small one. At least one score must be
// given.
NeighbourScore mean_of(const std::vector<NeighbourScore>& scores);

// The similarity that all sets give.
Similarity similarity_of(const std::vector<MeasuredSet>& sets);

}  // namespace forecast

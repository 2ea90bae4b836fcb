// SPDX-License-Identifier: Apache-2.0
// What a calibration found, and what it is worth.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace forecast {

struct FittedParameter {
  std::string file, key, unit, meaning;
  double value = 0, standard_error = 0;  // in the unit
  double start = 0, low = 0, high = 0;
  double width = 0;         // one sigma of what was known before: of the logarithm, or in the unit
  bool logarithmic = true;  // what `width` is of
  bool at_bound = false;
  std::size_t observations = 0;  // that feel it
};

// Means of |predicted − measured| / measured over the observations of a data set.
struct FittedSet {
  std::string name, measure;  // measure: time, memory
  std::size_t observations = 0;
  double before = 0, after = 0;  // with the starts, with the fitted values
  double left_out = 0;           // each group forecast from the others
};

struct CalibrationSummary {
  std::vector<FittedParameter> parameters;
  std::vector<FittedSet> sets;
  double before = 0, after = 0, left_out = 0;  // means over the data sets
  std::size_t observations = 0, groups = 0;
  int steps = 0;
  bool converged = false;
  std::vector<std::string> files;  // that were written
  std::string note;                // what `left_out` is, where it is not what FittedSet says

  // How much worse it forecasts what it was not fitted to; nothing if the fit is perfect.
  std::optional<double> ratio() const {
    if (!(after > 0)) return {};
    return left_out / after;
  }
};

}  // namespace forecast

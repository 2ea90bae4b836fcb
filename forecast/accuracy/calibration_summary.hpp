// SPDX-License-Identifier: Apache-2.0
// The results of a calibration: fitted figures, errors before and after, errors left out.
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
  double width = 0;         // prior width, one sigma: of the logarithm, or in the unit
  bool logarithmic = true;  // `width` is of the logarithm
  bool at_bound = false;
  std::size_t observations = 0;  // observations that depend on it
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
  std::vector<std::string> files;  // written files
  std::string note;                // meaning of `left_out`, where it differs from FittedSet

  // Error on groups left out over that of the fit; nothing if the fit is perfect.
  std::optional<double> ratio() const {
    if (!(after > 0)) return {};
    return left_out / after;
  }
};

}  // namespace forecast

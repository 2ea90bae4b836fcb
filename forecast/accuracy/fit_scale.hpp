// SPDX-License-Identifier: Apache-2.0
// The coordinate in which a fit moves a parameter: its value, or the logarithm of it.
#pragma once
#include "forecast/accuracy/calibration.hpp"

namespace forecast {

struct FitScale {
  double start = 0, low = 0, high = 0;  // in the parameter's unit; above 0 if logarithmic
  double width = 0;  // one sigma of what was known before: of the logarithm, or in the unit
  bool logarithmic = true;

  double coordinate(double value) const;
  // Returns the value in its unit, between `low` and `high`: rounding must not carry it beyond the
  // bounds.
  double value(double coordinate) const;
  // Standard error of a parameter with this value, in its unit, from that of its coordinate.
  double standard_error(double value, double of_coordinate) const;
  // Finite differences take 3 % of a value, or a fifth of `width`.
  Unknown unknown() const;
};

}  // namespace forecast

// SPDX-License-Identifier: Apache-2.0
#include "forecast/accuracy/fit_scale.hpp"

#include <algorithm>
#include <cmath>

namespace forecast {

double FitScale::coordinate(double value) const { return logarithmic ? std::log(value) : value; }

double FitScale::value(double coordinate) const {
  return std::clamp(logarithmic ? std::exp(coordinate) : coordinate, low, high);
}

double FitScale::standard_error(double value, double of_coordinate) const {
  return logarithmic ? of_coordinate * value : of_coordinate;
}

Unknown FitScale::unknown() const {
  return {.start = coordinate(start),
          .low = coordinate(low),
          .high = coordinate(high),
          .width = width,
          .step = logarithmic ? 0.03 : width / 5};
}

}  // namespace forecast

// SPDX-License-Identifier: Apache-2.0
// The figures that are reported of one point of a sweep.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "forecast/forecast.hpp"
#include "forecast/scenario.hpp"

namespace search {

enum class PointStatus { ok, does_not_fit, invalid, no_plan };
std::string_view to_text(PointStatus status);  // "ok", "does-not-fit", "invalid", "no-plan"

// A usual figure of a point; its unit is the end of its name: seconds where it is _s.
struct Figure {
  enum class Kind { number, whole, truth };  // truth: 1 or 0
  std::string_view name;
  Kind kind;
  bool less_is_better;
  double (*of)(const forecast::Scenario&, const forecast::Forecast&);
};
std::span<const Figure> figures();

// The values of all figures, in that order. Throws std::domain_error that names one that is not
// finite.
std::vector<double> figures_of(const forecast::Scenario& scenario,
                               const forecast::Forecast& forecast);

// Returns the value of the figure of that name; 0 where there are no values.
double figure_named(std::string_view name, std::span<const double> values);

// ok, or does_not_fit where device, host or NVMe memory overflows.
PointStatus status_of(const forecast::Forecast& forecast);
}  // namespace search

// SPDX-License-Identifier: Apache-2.0
// A figure of a sweep along one of its axes, drawn with characters.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "report/text.hpp"

namespace report {

struct PlotLine {
  std::string name;
  std::vector<std::optional<double>> values;  // one for each place along the axis
};

struct Plot {
  std::string figure, along, by;    // what is drawn, along which axis, a line for each value of
  std::vector<std::string> places;  // along the axis, evenly spaced
  std::vector<PlotLine> lines;      // at most as many as there are marks are drawn: evenly spread
};

// Lines from mark to mark, a scale on the left, places below, then a key. Upwards it goes from zero
// where some value is below half of the largest, by powers of ten where some is below a fiftieth.
std::string sweep_plot(const Plot& plot, const TextOptions& options);

}  // namespace report

// SPDX-License-Identifier: Apache-2.0
// A figure of a sweep along one of its axes, or against another figure: drawn with characters, or
// as SVG.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "report/style.hpp"

namespace report {

struct PlotLine {
  std::string name;
  std::vector<std::optional<double>> values;  // one for each place along the axis
  std::vector<double> across = {};            // with Plot::against: that figure at every place
};

struct Plot {
  std::string figure, along, by;    // figure, axis, and the axis of which each value is a line
  std::vector<std::string> places;  // along the axis, evenly spaced
  std::vector<PlotLine> lines;      // at most as many as there are marks are drawn: evenly spread
  std::string title = {};           // the sweep's name
  std::string where = {};           // the condition that points meet; empty: all
  std::string against = {};         // the figure that runs to the right; empty: the places do
  bool best_of_others = false;      // other axes vary too; values are the best over them
  bool relative = false;            // values are percent of each line's first
  struct Band {
    double low = 0, high = 0;
  };
  std::optional<Band> band = std::nullopt;  // expected range, in the unit of the values
};

// Returns the plot with every value in percent of its line's first, also of a figure that runs to
// the right. Throws std::invalid_argument that names a line whose first value is zero.
Plot relative_plot(Plot plot);

// Draws lines from mark to mark, a scale on the left, places below, then a key. The scale begins at
// zero if some value is below half of the largest, and goes by powers of ten if some is below a
// fiftieth. Against a figure, so does the scale to the right, and marks are not joined, but have
// the names of their places if there is room.
std::string sweep_plot(const Plot& plot, const TextOptions& options);

// The plot as one SVG image for a page or a paper: light or dark as the reader's system is, texts
// as texts, no scripts, nothing fetched; the scales end at round numbers, bytes are in GiB. The
// same plot has the same bytes.
std::string sweep_svg(const Plot& plot);

}  // namespace report

// SPDX-License-Identifier: Apache-2.0
// Private to the room: parts that both pictures of a sweep share.
#pragma once
#include <cstddef>
#include <vector>

#include "report/sweep/sweep_plot.hpp"

namespace report {

inline constexpr std::size_t most_lines = 8;  // as many as marks tell apart

// The lines that are drawn.
std::vector<PlotLine> drawn_lines(const Plot& plot);

// The places at which a line has a value.
std::vector<std::size_t> marks_of(const PlotLine& line);

// The scale of a picture: its two ends, and the place of a value between them. It begins at zero if
// some value is below half of the largest, and goes by powers of ten if some is below a fiftieth.
class Scale {
 public:
  explicit Scale(const std::vector<double>& values);
  double share(double value) const;  // 0 at the least, 1 at the most
  double value(double share) const;
  double least() const { return least_; }
  double most() const { return most_; }
  bool powers() const { return powers_; }
  // Widens the scale so that it reaches at least to these values.
  void widen(double least, double most);

 private:
  double least_ = 0, most_ = 1;
  bool powers_ = false;
};

// upward_scale() covers the values with their band, rightward_scale() the figure that runs to the
// right, if any.
Scale upward_scale(const Plot& plot, const std::vector<PlotLine>& lines);
Scale rightward_scale(const std::vector<PlotLine>& lines);

// Returns round numbers of a scale, in units; afterwards the scale reaches from the first to the
// last.
std::vector<double> ticks_of(Scale& scale, double unit);

}  // namespace report

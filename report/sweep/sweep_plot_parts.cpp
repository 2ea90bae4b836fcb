// SPDX-License-Identifier: Apache-2.0
#include "report/sweep/sweep_plot_parts.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "report/picture.hpp"

namespace report {
namespace {

// Returns 1, 2 or 5 times a power of ten, such that about six such steps make up the range.
double round_step(double range) {
  const double power = std::pow(10, std::floor(std::log10(range / 6)));
  for (const double times : {1.0, 2.0, 5.0})
    if (range <= 7 * times * power) return times * power;
  return 10 * power;
}

// Returns powers of ten from the last below `least` to the first above `most`, with 2 and 5 times
// them if decades are few.
std::vector<double> round_powers(double least, double most) {
  const double decades = std::log10(most / least), stride = std::max(1.0, std::ceil(decades / 7));
  std::vector<double> ticks;
  for (double power = std::floor(std::log10(least) + 1e-9);; power += stride)
    for (const double times : {1.0, 2.0, 5.0}) {
      if (times > 1 && decades > 3.5) continue;
      const double tick = times * std::pow(10, power);
      if (tick <= least) ticks.clear();
      ticks.push_back(tick);
      if (tick >= most) return ticks;
    }
}

std::vector<double> round_steps(double least, double most) {
  const double step = round_step(most - least);
  std::vector<double> ticks;
  for (double i = std::floor(least / step + 1e-9);; ++i) {
    ticks.push_back(i * step);
    if (ticks.back() >= most - 1e-9 * step) return ticks;
  }
}

}  // namespace

Plot relative_plot(Plot plot) {
  plot.relative = true;
  for (auto& line : plot.lines) {
    const auto first =
        std::ranges::find_if(line.values, [](const auto& v) { return v.has_value(); });
    if (first == line.values.end()) continue;
    const double whole = **first;
    const auto at = static_cast<std::size_t>(first - line.values.begin());
    const double whole_across = line.across.empty() ? 1 : line.across[at];
    if (whole == 0 || whole_across == 0)
      throw std::invalid_argument((whole == 0 ? plot.figure : plot.against) + " is zero at " +
                                  plot.along + " " + plot.places[at] +
                                  (line.name.empty() ? "" : " of " + plot.by + " " + line.name) +
                                  ", the first of its line; nothing is relative to that");
    for (auto& value : line.values)
      if (value) *value = 100 * *value / whole;
    for (auto& value : line.across) value = 100 * value / whole_across;
  }
  return plot;
}

std::vector<PlotLine> drawn_lines(const Plot& plot) {
  std::vector<PlotLine> lines;
  for (const int line : spread(static_cast<int>(plot.lines.size()), static_cast<int>(most_lines)))
    lines.push_back(plot.lines[static_cast<std::size_t>(line)]);
  return lines;
}

std::vector<std::size_t> marks_of(const PlotLine& line) {
  std::vector<std::size_t> marks;
  for (std::size_t i = 0; i < line.values.size(); ++i)
    if (line.values[i]) marks.push_back(i);
  return marks;
}

Scale::Scale(const std::vector<double>& values) {
  if (!values.empty()) {
    least_ = std::ranges::min(values);
    most_ = std::ranges::max(values);
  }
  powers_ = least_ > 0 && most_ > 50 * least_;
  if (!powers_ && least_ > 0 && least_ < most_ / 2) least_ = 0;
  if (most_ - least_ <= 1e-9 * std::abs(most_)) least_ = most_ > 0 ? 0 : most_ - 1;
}

double Scale::share(double value) const {
  return powers_ ? std::log(value / least_) / std::log(most_ / least_)
                 : (value - least_) / (most_ - least_);
}

double Scale::value(double share) const {
  return powers_ ? least_ * std::pow(most_ / least_, share) : least_ + share * (most_ - least_);
}

void Scale::widen(double least, double most) {
  least_ = std::min(least_, least);
  most_ = std::max(most_, most);
}

Scale upward_scale(const Plot& plot, const std::vector<PlotLine>& lines) {
  std::vector<double> values;
  for (const auto& line : lines)
    for (const auto& value : line.values)
      if (value) values.push_back(*value);
  if (plot.band) values.insert(values.end(), {plot.band->low, plot.band->high});
  return Scale(values);
}

Scale rightward_scale(const std::vector<PlotLine>& lines) {
  std::vector<double> values;
  for (const auto& line : lines)
    if (!line.across.empty())
      for (const auto i : marks_of(line)) values.push_back(line.across[i]);
  return Scale(values);
}

std::vector<double> ticks_of(Scale& scale, double unit) {
  const double least = scale.least() / unit, most = scale.most() / unit;
  auto ticks = scale.powers() ? round_powers(least, most) : round_steps(least, most);
  scale.widen(ticks.front() * unit, ticks.back() * unit);
  return ticks;
}

}  // namespace report

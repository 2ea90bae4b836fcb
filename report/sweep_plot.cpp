// SPDX-License-Identifier: Apache-2.0
#include "report/sweep_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "report/picture.hpp"
#include "report/terminal.hpp"

namespace report {
namespace {

constexpr int height = 16, margin = 12;  // rows of the picture; columns of the scale
constexpr std::array<std::string_view, 8> shapes{"●", "○", "■", "□", "▲", "△", "◆", "◇"};
constexpr std::array<std::string_view, 8> letters{"o", "x", "*", "+", "#", "%", "@", "&"};

std::string_view mark(std::size_t line, const TextOptions& options) {
  return options.unicode ? shapes[line] : letters[line];
}

// What stands at the bottom and at the top, and where a value lies between.
class Scale {
 public:
  explicit Scale(const std::vector<PlotLine>& lines) {
    bool any = false;
    for (const auto& line : lines)
      for (const auto& value : line.values) {
        if (!value) continue;
        least_ = any ? std::min(least_, *value) : *value;
        most_ = any ? std::max(most_, *value) : *value;
        any = true;
      }
    powers_ = least_ > 0 && most_ > 50 * least_;
    if (!powers_ && least_ > 0 && least_ < most_ / 2) least_ = 0;
    if (most_ == least_) least_ = most_ > 0 ? 0 : most_ - 1;
  }
  int row(double value) const {
    const double share = powers_ ? std::log(value / least_) / std::log(most_ / least_)
                                 : (value - least_) / (most_ - least_);
    return static_cast<int>(std::lround(share * (height - 1)));
  }
  double value(int row) const {
    const double share = static_cast<double>(row) / (height - 1);
    return powers_ ? least_ * std::pow(most_ / least_, share) : least_ + share * (most_ - least_);
  }
  bool powers() const { return powers_; }

 private:
  double least_ = 0, most_ = 1;
  bool powers_ = false;
};

class Canvas {
 public:
  explicit Canvas(int width)
      : cells_(height, std::vector<std::string_view>(static_cast<std::size_t>(width), " ")) {}
  void put(int column, int row, std::string_view what, bool over) {
    auto& cell = cells_[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)];
    if (over || cell == " ") cell = what;
  }
  std::string text(const Scale& scale, const TextOptions& options) const {
    std::string all;
    for (int row = height - 1; row >= 0; --row) {
      const bool labelled = row % 5 == 0;
      std::string line;
      for (const auto cell : cells_[static_cast<std::size_t>(row)]) line += cell;
      line.resize(line.find_last_not_of(' ') + 1);
      all += right(labelled ? fmt::format("{:.4g}", scale.value(row)) : "", margin - 2) +
             (options.unicode ? (labelled ? " ┤" : " │") : (labelled ? " +" : " |")) + line + '\n';
    }
    return all;
  }

 private:
  std::vector<std::vector<std::string_view>> cells_;  // from the bottom
};

int column_of(std::size_t place, std::size_t places, int width) {
  if (places < 2) return width / 2;
  return 1 + static_cast<int>(place * static_cast<std::size_t>(width - 3) / (places - 1));
}

void draw(Canvas& canvas, const PlotLine& line, const Scale& scale, std::string_view shape,
          int width, const TextOptions& options) {
  std::optional<std::pair<int, double>> before;
  for (std::size_t i = 0; i < line.values.size(); ++i) {
    if (!line.values[i]) continue;
    const int column = column_of(i, line.values.size(), width);
    const int row = scale.row(*line.values[i]);
    for (int c = before ? before->first + 1 : column; c < column; ++c)
      canvas.put(c,
                 static_cast<int>(
                     std::lround(before->second + (row - before->second) * (c - before->first) /
                                                      (column - before->first))),
                 options.unicode ? "·" : ".", false);
    canvas.put(column, row, shape, true);
    before = {column, row};
  }
}

// Names below the picture, those left out that have no room.
std::string places_text(const std::vector<std::string>& places, int width,
                        const TextOptions& options) {
  std::string text;
  int end = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto name = fitted(printable(places[i], options.unicode), 16);
    const int length = columns(name);
    const int begin =
        std::clamp(column_of(i, places.size(), width) - length / 2, 0, std::max(0, width - length));
    if (i > 0 && begin < end + 2) continue;
    text += std::string(static_cast<std::size_t>(begin - end), ' ') + name;
    end = begin + length;
  }
  return text;
}

}  // namespace

std::string sweep_plot(const Plot& plot, const TextOptions& options) {
  const int width = width_of(options) - margin;
  std::vector<PlotLine> lines;
  for (const int line :
       spread(static_cast<int>(plot.lines.size()), static_cast<int>(shapes.size())))
    lines.push_back(plot.lines[static_cast<std::size_t>(line)]);
  const Scale scale(lines);
  Canvas canvas(width);
  for (std::size_t i = 0; i < lines.size(); ++i)
    draw(canvas, lines[i], scale, mark(i, options), width, options);
  std::string text = heading(plot.figure + (scale.powers() ? ", by powers of ten" : ""), options) +
                     canvas.text(scale, options);
  const std::string pad(static_cast<std::size_t>(margin - 1), ' ');
  text += pad + (options.unicode ? "└" : "+");
  for (int i = 0; i < width; ++i) text += options.unicode ? "─" : "-";
  text += '\n' + pad + ' ' + places_text(plot.places, width, options) + '\n';
  text += pad + ' ' + printable(plot.along, options.unicode) + '\n';
  if (plot.by.empty()) return text;
  std::string key = plot.by + ":";
  for (std::size_t i = 0; i < lines.size(); ++i)
    key += fmt::format("  {} {}", mark(i, options), printable(lines[i].name, options.unicode));
  text += wrapped(key, margin, width_of(options));
  if (lines.size() < plot.lines.size())
    text +=
        pad + fmt::format(" ({} between these are not shown)\n", plot.lines.size() - lines.size());
  return text;
}

}  // namespace report

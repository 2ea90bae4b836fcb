// SPDX-License-Identifier: Apache-2.0
#include "report/sweep/sweep_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>

#include "report/sweep/sweep_plot_parts.hpp"
#include "report/terminal.hpp"

namespace report {
namespace {

constexpr int plot_rows = 16, margin = 12;  // rows of the picture; columns of the scale
constexpr std::array<std::string_view, most_lines> shapes{"●", "○", "■", "□", "▲", "△", "◆", "◇"};
constexpr std::array<std::string_view, most_lines> letters{"o", "x", "*", "+", "#", "%", "@", "&"};

std::string_view mark(std::size_t line, const TextOptions& options) {
  return options.unicode ? shapes[line] : letters[line];
}

double height_of(int row) { return static_cast<double>(row) / (plot_rows - 1); }
int row_of(const Scale& scale, double value) {
  return static_cast<int>(std::lround(scale.share(value) * (plot_rows - 1)));
}

class Canvas {
 public:
  explicit Canvas(int width)
      : cells_(plot_rows, std::vector<std::string_view>(static_cast<std::size_t>(width), " ")) {}
  void put(int column, int row, std::string_view what, bool over) {
    auto& cell = cells_[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)];
    if (over || cell == " ") cell = what;
  }
  // Writes the name of a mark to its right, or to its left, if no other mark or name is there.
  void name(int column, int row, const std::string& what, std::string_view dot) {
    auto& line = cells_[static_cast<std::size_t>(row)];
    const int width = static_cast<int>(line.size()), length = static_cast<int>(what.size());
    for (const int first : {column + 2, column - 1 - length}) {
      if (first < 0 || first + length > width) continue;
      const auto cells = std::span(line).subspan(static_cast<std::size_t>(first), what.size());
      if (std::ranges::any_of(cells, [&](auto cell) { return cell != " " && cell != dot; }))
        continue;
      for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = std::string_view(what).substr(i, 1);
      return;
    }
  }
  void dash(int row, std::string_view what) {
    for (auto& cell : cells_[static_cast<std::size_t>(row)])
      if (cell == " ") cell = what;
  }
  std::string text(const Scale& scale, const TextOptions& options) const {
    std::string all;
    for (int row = plot_rows - 1; row >= 0; --row) {
      const bool labelled = row % 5 == 0;
      std::string line;
      for (const auto cell : cells_[static_cast<std::size_t>(row)]) line += cell;
      line.resize(line.find_last_not_of(' ') + 1);
      all += right(labelled ? fmt::format("{:.4g}", scale.value(height_of(row))) : "", margin - 2) +
             (options.unicode ? (labelled ? " ┤" : " │") : (labelled ? " +" : " |")) + line + '\n';
    }
    return all;
  }

 private:
  std::vector<std::vector<std::string_view>> cells_;  // from the bottom
};

std::string_view dot(const TextOptions& options) { return options.unicode ? "·" : "."; }

// The columns of marks: evenly spaced by places of the axis, or by their values of another figure.
class Columns {
 public:
  Columns(const Plot& plot, const std::vector<PlotLine>& lines, int width)
      : places_(plot.places.size()), width_(width) {
    if (!plot.against.empty()) scale_ = rightward_scale(lines);
  }
  int of_share(double share) const {
    return 1 + static_cast<int>(std::lround(share * (width_ - 3)));
  }
  int of_place(std::size_t place) const {
    if (places_ < 2) return width_ / 2;
    return 1 + static_cast<int>(place * static_cast<std::size_t>(width_ - 3) / (places_ - 1));
  }
  int of(const PlotLine& line, std::size_t place) const {
    return scale_ ? of_share(scale_->share(line.across[place])) : of_place(place);
  }
  const std::optional<Scale>& scale() const { return scale_; }
  int width() const { return width_; }

 private:
  std::size_t places_;
  int width_;
  std::optional<Scale> scale_;
};

void draw(Canvas& canvas, const PlotLine& line, const Scale& scale, const Columns& columns,
          std::string_view shape, const TextOptions& options) {
  std::optional<std::pair<int, double>> before;
  for (const auto i : marks_of(line)) {
    const int column = columns.of(line, i), row = row_of(scale, *line.values[i]);
    for (int c = before && line.across.empty() ? before->first + 1 : column; c < column; ++c)
      canvas.put(c,
                 static_cast<int>(
                     std::lround(before->second + (row - before->second) * (c - before->first) /
                                                      (column - before->first))),
                 dot(options), false);
    canvas.put(column, row, shape, true);
    before = {column, row};
  }
}

void name_places(Canvas& canvas, const PlotLine& line, const std::vector<std::string>& names,
                 const Scale& scale, const Columns& columns, std::string_view dot) {
  for (const auto i : marks_of(line))
    canvas.name(columns.of(line, i), row_of(scale, *line.values[i]), names[i], dot);
}

struct Label {
  int column;
  std::string text;
};

std::vector<Label> labels_below(const Plot& plot, const Columns& columns,
                                const TextOptions& options) {
  std::vector<Label> labels;
  if (columns.scale()) {
    for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0})
      labels.push_back(
          {columns.of_share(share), fmt::format("{:.4g}", columns.scale()->value(share))});
    return labels;
  }
  for (std::size_t i = 0; i < plot.places.size(); ++i)
    labels.push_back({columns.of_place(i), fitted(printable(plot.places[i], options.unicode), 16)});
  return labels;
}

// Returns the labels below the picture, without those that have no room.
std::string labels_text(const std::vector<Label>& labels, int width) {
  std::string text;
  int end = 0;
  for (const auto& [column, name] : labels) {
    const int length = columns(name);
    const int begin = std::clamp(column - length / 2, 0, std::max(0, width - length));
    if (end > 0 && begin < end + 2) continue;
    text += std::string(static_cast<std::size_t>(begin - end), ' ') + name;
    end = begin + length;
  }
  return text;
}

std::string heading_of(const Plot& plot, const Scale& up, const Columns& columns) {
  std::string text = plot.figure;
  if (!plot.against.empty()) text += " against " + plot.against;
  if (plot.relative) text += ", in percent of the first of each line";
  if (plot.best_of_others) text += ", the best over the other axes";
  if (up.powers()) text += ", by powers of ten";
  if (columns.scale() && columns.scale()->powers()) text += ", to the right by powers of ten";
  return text;
}

std::string legend_of(const Plot& plot, const std::vector<PlotLine>& lines,
                      const TextOptions& options) {
  std::string key = plot.by.empty() ? "" : plot.by + ":";
  for (std::size_t i = 0; !plot.by.empty() && i < lines.size(); ++i)
    key += fmt::format("  {} {}", mark(i, options), printable(lines[i].name, options.unicode));
  if (plot.band)
    key += fmt::format("{}{} {:.4g} to {:.4g}", key.empty() ? "" : "  ",
                       options.unicode ? "╌" : "-", plot.band->low, plot.band->high);
  return key;
}

}  // namespace

std::string sweep_plot(const Plot& plot, const TextOptions& options) {
  const int width = width_of(options) - margin;
  const auto lines = drawn_lines(plot);
  const auto scale = upward_scale(plot, lines);
  const Columns columns(plot, lines, width);
  std::vector<std::string> names;
  for (const auto& place : plot.places) names.push_back(printable(place, false));
  Canvas canvas(width);
  for (std::size_t i = 0; i < lines.size(); ++i)
    draw(canvas, lines[i], scale, columns, mark(i, options), options);
  for (std::size_t i = 0; columns.scale() && i < lines.size(); ++i)
    name_places(canvas, lines[i], names, scale, columns, dot(options));
  for (const double edge :
       plot.band ? std::vector{plot.band->low, plot.band->high} : std::vector<double>{})
    canvas.dash(row_of(scale, edge), options.unicode ? "╌" : "-");
  std::string text =
      heading(heading_of(plot, scale, columns), options) + canvas.text(scale, options);
  const std::string pad(static_cast<std::size_t>(margin - 1), ' ');
  text += pad + (options.unicode ? "└" : "+");
  for (int i = 0; i < width; ++i) text += options.unicode ? "─" : "-";
  text += '\n' + pad + ' ' + labels_text(labels_below(plot, columns, options), width) + '\n';
  const auto& right = plot.against.empty() ? plot.along : plot.against;
  text += pad + ' ' + printable(right, options.unicode) + '\n';
  if (!plot.where.empty())
    text += wrapped("where " + printable(plot.where, options.unicode), margin, width_of(options));
  if (const auto key = legend_of(plot, lines, options); !key.empty())
    text += wrapped(key, margin, width_of(options));
  if (lines.size() < plot.lines.size())
    text +=
        pad + fmt::format(" ({} between these are not shown)\n", plot.lines.size() - lines.size());
  return text;
}

}  // namespace report

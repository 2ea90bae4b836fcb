// SPDX-License-Identifier: Apache-2.0
#include "report/html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/terminal.hpp"

namespace report {
namespace {

constexpr std::string_view style = R"(
:root { color-scheme: light dark; --ink: #1c1c1c; --paper: #fdfdfc; --faint: #8a8a8a; --line: #d8d8d4; --band: #00000012; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e6e3; --paper: #161618; --faint: #8f8f94; --line: #38383c; --band: #ffffff16; } }
body { font: 15px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 2rem auto; max-width: 76rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .15rem .6rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; vertical-align: top; }
th.n, td.n { text-align: left; white-space: normal; }
.plots { display: flex; flex-wrap: wrap; gap: 1.5rem; } figure { margin: 0; flex: 1 1 30rem; } figcaption { font-weight: 600; }
figure > svg { width: 100%; height: auto; font: 12px system-ui, sans-serif; }
svg text { fill: var(--ink); } .grid { stroke: var(--line); } .even { stroke: var(--faint); } .band { fill: var(--band); }
circle { fill-opacity: .65; }
.g0 { fill: #0072b2; } .g1 { fill: #e69f00; } .g2 { fill: #009e73; } .g3 { fill: #d55e00; }
.g4 { fill: #cc79a7; } .g5 { fill: #56b4e9; } .g6 { fill: #999933; } .g7 { fill: #888888; }
)";
constexpr std::size_t colours = 8;

// The square that dots are drawn in, and how logarithms map to it.
class Axes {
 public:
  explicit Axes(const std::vector<Dot>& dots) {
    double least = dots.front().measured, most = least;
    for (const auto& dot : dots) {
      least = std::min({least, dot.measured, dot.predicted});
      most = std::max({most, dot.measured, dot.predicted});
    }
    low_ = std::log10(least) - margin;
    high_ = std::log10(most) + margin;
  }
  double x(double value) const { return left + size * along(value); }
  double y(double value) const { return top + size * (1 - along(value)); }
  double low() const { return std::pow(10, low_); }
  double high() const { return std::pow(10, high_); }
  // Powers of ten inside.
  std::vector<double> ticks() const {
    std::vector<double> values;
    for (int power = static_cast<int>(std::ceil(low_)); power <= high_; ++power)
      values.push_back(std::pow(10, power));
    return values;
  }

  static constexpr double left = 70, top = 10, size = 500;

 private:
  static constexpr double margin = 0.08;  // of a power of ten
  double along(double value) const { return (std::log10(value) - low_) / (high_ - low_); }
  double low_ = 0, high_ = 0;
};

std::string grid(const Axes& axes, std::string (*label)(double)) {
  const double end = Axes::left + Axes::size, bottom = Axes::top + Axes::size;
  std::string svg;
  for (const double tick : axes.ticks()) {
    const double x = axes.x(tick), y = axes.y(tick);
    const auto text = escaped(label(tick));
    svg += fmt::format(
        "<path class=\"grid\" d=\"M{:.1f} {:.1f}V{:.1f}M{:.1f} {:.1f}H{:.1f}\"/>"
        "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>"
        "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
        x, Axes::top, bottom, Axes::left, y, end, x, bottom + 16, text, Axes::left - 6, y + 4,
        text);
  }
  return svg + fmt::format(
                   "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">measured</text>"
                   "<text x=\"14\" y=\"{:.1f}\" text-anchor=\"middle\" transform=\"rotate(-90 14 "
                   "{:.1f})\">predicted</text>\n",
                   Axes::left + Axes::size / 2, bottom + 34, Axes::top + Axes::size / 2,
                   Axes::top + Axes::size / 2);
}

// A tenth to both sides of the diagonal, clipped by a picture inside the picture.
std::string band(const Axes& axes) {
  const double low = axes.low(), high = axes.high();
  return fmt::format(
      "<svg x=\"{0:.0f}\" y=\"{1:.0f}\" width=\"{2:.0f}\" height=\"{2:.0f}\" "
      "viewBox=\"{0:.0f} {1:.0f} {2:.0f} {2:.0f}\"><polygon class=\"band\" "
      "points=\"{3:.1f},{4:.1f} "
      "{5:.1f},{6:.1f} {5:.1f},{7:.1f} {3:.1f},{8:.1f}\"/></svg>\n"
      "<path class=\"even\" d=\"M{3:.1f} {9:.1f}L{5:.1f} {10:.1f}\"/>\n",
      Axes::left, Axes::top, Axes::size, axes.x(low), axes.y(1.1 * low), axes.x(high),
      axes.y(1.1 * high), axes.y(0.9 * high), axes.y(0.9 * low), axes.y(low), axes.y(high));
}

std::string legend(const std::vector<std::string>& groups) {
  std::string svg;
  double y = Axes::top + 18;
  for (std::size_t i = 0; i < groups.size(); ++i, y += 17)
    svg += fmt::format(
        "<circle class=\"g{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\"/>"
        "<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
        i % colours, Axes::left + 14, y, Axes::left + 24, y + 4, escaped(groups[i]));
  return svg;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : printable(text, true)) switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        safe += c;
    }
  return safe;
}

std::string html_table(const std::vector<std::string>& head,
                       const std::vector<std::vector<std::string>>& rows, std::size_t names) {
  const auto line = [&](const std::vector<std::string>& cells, std::string_view tag) {
    std::string text = "<tr>";
    for (std::size_t i = 0; i < cells.size(); ++i)
      text += fmt::format("<{}{}>{}</{}>", tag, i < names ? " class=\"n\"" : "", escaped(cells[i]),
                          tag);
    return text + "</tr>\n";
  };
  std::string text =
      "<div class=\"scroll\"><table>\n<thead>" + line(head, "th") + "</thead>\n<tbody>\n";
  for (const auto& row : rows) text += line(row, "td");
  return text + "</tbody></table></div>\n";
}

std::string html_page(std::string_view title, std::string_view body) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n{}</body>\n</html>\n",
      escaped(title), style, body);
}

std::string scatter(const std::vector<Dot>& dots, const std::vector<std::string>& groups,
                    std::string_view title, std::string (*label)(double)) {
  if (dots.empty()) return {};
  const Axes axes(dots);
  std::string svg = fmt::format(
      "<figure><figcaption>{}</figcaption>\n<svg viewBox=\"0 0 590 560\" role=\"img\">\n",
      escaped(title));
  svg += grid(axes, label) + band(axes);
  for (const auto& dot : dots)
    svg += fmt::format(
        "<circle class=\"g{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"><title>{}</title></circle>\n",
        static_cast<std::size_t>(std::ranges::find(groups, dot.group) - groups.begin()) % colours,
        axes.x(dot.measured), axes.y(dot.predicted), escaped(dot.title));
  return svg + legend(groups) + "</svg></figure>\n";
}

}  // namespace report

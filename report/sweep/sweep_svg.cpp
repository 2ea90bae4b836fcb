// SPDX-License-Identifier: Apache-2.0
// A figure of a sweep as SVG. Places in the image are pixels at its natural size; marks differ in
// shape as well as in colour.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "report/sweep/sweep_plot_parts.hpp"
#include "report/terminal.hpp"

namespace report {
namespace {

constexpr double height = 420, top = 62, below = 58, right_margin = 26;
constexpr double plot_width = 540, plot_height = height - top - below;
constexpr double legend_gap = 18, legend_row = 20;
constexpr int longest_name = 34;

constexpr std::array<std::string_view, most_lines> on_light{
    "#0969da", "#bc4c00", "#1a7f37", "#8250df", "#cf222e", "#59636e", "#9a6700", "#bf3989"};
constexpr std::array<std::string_view, most_lines> on_dark{
    "#4493f8", "#f0883e", "#3fb950", "#ab7df8", "#f85149", "#9198a1", "#d29922", "#db61a2"};

// Text as it may stand in XML, whatever it holds.
std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : printable(text, true)) {
    if (c == '&')
      safe += "&amp;";
    else if (c == '<')
      safe += "&lt;";
    else if (c == '>')
      safe += "&gt;";
    else if (c == '"')
      safe += "&quot;";
    else
      safe += c;
  }
  for (const std::string_view none : {"\xef\xbf\xbe", "\xef\xbf\xbf"})  // no characters in XML
    for (auto at = safe.find(none); at != safe.npos; at = safe.find(none, at))
      safe.replace(at, none.size(), "?");
  return safe;
}

// The name of a figure on an axis, and the divisor of its values.
struct FigureWords {
  std::string text;
  double unit = 1;
};

FigureWords figure_words(std::string_view figure, bool relative) {
  FigureWords words;
  if (figure.starts_with("tokens_per_s"))
    words.text = figure.ends_with("_per_gpu") ? "tokens/s per GPU" : "tokens/s";
  else if (figure == "mfu" || figure == "hfu")
    words.text = figure == "mfu" ? "MFU" : "HFU";
  else if (figure == "peak_bytes")
    words = {relative ? "peak memory per GPU" : "peak memory per GPU, GiB", 0x1p30};
  else if (figure.ends_with("_s"))
    words.text = std::string(figure.substr(0, figure.size() - 2)) + (relative ? "" : ", seconds");
  else
    words.text = figure;
  std::ranges::replace(words.text, '_', ' ');
  if (relative) words = {words.text + ", % of the first of each line", 1};
  return words;
}

// "16,384", "0.05", "1e+12"
std::string coordinate(double value) {
  const bool whole = value == std::round(value) && std::abs(value) < 1e12;
  return whole && std::abs(value) >= 1000 ? grouped(value) : fmt::format("{:.6g}", value);
}

std::string place_name(const std::string& place) {
  const bool digits =
      !place.empty() && std::ranges::all_of(place, [](char c) { return c >= '0' && c <= '9'; });
  return digits && place.size() < 10 ? coordinate(std::stod(place)) : place;
}

std::string text_at(double x, double y, std::string_view kind, std::string_view text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\">{}</text>\n", x, y, kind,
                     escaped(text));
}

// Returns the mark of a line, filled or hollow: ● ○ ■ □ ▲ △ ◆ ◇.
std::string mark_at(std::size_t line, double x, double y, const std::string& tip) {
  constexpr std::array<std::string_view, 4> outlines{
      "m-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0z", "m-3.6,-3.6h7.2v7.2h-7.2z", "m0,-4.8l4.6,8.2h-9.2z",
      "m0,-5l5,5l-5,5l-5,-5z"};
  return fmt::format("<path class=\"{}\" d=\"M{:.1f},{:.1f}{}\">{}</path>\n",
                     line % 2 == 0 ? "full" : "hollow", x, y, outlines[line / 2],
                     tip.empty() ? "" : "<title>" + escaped(tip) + "</title>");
}

std::string styles(std::size_t lines) {
  const auto paints = [&](std::string_view page, std::string_view ink, std::string_view faint,
                          std::string_view grid, const auto& colours) {
    std::string text = fmt::format(
        ".page,.hollow{{fill:{0}}}text{{fill:{1}}}.faint{{fill:{2}}}.grid{{stroke:{3}}}"
        ".band{{fill:{2}}}\n",
        page, ink, faint, grid);
    for (std::size_t i = 0; i < lines; ++i) text += fmt::format(".l{}{{color:{}}}", i, colours[i]);
    return text + "\n";
  };
  return "<style>\ntext{font:13px system-ui,-apple-system,\"Segoe "
         "UI\",Helvetica,Arial,sans-serif}\n"
         ".title{font-size:15px;font-weight:600}.small{font-size:11px}.middle{text-anchor:middle}"
         ".end{text-anchor:end}\n.grid{stroke-width:1}.band{fill-opacity:.16}"
         ".line{fill:none;stroke:currentColor;stroke-width:2;stroke-linejoin:round}\n"
         ".full,.hollow{stroke:currentColor;stroke-width:1.6}.full{fill:currentColor}\n" +
         paints("#ffffff", "#1f2328", "#59636e", "#d8dee4", on_light) +
         "@media(prefers-color-scheme:dark){\n" +
         paints("#0d1117", "#f0f6fc", "#9198a1", "#30363d", on_dark) +
         ".full{fill:currentColor}}\n" + "</style>\n";
}

struct Box {
  double x = 0, y = 0, width = 0, height = 0;
  bool meets(const Box& other) const {
    return x < other.x + other.width && other.x < x + width && y < other.y + other.height &&
           other.y < y + height;
  }
};

// The layout of the image, and its parts.
class Sheet {
 public:
  explicit Sheet(const Plot& plot)
      : plot_(plot),
        lines_(drawn_lines(plot)),
        up_words_(figure_words(plot.figure, plot.relative)),
        right_words_(figure_words(plot.against, plot.relative)),
        up_(upward_scale(plot, lines_)),
        right_(rightward_scale(lines_)),
        up_ticks_(ticks_of(up_, up_words_.unit)) {
    for (const double tick : up_ticks_)
      left_margin_ = std::max(left_margin_, 20 + 8.0 * columns(coordinate(tick)));
    if (!plot.against.empty()) right_ticks_ = ticks_of(right_, right_words_.unit);
  }

  std::string text() {
    const double wide = width(), tall = height + (plot_.where.empty() ? 0 : 18);
    const std::string said = escaped(plot_.title.empty() ? plot_.figure : plot_.title);
    std::string text = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
        "viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\">\n<title>{2}</title>\n",
        wide, tall, said);
    text += styles(lines_.size());
    text += fmt::format("<rect class=\"page\" width=\"{:.0f}\" height=\"{:.0f}\"/>\n", wide, tall);
    if (!plot_.title.empty()) text += text_at(16, 26, "title", plot_.title);
    text += text_at(16, plot_.title.empty() ? 28 : 47, "faint", heading());
    text += upward_axis() + rightward_axis();
    if (!plot_.against.empty())
      for (const auto& line : lines_)
        for (const auto i : marks_of(line))
          names_.push_back({x(line, i) - 4, y(*line.values[i]) - 4, 8, 8});
    for (std::size_t i = 0; i < lines_.size(); ++i) text += line(i);
    if (!plot_.where.empty())
      text += text_at(16, height + 8, "small faint",
                      "where " + fitted(plot_.where, static_cast<int>((wide - 60) / 5.8)));
    return text + legend() + "</svg>\n";
  }

 private:
  double x(const PlotLine& line, std::size_t place) const {
    if (!plot_.against.empty()) return x_of(right_.share(line.across[place]));
    return x_of_place(place);
  }
  double x_of(double share) const { return left_margin_ + share * plot_width; }
  double x_of_place(std::size_t place) const {
    const auto last = static_cast<double>(plot_.places.size() - 1);
    return x_of(last == 0 ? 0.5 : 0.02 + 0.96 * static_cast<double>(place) / last);
  }
  double y(double value) const { return top + (1 - up_.share(value)) * plot_height; }

  double width() const {
    int longest = plot_.by == "name" ? 0 : columns(plot_.by);
    for (const auto& line : lines_) longest = std::max(longest, columns(line.name) + 3);
    const bool any = !plot_.by.empty() || plot_.band;
    return left_margin_ + plot_width +
           (any ? legend_gap + 7 * std::clamp(longest, 14, longest_name) + 16 : right_margin);
  }

  std::string heading() const {
    std::string text = up_words_.text;
    if (!plot_.against.empty()) text += " against " + right_words_.text;
    if (plot_.best_of_others) text += ", the best over the other axes";
    return text;
  }

  std::string upward_axis() const {
    std::string text;
    if (plot_.band)
      text += fmt::format(
          "<rect class=\"band\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>\n",
          left_margin_, y(plot_.band->high), plot_width, y(plot_.band->low) - y(plot_.band->high));
    for (const double tick : up_ticks_) {
      const double at = y(tick * up_words_.unit);
      text += fmt::format("<path class=\"grid\" d=\"M{:.1f},{:.1f}h{:.1f}\"/>\n", left_margin_, at,
                          plot_width);
      text += text_at(left_margin_ - 8, at + 4, "faint end", coordinate(tick));
    }
    return text;
  }

  std::string rightward_axis() const {
    const double bottom = top + plot_height;
    std::string text;
    const auto label = [&](double at, const std::string& name) {
      text += fmt::format("<path class=\"grid\" d=\"M{:.1f},{:.1f}v5\"/>\n", at, bottom);
      text += text_at(at, bottom + 20, "faint middle", name);
    };
    if (!plot_.against.empty()) {
      for (const double tick : right_ticks_)
        label(x_of(right_.share(tick * right_words_.unit)), coordinate(tick));
    } else {
      double end = 0;
      for (std::size_t i = 0; i < plot_.places.size(); ++i) {
        const auto name = fitted(place_name(plot_.places[i]), 24);
        const double half = 3.6 * columns(name);
        if (i > 0 && x_of_place(i) - half < end + 4) continue;
        label(x_of_place(i), name);
        end = x_of_place(i) + half;
      }
    }
    return text + text_at(left_margin_ + plot_width / 2, bottom + 44, "middle",
                          plot_.against.empty() ? plot_.along : right_words_.text);
  }

  // Returns a name beside its mark if it hides no other name there; else nothing, and only the
  // mark's tip has it.
  std::string name_at(double across, double up, const std::string& name) {
    const double wide = 5.8 * columns(name), high = 12;
    for (const double down : {-6.0, 15.0})
      for (const bool right : {true, false}) {
        const Box box{right ? across + 7 : across - 7 - wide, up + down - high, wide, high};
        if (box.x < left_margin_ ||
            std::ranges::any_of(names_, [&](const Box& other) { return box.meets(other); }))
          continue;
        names_.push_back(box);
        return text_at(box.x, up + down, "small faint", name);
      }
    return "";
  }

  std::string line(std::size_t index) {
    const auto& line = lines_[index];
    std::string way, marks, names;
    for (const auto i : marks_of(line)) {
      const double across = x(line, i), up = y(*line.values[i]);
      way += fmt::format("{}{:.1f},{:.1f}", way.empty() ? "M" : "L", across, up);
      const auto place = place_name(plot_.places[i]);
      auto tip = (line.name.empty() ? "" : line.name + ", ") + plot_.along + " " + place + ": " +
                 fmt::format("{:.4g}", *line.values[i] / up_words_.unit);
      if (!plot_.against.empty()) {
        tip += fmt::format(" against {:.4g}", line.across[i] / right_words_.unit);
        names += name_at(across, up, fitted(place, 24));
      }
      marks += mark_at(index, across, up, tip);
    }
    if (way.empty()) return "";
    if (!plot_.against.empty())
      return fmt::format("<g class=\"l{}\">\n{}{}</g>\n", index, marks, names);
    return fmt::format("<g class=\"l{}\">\n<path class=\"line\" d=\"{}\"/>\n{}</g>\n", index, way,
                       marks);
  }

  std::string legend() const {
    const double at = left_margin_ + plot_width + legend_gap;
    double down = top + 8;
    std::string text;
    if (!plot_.by.empty() && plot_.by != "name") {
      text += text_at(at, down, "faint", plot_.by);
      down += legend_row;
    }
    for (std::size_t i = 0; !plot_.by.empty() && i < lines_.size(); ++i, down += legend_row)
      text += fmt::format("<g class=\"l{}\">\n", i) + mark_at(i, at + 6, down - 4, "") +
              text_at(at + 18, down, "", fitted(place_name(lines_[i].name), longest_name - 3)) +
              "</g>\n";
    if (lines_.size() < plot_.lines.size()) {
      text += text_at(at, down, "faint small",
                      fmt::format("{} between not shown", plot_.lines.size() - lines_.size()));
      down += legend_row;
    }
    if (plot_.band)
      text += fmt::format(
                  "<rect class=\"band\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"12\" "
                  "height=\"12\"/>\n",
                  at, down - 10) +
              text_at(at + 18, down, "",
                      coordinate(plot_.band->low / up_words_.unit) + " to " +
                          coordinate(plot_.band->high / up_words_.unit));
    return text;
  }

  const Plot& plot_;
  std::vector<PlotLine> lines_;
  FigureWords up_words_, right_words_;
  Scale up_, right_;
  std::vector<double> up_ticks_, right_ticks_;
  double left_margin_ = 68;
  std::vector<Box> names_;  // of marks, and the marks themselves
};

}  // namespace

std::string sweep_svg(const Plot& plot) { return Sheet(plot).text(); }

}  // namespace report

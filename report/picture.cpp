// SPDX-License-Identifier: Apache-2.0
#include "report/picture.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "report/terminal.hpp"

namespace report {
namespace {

constexpr std::size_t shades = 8;

struct Look {
  const char *glyph, *ascii;      // of a shaded cell
  const char *rest, *ascii_rest;  // what follows a label inside its mark
  const char* colour;
  const char* meaning;
};

constexpr std::array<Look, shades> looks{{
    {"█", "F", "─", "-", "34", "forward"},
    {"▒", "B", "═", "=", "32", "backward"},
    {"░", "W", "┄", "+", "36", "weight gradient"},
    {"▓", "R", "~", "~", "33", "recompute"},
    {"▀", "O", "^", "^", "35", "optimizer"},
    {"~", "~", "~", "~", "31", "communication"},
    {"+", "+", "+", "+", "37", "other"},
    {"·", ".", "·", ".", "90", "idle"},
}};

const Look& look_of(Shade shade) { return looks[static_cast<std::size_t>(shade)]; }

// One character of the picture: a glyph of one column, and what it means.
struct Cell {
  std::string glyph;
  Shade shade = Shade::idle;
};

struct PictureScale {
  double begin = 0, per_cell = 1;
  int cells = 0;
  double position(double time) const {
    return std::clamp((time - begin) / per_cell, 0.0, static_cast<double>(cells));
  }
  std::size_t nearest(double time) const {
    return static_cast<std::size_t>(std::lround(position(time)));
  }
};

std::string glyph(Shade shade, const TextOptions& options) {
  return options.unicode ? look_of(shade).glyph : look_of(shade).ascii;
}

// The share of each shade in each cell. Marks in front take their room first; later marks get what
// remains of the cell, and the rest is idle.
using Shares = std::vector<std::array<double, shades>>;

Shares shares_of(const PictureRow& row, const PictureScale& scale) {
  Shares shares(static_cast<std::size_t>(scale.cells));
  std::vector<double> room(shares.size(), 1.0);
  for (const Mark& mark : row.marks) {
    const double from = scale.position(mark.start), to = scale.position(mark.end);
    for (auto cell = static_cast<std::size_t>(from);
         cell < shares.size() && static_cast<double>(cell) < to; ++cell) {
      const double covered =
          std::min(to, static_cast<double>(cell + 1)) - std::max(from, static_cast<double>(cell));
      const double taken = std::min(covered, room[cell]);
      shares[cell][static_cast<std::size_t>(mark.shade)] += taken;
      room[cell] -= taken;
    }
  }
  for (std::size_t cell = 0; cell < shares.size(); ++cell)
    if (room[cell] > 1e-9) shares[cell][static_cast<std::size_t>(Shade::idle)] += room[cell];
  return shares;
}

// Draws one shade in each cell. Every shade saves up the share that it was not shown; among the
// shades in a cell, the one that is owed most is drawn. So alternations finer than a cell keep
// their proportions.
std::vector<Cell> shaded(const PictureRow& row, const PictureScale& scale,
                         const TextOptions& options) {
  std::vector<Cell> cells;
  std::array<double, shades> owed{};
  for (const auto& share : shares_of(row, scale)) {
    std::size_t shown = shades - 1;
    double most = -1e300;
    for (std::size_t shade = 0; shade < shades; ++shade) {
      owed[shade] += share[shade];
      if (share[shade] > 1e-9 && owed[shade] > most + 1e-9) {
        most = owed[shade];
        shown = shade;
      }
    }
    owed[shown] -= 1.0;
    cells.push_back({glyph(static_cast<Shade>(shown), options), static_cast<Shade>(shown)});
  }
  return cells;
}

std::vector<Cell> labelled(const PictureRow& row, const PictureScale& scale,
                           const TextOptions& options) {
  std::vector<Cell> cells(static_cast<std::size_t>(scale.cells),
                          {glyph(Shade::idle, options), Shade::idle});
  for (auto mark = row.marks.rbegin(); mark != row.marks.rend(); ++mark) {
    const Look& look = look_of(mark->shade);
    const std::size_t start = scale.nearest(mark->start), end = scale.nearest(mark->end);
    for (std::size_t cell = start; cell < end; ++cell)
      cells[cell] = {cell - start < mark->label.size()
                         ? mark->label.substr(cell - start, 1)
                         : (options.unicode ? look.rest : look.ascii_rest),
                     mark->shade};
  }
  return cells;
}

bool labels_fit(const std::vector<PictureRow>& rows, const PictureScale& scale) {
  const bool any = std::ranges::any_of(rows, [](const PictureRow& row) {
    return std::ranges::any_of(row.marks, [](const Mark& mark) { return !mark.label.empty(); });
  });
  return any && std::ranges::all_of(rows, [&](const PictureRow& row) {
           return std::ranges::all_of(row.marks, [&](const Mark& mark) {
             return mark.label.empty() ||
                    scale.nearest(mark.end) >= scale.nearest(mark.start) + mark.label.size();
           });
         });
}

std::string joined(const std::vector<Cell>& cells, const TextOptions& options) {
  std::string line;
  const Cell* previous = nullptr;
  for (const Cell& cell : cells) {
    if (options.colour && (!previous || previous->shade != cell.shade))
      line += std::string("\x1b[") + look_of(cell.shade).colour + 'm';
    line += cell.glyph;
    previous = &cell;
  }
  if (options.colour && previous) line += "\x1b[0m";
  return line;
}

std::string key(const std::array<bool, shades>& seen, bool labels, const TextOptions& options) {
  std::string text;
  for (std::size_t shade = 0; shade < shades; ++shade) {
    if (!seen[shade]) continue;
    const Look& look = looks[shade];
    const Cell sample{labels && static_cast<Shade>(shade) != Shade::idle
                          ? (options.unicode ? look.rest : look.ascii_rest)
                          : glyph(static_cast<Shade>(shade), options),
                      static_cast<Shade>(shade)};
    text += (text.empty() ? "" : "   ") + joined({sample}, options) + ' ' + look.meaning;
  }
  return text;
}

}  // namespace

std::string pass_label(char letter, std::int64_t microbatch, std::int64_t chunk, bool chunks) {
  std::string label(1, letter);
  label += std::to_string(microbatch);
  if (!chunks) return label;
  if (chunk < 26) return label += static_cast<char>('a' + std::max<std::int64_t>(chunk, 0));
  return (label += '.') += std::to_string(chunk);
}

std::vector<int> spread(int count, int most) {
  std::vector<int> chosen;
  const int shown = std::min(count, most);
  for (int i = 0; i < shown; ++i) chosen.push_back(shown == 1 ? 0 : i * (count - 1) / (shown - 1));
  return chosen;
}

std::string picture(const std::vector<PictureRow>& rows, double begin, double end,
                    const TextOptions& options) {
  int title_width = 0;
  for (const PictureRow& row : rows) title_width = std::max(title_width, columns(row.title));
  const int cells = std::max(10, width_of(options) - title_width - 4);
  if (!(end > begin)) return {};
  const PictureScale scale{begin, (end - begin) / cells, cells};
  const bool labels = labels_fit(rows, scale);

  std::string text;
  std::array<bool, shades> seen{};
  for (const PictureRow& row : rows) {
    const auto drawn = labels ? labelled(row, scale, options) : shaded(row, scale, options);
    for (const Cell& cell : drawn) seen[static_cast<std::size_t>(cell.shade)] = true;
    text += "  " + left(row.title, title_width) + "  " + joined(drawn, options) + '\n';
  }
  return text + "  " + left("", title_width) + "  " + key(seen, labels, options) + '\n';
}

}  // namespace report

// SPDX-License-Identifier: Apache-2.0
// A figure of a sweep along one or two of its axes, in the terminal.
#include "report/sweep_plot.hpp"

#include <algorithm>

#include "app/sweep.hpp"
#include "scenarios/value_json.hpp"
#include "units/spelling.hpp"

namespace app {
namespace {

// Which axis of the grid, and which of its paths.
struct Column {
  std::size_t axis = 0, path = 0;
};

std::string listed(const std::vector<std::string_view>& names) {
  std::string text;
  for (const auto name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

Mistake unknown(const std::string& option, const std::string& word,
                const std::vector<std::string_view>& known) {
  std::string text = option + " " + word + ": expected one of " + listed(known);
  if (const auto near = units::nearest_word(word, known); !near.empty())
    text += "; did you mean '" + std::string(near) + "'?";
  return Mistake(text);
}

std::size_t figure_named(const std::string& name) {
  const auto figures = search::figures();
  const auto found = std::ranges::find(figures, name, &search::Figure::name);
  if (found != figures.end()) return static_cast<std::size_t>(found - figures.begin());
  std::vector<std::string_view> known;
  for (const auto& figure : figures) known.push_back(figure.name);
  throw unknown("--figure", name, known);
}

// The axis of that name; or, where none is named, the first after `others` with several values.
std::optional<Column> column_of(const scenarios::Grid& grid, const std::string& option,
                                const std::string& name, std::optional<Column> other) {
  std::vector<std::string_view> known;
  for (std::size_t axis = 0; axis < grid.axes.size(); ++axis) {
    const auto& [paths, values] = grid.axes[axis];
    if (name.empty() && values.size() > 1 && !(other && other->axis == axis))
      return Column{axis, 0};
    for (std::size_t path = 0; path < paths.size(); ++path) {
      if (!name.empty() && paths[path] == name) return Column{axis, path};
      known.push_back(paths[path]);
    }
  }
  if (name.empty()) return {};
  throw unknown(option, name, known);
}

std::string label(const scenarios::Grid& grid, const Column& column, std::size_t index) {
  const auto& value = grid.axes[column.axis].values[index][column.path];
  return value.kind == scenarios::Value::Kind::scalar ? value.text : scenarios::json_of(value);
}

std::vector<std::size_t> ranks_of(const std::vector<std::size_t>& order) {
  std::vector<std::size_t> ranks(order.size());
  for (std::size_t rank = 0; rank < order.size(); ++rank) ranks[order[rank]] = rank;
  return ranks;
}

}  // namespace

int sweep_plot(const StoresRequest& request, const Common& common, Streams streams) {
  const Rows rows(request.stores);
  const auto& grid = rows.grid();
  const auto figure_index =
      figure_named(request.figure.empty() ? "tokens_per_s_per_gpu" : request.figure);
  const auto& figure = search::figures()[figure_index];
  auto along = column_of(grid, "--along", request.along, {});
  if (!along) along = Column{};
  const auto by = column_of(grid, "--by", request.by, along);
  if (by && by->axis == along->axis)
    throw Mistake("--by " + request.by + ": moves together with what runs to the right");

  const auto order = scenarios::sorted_indices(grid);
  report::Plot plot{std::string(figure.name),
                    grid.axes[along->axis].paths[along->path],
                    by ? grid.axes[by->axis].paths[by->path] : "",
                    {},
                    {}};
  for (const auto index : order[along->axis]) plot.places.push_back(label(grid, *along, index));
  plot.lines.resize(by ? order[by->axis].size() : 1);
  for (std::size_t i = 0; i < plot.lines.size(); ++i) {
    if (by) plot.lines[i].name = label(grid, *by, order[by->axis][i]);
    plot.lines[i].values.resize(plot.places.size());
  }
  const auto along_rank = ranks_of(order[along->axis]);
  const auto by_rank = by ? ranks_of(order[by->axis]) : std::vector<std::size_t>{};
  const auto total = positions(grid);
  for (std::int64_t position = 0; position < total; ++position) {
    const auto row = rows.row(position);
    if (!row || row->status != "ok") continue;
    const auto indices = scenarios::indices_at(grid, position);
    auto& best =
        plot.lines[by ? by_rank[indices[by->axis]] : 0].values[along_rank[indices[along->axis]]];
    const double value = row->figures[figure_index];
    if (!best || (figure.less_is_better ? value < *best : value > *best)) best = value;
  }
  if (grid.axes.size() > (by ? 2u : 1u)) plot.figure += ", the best over the other axes";
  auto options = text_options(streams);
  if (!common.output.empty()) options.colour = false;
  deliver(report::sweep_plot(plot, options), common, streams);
  return success;
}

}  // namespace app

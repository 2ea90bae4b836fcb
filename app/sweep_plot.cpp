// SPDX-License-Identifier: Apache-2.0
// A figure of a sweep along one or two of its axes, or against another: in the terminal, or as SVG.
#include "report/sweep/sweep_plot.hpp"

#include <algorithm>
#include <cmath>

#include "app/sweep.hpp"
#include "scenarios/documents/value_json.hpp"
#include "scenarios/sweeps/sweep_paths.hpp"
#include "units/spelling.hpp"

namespace app {
namespace {

// The indices of an axis of the grid and of one of its paths.
struct Column {
  std::size_t axis = 0, path = 0;
};

std::string listed(const std::vector<std::string_view>& names) {
  std::string text;
  for (const auto name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

// The request as indices of figures and of axes of the grid.
struct Asked {
  std::size_t figure = 0;
  std::optional<std::size_t> against;
  Column along;
  std::optional<Column> by;
};

Mistake unknown(const std::string& option, const std::string& word,
                const std::vector<std::string_view>& known) {
  std::string text = option + " " + word + ": expected one of " + listed(known);
  if (const auto near = units::nearest_word(word, known); !near.empty())
    text += "; did you mean '" + std::string(near) + "'?";
  return Mistake(text);
}

std::size_t figure_named(const std::string& option, const std::string& name) {
  const auto figures = search::figures();
  const auto found = std::ranges::find(figures, name, &search::Figure::name);
  if (found != figures.end()) return static_cast<std::size_t>(found - figures.begin());
  std::vector<std::string_view> known;
  for (const auto& figure : figures) known.push_back(figure.name);
  throw unknown(option, name, known);
}

// Returns the axis and path of that name or, if no name is given, the first axis with several
// values that is not `other`'s.
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

Asked asked_of(const StoresRequest& request, const scenarios::Grid& grid) {
  Asked asked;
  asked.figure =
      figure_named("--figure", request.figure.empty() ? "tokens_per_s_per_gpu" : request.figure);
  if (!request.against.empty()) asked.against = figure_named("--against", request.against);
  asked.along = column_of(grid, "--along", request.along, {}).value_or(Column{});
  asked.by = column_of(grid, "--by", request.by, asked.along);
  if (asked.by && asked.by->axis == asked.along.axis)
    throw Mistake("--by " + request.by + ": moves together with what runs to the right");
  return asked;
}

report::Plot empty_plot(const scenarios::Grid& grid, const Asked& asked,
                        const std::vector<std::vector<std::size_t>>& order) {
  const auto name = [&](const Column& column) { return grid.axes[column.axis].paths[column.path]; };
  report::Plot plot{std::string(search::figures()[asked.figure].name),
                    name(asked.along),
                    asked.by ? name(*asked.by) : "",
                    {},
                    {}};
  plot.title = grid.name;
  if (asked.against) plot.against = search::figures()[*asked.against].name;
  for (const auto index : order[asked.along.axis])
    plot.places.push_back(label(grid, asked.along, index));
  plot.lines.resize(asked.by ? order[asked.by->axis].size() : 1);
  for (std::size_t i = 0; i < plot.lines.size(); ++i) {
    if (asked.by) plot.lines[i].name = label(grid, *asked.by, order[asked.by->axis][i]);
    plot.lines[i].values.resize(plot.places.size());
    if (asked.against) plot.lines[i].across.resize(plot.places.size());
  }
  return plot;
}

// Returns the plot without the lines and the places that have no value.
report::Plot without_gaps(report::Plot plot) {
  std::erase_if(plot.lines, [](const auto& line) {
    return std::ranges::none_of(line.values, [](const auto& value) { return value.has_value(); });
  });
  for (std::size_t place = plot.places.size(); place-- > 0;) {
    if (std::ranges::any_of(plot.lines,
                            [&](const auto& line) { return line.values[place].has_value(); }))
      continue;
    const auto at = static_cast<std::ptrdiff_t>(place);
    plot.places.erase(plot.places.begin() + at);
    for (auto& line : plot.lines) {
      line.values.erase(line.values.begin() + at);
      if (!line.across.empty()) line.across.erase(line.across.begin() + at);
    }
  }
  return plot;
}

scenarios::Grid slice_of(const scenarios::Grid& grid, const std::string& where) {
  try {
    return scenarios::narrowed(grid, where);
  } catch (const scenarios::ConditionError& wrong) {
    throw Mistake("--where '" + where + "', character " + std::to_string(wrong.at + 1) + ": " +
                  wrong.what());
  }
}

report::Plot plot_of(const StoredSweep& rows, const scenarios::Grid& grid, const Asked& asked) {
  const auto order = scenarios::sorted_indices(grid);
  auto plot = empty_plot(grid, asked, order);
  const auto along_rank = ranks_of(order[asked.along.axis]);
  const auto by_rank = asked.by ? ranks_of(order[asked.by->axis]) : std::vector<std::size_t>{};
  const auto total = positions(grid);
  for (std::int64_t position = 0; position < total; ++position) {
    if (!holds(grid, position)) continue;
    const auto row = rows.row(position);
    if (!row || row->status != "ok") continue;
    const auto indices = scenarios::indices_at(grid, position);
    auto& line = plot.lines[asked.by ? by_rank[indices[asked.by->axis]] : 0];
    const auto place = along_rank[indices[asked.along.axis]];
    auto& best = line.values[place];
    const double value = row->figures[asked.figure];
    plot.best_of_others |= best.has_value();
    if (best && (search::figures()[asked.figure].less_is_better ? value >= *best : value <= *best))
      continue;
    best = value;
    if (asked.against) line.across[place] = row->figures[*asked.against];
  }
  return plot;
}

report::Plot::Band band_of(const std::vector<double>& ends) {
  if (ends[0] < ends[1] && std::isfinite(ends[1] - ends[0])) return {ends[0], ends[1]};
  throw Mistake("--band: the first number is the lower end, the second the upper, such as 85 95");
}

}  // namespace

int sweep_plot(const StoresRequest& request, const Common& common, Streams streams) {
  if (common.json)
    throw Mistake("sweep plot: --json: a picture is no document; `sweep export --json` has points");
  const Outputs outputs(common);
  for (const auto& file : request.stores) outputs.spare_store(file);
  const StoredSweep rows(request.stores);
  if (const auto why = rows.nothing_ok()) {
    streams.err << "stepcast: there is nothing to draw, for no point of the sweep is ok:\n";
    for (const auto& words : report::nothing_ok_words(*why, scenarios::axis_names(rows.grid())))
      streams.err << "  " << words << '\n';
    return no_answer;
  }
  const bool narrow = !request.where.empty();
  const auto grid = narrow ? slice_of(rows.grid(), request.where) : rows.grid();
  auto plot = plot_of(rows, grid, asked_of(request, grid));
  if (narrow) plot = without_gaps(std::move(plot));
  plot.where = request.where;
  if (plot.lines.empty())
    throw Mistake("--where '" + request.where + "': no point there is ok; `sweep export` says why");
  if (!request.band.empty()) plot.band = band_of(request.band);
  if (request.relative) try {
      plot = report::relative_plot(std::move(plot));
    } catch (const std::invalid_argument& wrong) {
      throw Mistake("--relative: " + std::string(wrong.what()));
    }
  if (common.output.ends_with(".svg")) {
    deliver(report::sweep_svg(plot), common, streams);
    return success;
  }
  auto options = text_options(streams);
  if (!common.output.empty()) options.colour = false;
  deliver(report::sweep_plot(plot, options), common, streams);
  return success;
}

}  // namespace app

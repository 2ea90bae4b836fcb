// SPDX-License-Identifier: Apache-2.0
#include "scenarios/sweeps/grid.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <tuple>

#include "scenarios/documents/value_json.hpp"
#include "units/text.hpp"

namespace scenarios {
namespace {

using Parse = std::optional<double> (*)(const Value&);

template <auto parse>
std::optional<double> axis_quantity(const Value& value) {
  if (value.kind != Value::Kind::scalar) return {};
  try {
    return parse(value.text).value;
  } catch (const std::invalid_argument&) {
    return {};
  }
}

// Returns the function that measures the values of an axis to compare them: as numbers, or as
// quantities of one kind.
Parse measure_of(const std::vector<const Value*>& values) {
  for (const Parse parse :
       {Parse(number_of), Parse(axis_quantity<units::parse_bytes>),
        Parse(axis_quantity<units::parse_bandwidth>), Parse(axis_quantity<units::parse_flop_rate>),
        Parse(axis_quantity<units::parse_duration>), Parse(axis_quantity<units::parse_power>),
        Parse(axis_quantity<units::parse_money>)})
    if (std::ranges::all_of(values, [&](const Value* value) { return parse(*value).has_value(); }))
      return parse;
  return number_of;
}

struct AxisPlace {
  bool word;  // after all numbers
  double number;
  std::string text;
  friend bool operator<(const AxisPlace& a, const AxisPlace& b) {
    return std::tie(a.word, a.number, a.text) < std::tie(b.word, b.number, b.text);
  }
};

std::vector<std::size_t> sorted(const Axis& axis) {
  std::vector<std::vector<AxisPlace>> places(axis.values.size());
  for (std::size_t path = 0; path < axis.paths.size(); ++path) {
    std::vector<const Value*> column;
    for (const auto& values : axis.values) column.push_back(&values[path]);
    const auto measure = measure_of(column);
    for (std::size_t i = 0; i < column.size(); ++i) {
      const auto number = measure(*column[i]);
      places[i].push_back(
          {!number, number.value_or(0), number ? std::string() : json_of(*column[i])});
    }
  }
  std::vector<std::size_t> order(axis.values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order,
                           [&](std::size_t a, std::size_t b) { return places[a] < places[b]; });
  return order;
}

}  // namespace

std::int64_t positions(const Grid& grid) {
  constexpr auto most = std::int64_t{1} << 62;
  std::int64_t product = 1;
  for (const auto& axis : grid.axes) {
    const auto size = static_cast<std::int64_t>(axis.values.size());
    if (size > 0 && product > most / size) return most;
    product *= size;
  }
  return product;
}

std::vector<std::size_t> indices_at(const Grid& grid, std::int64_t position) {
  std::vector<std::size_t> indices(grid.axes.size());
  for (std::size_t axis = indices.size(); axis-- > 0;) {
    const auto size = static_cast<std::int64_t>(grid.axes[axis].values.size());
    indices[axis] = static_cast<std::size_t>(position % size);
    position /= size;
  }
  return indices;
}

std::size_t combination_of(const Grid& grid, std::span<const std::size_t> axes,
                           std::span<const std::size_t> indices) {
  std::size_t at = 0;
  for (const auto axis : axes) at = at * grid.axes[axis].values.size() + indices[axis];
  return at;
}

std::vector<std::size_t> indices_of(const Grid& grid, std::span<const std::size_t> axes,
                                    std::size_t combination) {
  std::vector<std::size_t> indices(grid.axes.size());
  for (std::size_t i = axes.size(); i-- > 0;) {
    const auto size = grid.axes[axes[i]].values.size();
    indices[axes[i]] = combination % size;
    combination /= size;
  }
  return indices;
}

std::size_t combinations(const Grid& grid, std::span<const std::size_t> axes) {
  std::size_t product = 1;
  for (const auto axis : axes) product *= grid.axes[axis].values.size();
  return product;
}

bool holds(const Grid& grid, std::int64_t position) {
  if (grid.terms.empty()) return grid.condition.holds({});
  const auto indices = indices_at(grid, position);
  std::vector<Operand> operands;
  operands.reserve(grid.terms.size());
  for (const auto& term : grid.terms)
    operands.push_back(term.values[combination_of(grid, term.axes, indices)]);
  return grid.condition.holds(operands);
}

std::int64_t count(const Grid& grid) {
  const auto total = positions(grid);
  if (grid.only_if.empty()) return total;
  std::int64_t left_in = 0;
  for (std::int64_t position = 0; position < total; ++position)
    left_in += holds(grid, position) ? 1 : 0;
  return left_in;
}

std::vector<std::string> axis_names(const Grid& grid) {
  std::vector<std::string> names;
  for (const auto& axis : grid.axes)
    names.insert(names.end(), axis.paths.begin(), axis.paths.end());
  return names;
}

std::vector<std::vector<std::size_t>> sorted_indices(const Grid& grid) {
  std::vector<std::vector<std::size_t>> order;
  for (const auto& axis : grid.axes) order.push_back(sorted(axis));
  return order;
}

}  // namespace scenarios

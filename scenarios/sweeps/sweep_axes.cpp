// SPDX-License-Identifier: Apache-2.0
// Axes of a sweep: lists, ranges, and lists that move together.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "scenarios/documents/value_json.hpp"
#include "scenarios/sweeps/sweep_keys.hpp"

namespace scenarios {
namespace {

constexpr double most_values = 1'000'000;  // of one axis

struct Span {
  std::optional<double> from, to, step, factor;
};

const Table<Span>& span_table() {
  constexpr Range any{-1e18, 1e18, ""};
  const auto key = [&](std::string_view name, std::string_view description,
                       std::optional<double> Span::*member) {
    return Key<Span>{
        {name, description, "", {.type = Type::number, .range = any}},
        [member](Span& span, const Cursor& at) { span.*member = to_number(at.value()); }};
  };
  static const Table<Span> table{
      key("from", "First value", &Span::from), key("to", "No value lies beyond", &Span::to),
      key("step", "What is added from value to value", &Span::step),
      key("factor", "What values are multiplied by, one after the other", &Span::factor)};
  return table;
}

// Returns the number as a value; fractions have at most 12 digits, so that sums of tenths are
// tenths.
Value axis_number(double value, const Value& at) {
  char digits[40];
  const bool whole = value == std::floor(value) && std::abs(value) < 0x1p53;
  const auto end =
      whole ? std::to_chars(digits, digits + sizeof digits, static_cast<std::int64_t>(value)).ptr
            : std::to_chars(digits, digits + sizeof digits, value, std::chars_format::general, 12)
                  .ptr;
  Value result;
  result.kind = Value::Kind::scalar;
  result.text.assign(digits, end);
  result.line = at.line;
  result.column = at.column;
  result.set = at.set;
  return result;
}

// Returns the mistake in the span, in words; empty if there is none.
std::string mistake_of(const Span& span) {
  if (!span.from || !span.to || span.step.has_value() == span.factor.has_value())
    return "a range has from, to, and either step or factor: {from: 1, to: 8, factor: 2}";
  if (span.step && (*span.step == 0 || (*span.to < *span.from) != (*span.step < 0)))
    return "a step of " + plain(*span.step) + " never leads from " + plain(*span.from) + " to " +
           plain(*span.to);
  if (span.factor && (*span.factor <= 1 || *span.from <= 0 || *span.to < *span.from))
    return "a range with a factor grows: from above zero, to no less, factor above one";
  const double values = span.step ? (*span.to - *span.from) / *span.step
                                  : std::log(*span.to / *span.from) / std::log(*span.factor);
  if (values > most_values) return "makes more than " + plain(most_values) + " values";
  return {};
}

// Returns the values of a span. Each is computed from the first, so that errors do not add up.
std::vector<Value> values_of(const Span& span, const Value& at) {
  const double slack = 1e-9 * std::max(std::abs(*span.from), std::abs(*span.to));
  std::vector<Value> values;
  for (double i = 0;; ++i) {
    const double value =
        span.step ? *span.from + i * *span.step : *span.from * std::pow(*span.factor, i);
    if ((value - *span.to) * (span.step.value_or(1) < 0 ? -1 : 1) > slack) return values;
    values.push_back(axis_number(value, at));
  }
}

std::optional<std::vector<Value>> read_range(const Cursor& at) {
  Span span;
  read_map(span_table(), span, at);
  if (at.reading().doubtful(at.path())) return {};
  if (const auto mistake = mistake_of(span); !mistake.empty()) {
    at.complain(mistake);
    return {};
  }
  return values_of(span, at.value());
}

std::optional<std::vector<Value>> read_axis_values(const Cursor& at) {
  if (at.value().kind == Value::Kind::map) return read_range(at);
  if (at.value().kind != Value::Kind::list) {
    at.complain("expected a list of values, or a range such as {from: 1, to: 8, factor: 2}");
    return {};
  }
  if (at.value().items.empty()) {
    at.complain("a list without values; expected one at least");
    return {};
  }
  return at.value().items;
}

// Complains of a combination that is given twice, at the first path's list.
void check_distinct(const Axis& axis, const Cursor& at) {
  std::vector<std::string> seen;
  for (const auto& values : axis.values) {
    std::string text;
    for (const auto& value : values) text += (text.empty() ? "" : ", ") + json_of(value);
    seen.push_back(text);
  }
  std::ranges::sort(seen);
  const auto twice = std::ranges::adjacent_find(seen);
  if (twice != seen.end()) at.complain(*twice + " stands there twice; keep one of them");
}

}  // namespace

Form axes_form() { return {.type = Type::map}; }
Form joined_axes_form() {
  return {.type = Type::list, .range = {1, 1000, ""}, .forms = {{.type = Type::map}}};
}

void read_axes(Grid& grid, const Cursor& at) {
  for (const auto& member : at.value().members) {
    const auto here = at.member(member);
    auto values = read_axis_values(here);
    if (!values) continue;
    Axis axis{{member.key.text}, {}};
    for (auto& value : *values) axis.values.push_back({std::move(value)});
    check_distinct(axis, here);
    grid.axes.push_back(std::move(axis));
  }
}

void read_joined_axes(Grid& grid, const Cursor& at) {
  for (std::size_t i = 0; i < at.value().items.size(); ++i) {
    const auto map = at.item(i);
    if (!check({.type = Type::map}, map)) continue;
    if (map.value().members.empty()) {
      map.complain("a map without paths; expected paths, each with a list of values");
      continue;
    }
    Axis axis;
    bool right = true;
    for (const auto& member : map.value().members) {
      const auto here = map.member(member);
      auto values = read_axis_values(here);
      if (!values) {
        right = false;
        continue;
      }
      if (axis.paths.empty()) axis.values.resize(values->size());
      axis.paths.push_back(member.key.text);
      if (values->size() != axis.values.size()) {
        here.complain(std::to_string(values->size()) + " values, but " + axis.paths.front() +
                      " has " + std::to_string(axis.values.size()) + "; they move together");
        right = false;
        continue;
      }
      for (std::size_t k = 0; k < values->size(); ++k)
        axis.values[k].push_back(std::move((*values)[k]));
    }
    if (!right) continue;
    check_distinct(axis, map);
    grid.axes.push_back(std::move(axis));
  }
}

namespace {

constexpr std::string_view followed =
    "expected {of: [PATH], values: [a value for each combination]}";

// Returns the axes that a follower names, in this order.
std::optional<std::vector<std::size_t>> read_followed(const Grid& grid, const Cursor& at) {
  std::vector<std::size_t> axes;
  for (std::size_t i = 0; i < at.value().items.size(); ++i) {
    const auto& name = at.value().items[i].text;
    const auto axis = std::ranges::find_if(grid.axes, [&](const Axis& one) {
      return std::ranges::find(one.paths, name) != one.paths.end();
    });
    const auto index = static_cast<std::size_t>(axis - grid.axes.begin());
    if (axis == grid.axes.end() || std::ranges::find(axes, index) != axes.end()) {
      at.item(i).complain("'" + name + "' " +
                          (axis == grid.axes.end() ? "is not varied; name paths under vary or "
                                                     "together"
                                                   : "stands there twice, or with a path that "
                                                     "moves together with it"));
      return {};
    }
    axes.push_back(index);
  }
  return axes;
}

}  // namespace

Form followers_form() { return {.type = Type::map}; }

void read_followers(Grid& grid, const Cursor& at) {
  if (at.value().kind != Value::Kind::map) return;
  for (const auto& member : at.value().members) {
    const auto here = at.member(member);
    const auto of = here.find("of"), values = here.find("values");
    if (!of || !values || here.value().members.size() != 2 ||
        of->value().kind != Value::Kind::list || of->value().items.empty() ||
        values->value().kind != Value::Kind::list) {
      here.complain(std::string(followed));
      continue;
    }
    const auto axes = read_followed(grid, *of);
    if (!axes) continue;
    Follower follower{member.key.text, *axes, values->value().items};
    if (const auto wanted = combinations(grid, *axes); follower.values.size() != wanted)
      values->complain(std::to_string(follower.values.size()) + " values, but these axes have " +
                       std::to_string(wanted) + " combinations");
    grid.followers.push_back(std::move(follower));
  }
}

std::pair<std::string, Value> axis_place(const std::string& path, bool last, const Cursor& root) {
  std::pair<std::string, Value> found{"", root.value()};
  const auto look = [&](const Value& map, const std::string& prefix) {
    for (const auto& member : map.members)
      if (member.key.text == path && (last || found.first.empty())) found = {prefix, member.key};
  };
  if (const auto* vary = root.value().find("vary")) look(*vary, "vary.");
  if (const auto* together = root.value().find("together"))
    for (std::size_t i = 0; i < together->items.size(); ++i)
      look(together->items[i], "together." + std::to_string(i) + ".");
  if (const auto* follow = root.value().find("follow")) look(*follow, "follow.");
  return found;
}

}  // namespace scenarios

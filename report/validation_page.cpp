// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "report/html.hpp"
#include "report/terminal.hpp"
#include "report/validation.hpp"
#include "units/text.hpp"

namespace report {
namespace {

using forecast::DatasetScore;
using forecast::Errors;
using forecast::Row;
using Cells = std::vector<std::string>;

constexpr std::size_t worst_rows = 40, worst_rows_of_a_set = 3;

std::string shown(std::optional<double> share, bool sign = false) {
  if (!share) return "";
  return sign ? signed_percent(*share) : percent(*share);
}

template <class Quantity>
std::string shown(const std::optional<Quantity>& quantity) {
  return quantity ? units::short_text(*quantity) : "";
}

std::string seconds_label(double value) { return units::short_text(units::Seconds{value}); }
std::string bytes_label(double value) {
  return fmt::format("{:g} GB", value * 1e-9);  // powers of ten, as the axis has them
}

// --- The plots -----------------------------------------------------------------------------------

template <class Quantity>
std::vector<Dot> dots_of(const forecast::Score& score, std::optional<Quantity> Row::*measured,
                         std::optional<Quantity> Row::*predicted, bool timed) {
  std::vector<Dot> dots;
  for (const auto& dataset : score.datasets)
    for (const Row& row : dataset.rows) {
      const auto &was = row.*measured, &said = row.*predicted;
      if (row.status != Row::Status::ok || !was || !said || (timed && !row.time_counts)) continue;
      if (!(was->value > 0) || !(said->value > 0)) continue;
      dots.push_back({was->value, said->value, row.groups[0],
                      fmt::format("{}: {}: measured {}, predicted {}, {}", dataset.name, row.id,
                                  shown(was), shown(said), signed_percent((*said - *was) / *was))});
    }
  return dots;
}

std::string plots(const forecast::Score& score) {
  std::set<std::string> names;
  for (const auto& dataset : score.datasets)
    for (const Row& row : dataset.rows)
      if (!row.groups[0].empty()) names.insert(row.groups[0]);
  const std::vector<std::string> devices(names.begin(), names.end());
  return "<div class=\"plots\">\n" +
         scatter(dots_of(score, &Row::measured_s, &Row::predicted_s, true), devices,
                 "Step time; the band is a tenth to both sides", seconds_label) +
         scatter(dots_of(score, &Row::measured_bytes, &Row::predicted_bytes, false), devices,
                 "Memory of the fullest device", bytes_label) +
         "</div>\n";
}

// --- The tables ----------------------------------------------------------------------------------

void add_errors(Cells& cells, const Errors& errors) {
  for (auto text :
       {shown(errors.mape), shown(errors.median, true), shown(errors.p90), shown(errors.worst)})
    cells.push_back(std::move(text));
}

std::string time_table(const forecast::Score& score) {
  std::vector<Cells> rows;
  const auto add = [&](Cells cells, const Errors& time, std::optional<double> coverage,
                       std::optional<double> left_out) {
    add_errors(cells, time);
    for (const auto& text : {shown(coverage), shown(left_out), time.worst_id})
      cells.push_back(text);
    rows.push_back(std::move(cells));
  };
  for (const auto& set : score.datasets)
    add({set.name, fmt::format("{} of {}", set.supported, set.rows.size())}, set.time, set.coverage,
        set.coverage_left_out);
  add({"all, each data set one vote",
       fmt::format("{} of {}", score.rows - score.unsupported, score.rows)},
      score.time, score.coverage, score.coverage_left_out);
  return "<h2>Step time</h2>\n<p>Mean absolute and median signed error, what nine rows of ten do "
         "not exceed, and the worst; the share of rows inside their 80 % interval, and inside that "
         "which all other data sets give.</p>\n" +
         html_table({"data set", "rows run", "mean abs", "median", "p90", "worst", "in 80 %",
                     "left out", "worst row"},
                    rows);
}

std::string memory_table(const forecast::Score& score) {
  std::vector<Cells> rows;
  const auto add = [&](const std::string& name, const Errors& memory) {
    Cells cells{name, std::to_string(memory.rows)};
    add_errors(cells, memory);
    cells.push_back(memory.worst_id);
    rows.push_back(std::move(cells));
  };
  for (const auto& set : score.datasets)
    if (set.memory.rows > 0) add(set.name, set.memory);
  if (rows.empty()) return {};
  add("all, each data set one vote", score.memory);
  return "<h2>Memory</h2>\n" +
         html_table({"data set", "rows", "mean abs", "median", "p90", "worst", "worst row"}, rows);
}

std::string outcomes_table(const forecast::Score& score) {
  std::vector<Cells> rows;
  const auto add = [&](const std::string& name, const forecast::Outcomes& outcomes) {
    Cells cells{name};
    for (const auto count : {outcomes.ran_as_forecast, outcomes.ran_against_forecast,
                             outcomes.overflowed_against_forecast, outcomes.overflowed_as_forecast})
      cells.push_back(std::to_string(count));
    rows.push_back(std::move(cells));
  };
  for (const auto& dataset : score.datasets)
    if (forecast::any_overflow(dataset.outcomes)) add(dataset.name, dataset.outcomes);
  add("all", score.outcomes);
  return "<h2>Fits or not</h2>\n<p>Data sets with runs that ran out of memory, or were said "
         "to.</p>\n" +
         html_table({"data set", "ran, forecast to fit", "ran, not to fit",
                     "out of memory, forecast to fit", "out of memory, not to fit"},
                    rows);
}

std::string passes_table(const forecast::Score& score) {
  if (score.passes.empty()) return {};
  std::vector<Cells> rows;
  for (const auto& pass : score.passes) {
    rows.push_back({pass.kind, std::to_string(pass.time.rows)});
    add_errors(rows.back(), pass.time);
  }
  return "<h2>Passes of one stage and layers</h2>\n" +
         html_table({"pass", "rows", "mean abs", "median", "p90", "worst"}, rows);
}

std::string causes_tables(const forecast::Score& score) {
  std::string text = "<h2>By cause</h2>\n";
  for (const auto& cause : score.causes) {
    std::vector<Cells> rows;
    for (const auto& group : cause.groups) {
      rows.push_back({group.group, std::to_string(group.time.rows)});
      add_errors(rows.back(), group.time);
      rows.back().push_back(std::to_string(group.memory.rows));
      rows.back().push_back(shown(group.memory.mape));
    }
    if (!rows.empty())
      text += html_table({cause.cause, "rows", "mean abs", "median", "p90", "worst", "memory rows",
                          "mean abs"},
                         rows) +
              "<p></p>\n";
  }
  return text;
}

// --- The worst -----------------------------------------------------------------------------------

struct Miss {
  const DatasetScore* dataset;
  const Row* row;
  double error;
};

// The furthest off of all, few of each data set, or one would fill the table.
std::vector<Miss> worst_of(const forecast::Score& score) {
  std::vector<Miss> all, kept;
  for (const auto& dataset : score.datasets)
    for (const Row& row : dataset.rows)
      if (const auto off = forecast::counted_error(row)) all.push_back({&dataset, &row, *off});
  std::ranges::stable_sort(
      all, [](const auto& a, const auto& b) { return std::abs(a.error) > std::abs(b.error); });
  std::map<std::string, std::size_t> taken;
  for (const auto& miss : all)
    if (kept.size() < worst_rows && taken[miss.dataset->name]++ < worst_rows_of_a_set)
      kept.push_back(miss);
  return kept;
}

std::string worst_table(const forecast::Score& score) {
  std::vector<Cells> rows;
  for (const auto& [dataset, row, off] : worst_of(score)) {
    std::string assumed;
    for (const auto& one : row->assumed) assumed += (assumed.empty() ? "" : "; ") + one;
    rows.push_back({dataset->name, row->id, assumed, shown(row->measured_s),
                    shown(row->predicted_s), signed_percent(off)});
  }
  if (rows.empty()) return {};
  return fmt::format("<h2>The worst rows</h2>\n<p>At most {} of a data set.</p>\n",
                     worst_rows_of_a_set) +
         html_table({"data set", "row", "what its source does not state", "measured", "predicted",
                     "error"},
                    rows, 3);
}

std::string unsupported_table(const forecast::Score& score) {
  std::map<std::string, std::size_t> counts;
  for (const auto& dataset : score.datasets)
    for (const Row& row : dataset.rows)
      if (row.status != Row::Status::ok) ++counts[row.reason];
  if (counts.empty()) return {};
  std::vector<std::pair<std::string, std::size_t>> sorted(counts.begin(), counts.end());
  std::ranges::stable_sort(sorted,
                           [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<Cells> rows;
  for (const auto& [reason, count] : sorted) rows.push_back({reason, std::to_string(count)});
  return "<h2>Not supported</h2>\n" + html_table({"reason", "rows"}, rows);
}

std::string summary(const forecast::Score& score) {
  const auto of = [](const Errors& errors) {
    return fmt::format("{} over {} rows of {} data sets", shown(errors.mape), errors.rows,
                       errors.datasets);
  };
  std::string text = "<h1>Forecasts against published measurements</h1>\n<p>";
  if (score.time.mape) text += "Step time: mean absolute error " + of(score.time) + ". ";
  if (score.memory.mape) text += "Memory: " + of(score.memory) + ". ";
  return text + "Every data set has one vote, whatever its size.</p>\n";
}

}  // namespace

std::string validate_page(const forecast::Score& score) {
  return html_page("stepcast: forecasts against published measurements",
                   summary(score) + plots(score) + time_table(score) + memory_table(score) +
                       outcomes_table(score) + passes_table(score) + causes_tables(score) +
                       worst_table(score) + unsupported_table(score));
}

}  // namespace report

// SPDX-License-Identifier: Apache-2.0
#include "report/validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "report/terminal.hpp"
#include "units/text.hpp"

namespace report {
namespace {

using forecast::DatasetScore;
using forecast::Errors;
using forecast::ValidationRow;

std::string percent_or_dash(std::optional<double> share, bool sign = false) {
  if (!share) return "-";
  return sign ? signed_percent(*share) : percent(*share);
}

template <class Quantity>
std::string text_or_dash(const std::optional<Quantity>& quantity) {
  return quantity ? units::short_text(*quantity) : "-";
}

int name_width(const forecast::Score& score, const TextOptions& options) {
  int widest = 16;  // "all, a vote each"
  for (const auto& dataset : score.datasets) widest = std::max(widest, columns(dataset.name));
  return std::min(widest, std::max(20, width_of(options) - 66));
}

std::string shown(const std::string& name, int width, const TextOptions& options) {
  return left(fitted(printable(name, options.unicode), width), width);
}

std::string row_line(const ValidationRow& row, int id_width, const TextOptions& options) {
  const auto off = forecast::error(row);
  std::string line = fmt::format(
      "  {}  {}  {}  {}", shown(row.id, id_width, options), right(text_or_dash(row.measured_s), 10),
      right(text_or_dash(row.predicted_s), 10), right(percent_or_dash(off, true), 9));
  if (row.measured_bytes || row.predicted_bytes)
    line += fmt::format("  {}  {}  {} {}", right(text_or_dash(row.measured_bytes), 10),
                        right(text_or_dash(row.predicted_bytes), 10),
                        right(percent_or_dash(forecast::memory_error(row), true), 9),
                        printable(row.memory_kind, options.unicode));
  for (const auto& pass : row.passes)
    line +=
        fmt::format("\n    {}  {}  {}  {}", left(pass.kind, id_width - 2),
                    right(text_or_dash(pass.measured), 10), right(text_or_dash(pass.predicted), 10),
                    right(percent_or_dash(forecast::error(pass), true), 9));
  if (row.measured_rate)
    line += fmt::format("\n    {}  {}  {}  {}", left("against the median", id_width - 2),
                        right(text_or_dash(row.measured_rate), 10),
                        right(text_or_dash(row.predicted_rate), 10),
                        right(percent_or_dash(row.relative_error, true), 9));
  const std::string_view remark = off && !row.time_counts ? " (time does not count)"
                                  : off && !row.fitted    ? " (shown apart)"
                                                          : "";
  return line + std::string(remark) + '\n';
}

std::string rows_text(const DatasetScore& dataset, const TextOptions& options) {
  int id_width = 4;
  for (const ValidationRow& row : dataset.rows) id_width = std::max(id_width, columns(row.id));
  id_width = std::min(id_width, std::max(20, width_of(options) - 40));
  std::string text = toned(printable(dataset.name, options.unicode), Tone::strong, options) + '\n' +
                     fmt::format("  {}  {}  {}  {}\n", left("row", id_width), right("measured", 10),
                                 right("predicted", 10), right("error", 9));
  for (const ValidationRow& row : dataset.rows)
    if (row.status == ValidationRow::Status::ok) text += row_line(row, id_width, options);
  return text + '\n';
}

std::string errors_text(const Errors& errors) {
  return fmt::format("{}  {}  {}  {}", right(percent_or_dash(errors.mape), 8),
                     right(percent_or_dash(errors.median, true), 9),
                     right(percent_or_dash(errors.p90), 8),
                     right(percent_or_dash(errors.worst), 9));
}

std::string time_line(const std::string& name, std::size_t rows, std::size_t supported,
                      const Errors& time, std::optional<double> coverage,
                      std::optional<double> coverage_left_out, const TextOptions& options) {
  return fmt::format("{}  {:>5}  {:>5}  {}  {}  {}  {}\n", name, rows, supported, errors_text(time),
                     right(percent_or_dash(coverage), 8),
                     right(percent_or_dash(coverage_left_out), 8),
                     printable(time.worst_id, options.unicode));
}

// Returns the label for the mean of the first data sets, or of those that joined in the month
// `added`.
std::string mean_label(const std::string& added) {
  return "mean of " + (added.empty() ? "first" : added);
}

// Returns a table of the data sets, those of one time after the other, each time with its mean if
// it has several.
std::string time_table(const forecast::Score& score, const TextOptions& options) {
  const int width = name_width(score, options);
  std::string text = toned(left("step time", width) +
                               "   rows    run  mean abs     median       p90      worst"
                               "   in 80 %  left out  worst row",
                           Tone::strong, options) +
                     '\n';
  for (const auto& cohort : score.cohorts) {
    for (const auto& dataset : score.datasets)
      if (dataset.added == cohort.added)
        text +=
            time_line(shown(dataset.name, width, options), dataset.rows.size(), dataset.supported,
                      dataset.time, dataset.coverage, dataset.coverage_left_out, options);
    if (score.cohorts.size() > 1)
      text += toned(time_line(shown(mean_label(cohort.added), width, options), cohort.rows,
                              cohort.supported, cohort.time, {}, {}, options),
                    Tone::strong, options);
  }
  return text + time_line(left("all, a vote each", width), score.rows,
                          score.rows - score.unsupported, score.time, score.coverage,
                          score.coverage_left_out, options);
}

// Returns a table of rows that are no part of the totals: those on devices known by their data
// sheets alone, and rates that are compared within a data set.
std::string apart_table(const forecast::Score& score, const TextOptions& options) {
  const int width = name_width(score, options);
  const auto line = [&](const std::string& name, const Errors& time, const Errors& memory) {
    return fmt::format("{}  {:>5}         {}  {}\n", shown(name, width, options), time.rows,
                       errors_text(time), right(percent_or_dash(memory.mape), 8));
  };
  const auto heading = [&](const std::string& what, const std::string& last) {
    return '\n' +
           toned(left(what, width) + "   rows         mean abs     median       p90      worst" +
                     last,
                 Tone::strong, options) +
           '\n';
  };
  std::string text, relative;
  for (const auto& dataset : score.datasets) {
    if (dataset.apart.time.rows + dataset.apart.memory.rows > 0)
      text += line(dataset.name, dataset.apart.time, dataset.apart.memory);
    if (dataset.relative.rows > 0) relative += line(dataset.name, dataset.relative, {});
  }
  if (!text.empty())
    text = heading("not fitted", "    memory") + text +
           line("all of these", score.apart.time, score.apart.memory);
  if (!relative.empty()) text += heading("rates compared", "") + relative;
  return text;
}

std::string memory_table(const forecast::Score& score, const TextOptions& options) {
  if (score.memory.rows == 0) return {};
  const int width = name_width(score, options);
  const auto line = [&](const std::string& name, const Errors& memory) {
    return fmt::format("{}  {:>5}         {}  {}\n", left(name, width), memory.rows,
                       errors_text(memory), printable(memory.worst_id, options.unicode));
  };
  std::string text =
      '\n' +
      toned(left("memory", width) +
                "   rows         mean abs     median       p90      worst  worst row",
            Tone::strong, options) +
      '\n';
  for (const auto& dataset : score.datasets)
    if (dataset.memory.rows > 0) text += line(shown(dataset.name, width, options), dataset.memory);
  return text + line("all, a vote each", score.memory);
}

// Returns a table of the outcomes of data sets with runs that ran out of memory, or were forecast
// to, and of all data sets.
std::string outcomes_table(const forecast::Score& score, const TextOptions& options) {
  const int width = name_width(score, options);
  const auto line = [&](const std::string& name, const forecast::Outcomes& outcomes) {
    return fmt::format("{}  {:>9}  {:>8}  {:>19}  {:>8}\n", left(name, width),
                       outcomes.ran_as_forecast, outcomes.ran_against_forecast,
                       outcomes.overflowed_against_forecast, outcomes.overflowed_as_forecast);
  };
  std::string text;
  for (const auto& dataset : score.datasets)
    if (forecast::any_overflow(dataset.outcomes))
      text += line(shown(dataset.name, width, options), dataset.outcomes);
  if (text.empty()) return {};
  return '\n' +
         toned(left("forecast to fit", width) +
                   "  ran:  yes        no  out of memory:  yes        no",
               Tone::strong, options) +
         '\n' + text + line("all", score.outcomes);
}

std::string passes_table(const forecast::Score& score, const TextOptions& options) {
  if (score.passes.empty()) return {};
  std::string text = '\n' +
                     toned("Passes             rows  mean abs     median       p90      worst",
                           Tone::strong, options) +
                     '\n';
  for (const auto& pass : score.passes)
    text += fmt::format("  {}  {:>5}  {}\n", left(pass.kind, 14), pass.time.rows,
                        errors_text(pass.time));
  return text;
}

std::string causes_table(const forecast::Score& score, const TextOptions& options) {
  int width = 8;
  for (const auto& cause : score.causes)
    for (const auto& group : cause.groups) width = std::max(width, columns(group.group));
  std::string text;
  for (const auto& cause : score.causes)
    for (const auto& group : cause.groups)
      text += fmt::format("  {}  {}  {:>5}  {}  {}  {}\n",
                          left(&group == &cause.groups.front() ? cause.cause : "", 11),
                          left(printable(group.group, options.unicode), width), group.time.rows,
                          right(percent_or_dash(group.time.mape), 8),
                          right(percent_or_dash(group.time.median, true), 9),
                          right(percent_or_dash(group.memory.mape), 8));
  if (text.empty()) return {};
  return '\n' +
         toned(left("By cause", 18 + width) + "rows  mean abs     median    memory", Tone::strong,
               options) +
         '\n' + text;
}

std::string reasons(const forecast::Score& score, const TextOptions& options) {
  std::map<std::string, int> counts;
  for (const auto& dataset : score.datasets)
    for (const ValidationRow& row : dataset.rows)
      if (row.status != ValidationRow::Status::ok) ++counts[row.reason];
  if (counts.empty()) return {};
  std::vector<std::pair<std::string, int>> sorted(counts.begin(), counts.end());
  std::ranges::stable_sort(sorted,
                           [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text = '\n' + toned("Not supported", Tone::strong, options) + '\n';
  for (const auto& [reason, count] : sorted)
    text += fmt::format("  {:>5}  {}\n", count, printable(reason, options.unicode));
  return text;
}

}  // namespace

std::string validate_text(const forecast::Score& score, const TextOptions& options) {
  std::string text;
  for (const auto& dataset : score.datasets)
    if (dataset.supported > 0) text += rows_text(dataset, options);
  return text + time_table(score, options) + memory_table(score, options) +
         apart_table(score, options) + outcomes_table(score, options) +
         passes_table(score, options) + causes_table(score, options) + reasons(score, options);
}

}  // namespace report

// SPDX-License-Identifier: Apache-2.0
#include "report/validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "report/document.hpp"
#include "report/terminal.hpp"
#include "units/text.hpp"

namespace report {
namespace {

using forecast::DatasetScore;
using forecast::Row;

Document row_document(const Row& row) {
  const bool supported = row.status == Row::Status::ok;
  const auto if_supported = [&](auto value) { return supported ? value : std::nullopt; };
  const Document reason = supported && row.reason.empty() ? Document() : Document(row.reason);
  const Document kind = row.memory_kind.empty() ? Document() : Document(row.memory_kind);
  return Object()
      .put("id", row.id)
      .put("status", supported ? "ok" : "unsupported")
      .put("reason", reason)
      .optional("measured_s", row.measured_s)
      .optional("predicted_s", if_supported(row.predicted_s))
      .optional("error", if_supported(forecast::error(row)))
      .optional("low_s", if_supported(row.low_s))
      .optional("high_s", if_supported(row.high_s))
      .put("time_counts", row.time_counts)
      .optional("measured_bytes", row.measured_bytes)
      .optional("predicted_bytes", if_supported(row.predicted_bytes))
      .optional("memory_error", if_supported(forecast::memory_error(row)))
      .put("memory_kind", kind)
      .take();
}

Document dataset_document(const DatasetScore& dataset) {
  Document rows = Document::array();
  for (const Row& row : dataset.rows) rows.push_back(row_document(row));
  const Document worst_id = dataset.worst ? Document(dataset.worst_id) : Document();
  return Object()
      .put("name", dataset.name)
      .put("rows", std::move(rows))
      .optional("mape", dataset.mape)
      .optional("median", dataset.median)
      .optional("p90", dataset.p90)
      .optional("worst", dataset.worst)
      .put("worst_id", worst_id)
      .optional("memory_mape", dataset.memory_mape)
      .optional("coverage", dataset.coverage)
      .take();
}

// --- Text ----------------------------------------------------------------------------------------

std::string percent_or_dash(std::optional<double> share, bool sign = false) {
  if (!share) return "-";
  return sign ? signed_percent(*share) : percent(*share);
}

template <class Quantity>
std::string text_or_dash(const std::optional<Quantity>& quantity) {
  return quantity ? units::short_text(*quantity) : "-";
}

int name_width(const forecast::Score& score, const TextOptions& options) {
  int widest = 21;  // "mean of the data sets"
  for (const auto& dataset : score.datasets) widest = std::max(widest, columns(dataset.name));
  return std::min(widest, std::max(20, width_of(options) - 66));
}

std::string shown(const std::string& name, int width, const TextOptions& options) {
  return left(fitted(printable(name, options.unicode), width), width);
}

std::string row_line(const Row& row, int id_width, const TextOptions& options) {
  const auto off = forecast::error(row);
  std::string line = fmt::format(
      "  {}  {}  {}  {}", shown(row.id, id_width, options), right(text_or_dash(row.measured_s), 10),
      right(text_or_dash(row.predicted_s), 10), right(percent_or_dash(off, true), 9));
  if (row.measured_bytes || row.predicted_bytes)
    line += fmt::format("  {}  {}  {} {}", right(text_or_dash(row.measured_bytes), 10),
                        right(text_or_dash(row.predicted_bytes), 10),
                        right(percent_or_dash(forecast::memory_error(row), true), 9),
                        printable(row.memory_kind, options.unicode));
  return line + (off && !row.time_counts ? " (time does not count)\n" : "\n");
}

std::string rows_text(const DatasetScore& dataset, const TextOptions& options) {
  int id_width = 4;
  for (const Row& row : dataset.rows) id_width = std::max(id_width, columns(row.id));
  id_width = std::min(id_width, std::max(20, width_of(options) - 40));
  std::string text = toned(printable(dataset.name, options.unicode), Tone::strong, options) + '\n' +
                     fmt::format("  {}  {}  {}  {}\n", left("row", id_width), right("measured", 10),
                                 right("predicted", 10), right("error", 9));
  for (const Row& row : dataset.rows)
    if (row.status == Row::Status::ok) text += row_line(row, id_width, options);
  return text + '\n';
}

std::string score_line(const std::string& name, std::size_t rows, std::size_t supported,
                       const DatasetScore& dataset, const std::string& worst_id) {
  return fmt::format(
      "{}  {:>5}  {:>9}  {}  {}  {}  {}  {}  {}  {}\n", name, rows, supported,
      right(percent_or_dash(dataset.mape), 8), right(percent_or_dash(dataset.median, true), 9),
      right(percent_or_dash(dataset.p90), 8), right(percent_or_dash(dataset.worst), 9),
      right(percent_or_dash(dataset.memory_mape), 8), right(percent_or_dash(dataset.coverage), 8),
      worst_id);
}

std::string table(const forecast::Score& score, const TextOptions& options) {
  const int width = name_width(score, options);
  std::string text = toned(left("data set", width) +
                               "   rows  supported      MAPE     median       p90      worst"
                               "    memory  coverage  worst row",
                           Tone::strong, options) +
                     '\n';
  for (const auto& dataset : score.datasets)
    text += score_line(shown(dataset.name, width, options), dataset.rows.size(), dataset.supported,
                       dataset, printable(dataset.worst_id, options.unicode));
  DatasetScore total;
  total.mape = score.mape;
  total.memory_mape = score.memory_mape;
  total.coverage = score.coverage;
  return text + score_line(left("mean of the data sets", width), score.rows,
                           score.rows - score.unsupported, total, "");
}

std::string reasons(const forecast::Score& score, const TextOptions& options) {
  std::map<std::string, int> counts;
  for (const auto& dataset : score.datasets)
    for (const Row& row : dataset.rows)
      if (row.status != Row::Status::ok) ++counts[row.reason];
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

std::string validate_json(const forecast::Score& score) {
  Document datasets = Document::array();
  for (const auto& dataset : score.datasets) datasets.push_back(dataset_document(dataset));
  return dump(Object()
                  .put("datasets", std::move(datasets))
                  .optional("mape", score.mape)
                  .optional("memory_mape", score.memory_mape)
                  .optional("coverage", score.coverage)
                  .put("rows", score.rows)
                  .put("unsupported", score.unsupported)
                  .take());
}

std::string validate_text(const forecast::Score& score, const TextOptions& options) {
  std::string text;
  for (const auto& dataset : score.datasets)
    if (dataset.supported > 0) text += rows_text(dataset, options);
  return text + table(score, options) + reasons(score, options);
}

}  // namespace report

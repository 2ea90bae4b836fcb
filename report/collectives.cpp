// SPDX-License-Identifier: Apache-2.0
#include "report/collectives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "report/document.hpp"
#include "report/terminal.hpp"
#include "units/text.hpp"

namespace report {
namespace {

using topology::TableErrors;
using topology::TableScore;

Document table_row_document(const topology::TableRow& row) {
  return Object()
      .put("id", topology::to_text(row.point))
      .put("status", "ok")
      .put("reason", Document())
      .put("collective", std::string(to_text(row.point.collective)))
      .put("gpus", row.point.group.ranks)
      .put("nodes", row.point.group.nodes)
      .quantity("bytes", row.point.size)
      .quantity("measured_s", row.point.measured)
      .quantity("predicted_s", row.predicted)
      .number("error", row.error)
      .take();
}

Document errors_document(const TableErrors& errors) {
  return Object()
      .put("rows", errors.rows)
      .optional("mape", errors.absolute)
      .optional("bias", errors.signed_mean)
      .take();
}

Document table_document(const TableScore& score) {
  Document rows = Document::array();
  for (const auto& row : score.rows) rows.push_back(table_row_document(row));
  const auto& worst = score.rows[score.worst];
  return Object()
      .put("name", score.name)
      .put("source", score.source)
      .put("framework", score.framework)
      .optional("mape", score.all.absolute)
      .optional("bias", score.all.signed_mean)
      .put("from_32_mib", errors_document(score.large))
      .put("below_32_mib", errors_document(score.small))
      .number("worst", std::abs(worst.error))
      .put("worst_id", topology::to_text(worst.point))
      .put("rows", std::move(rows))
      .take();
}

// Mean over the tables of the library itself that have rows of this size.
std::optional<double> mean(const std::vector<TableScore>& scores, TableErrors TableScore::*part) {
  double sum = 0;
  int count = 0;
  for (const auto& score : scores)
    if (const auto error = (score.*part).absolute; error && !score.framework) {
      sum += *error;
      ++count;
    }
  if (count == 0) return {};
  return sum / count;
}

std::string table_row_line(const topology::TableRow& row) {
  return fmt::format("  {}  {}  {}  {}\n", left(topology::to_text(row.point), 32),
                     right(units::short_text(row.point.measured), 10),
                     right(units::short_text(row.predicted), 10),
                     right(signed_percent(row.error), 9));
}

std::string table_errors_text(const TableErrors& errors) {
  if (errors.rows == 0) return fmt::format("  {:>5}  {:>8}  {:>9}", "-", "-", "-");
  return fmt::format("  {:>5}  {}  {}", errors.rows, right(percent(*errors.absolute), 8),
                     right(signed_percent(*errors.signed_mean), 9));
}

int width_for(const std::vector<TableScore>& scores) {
  int widest = 20;
  for (const auto& score : scores) widest = std::max(widest, columns(score.name));
  return widest;
}

std::string summary_table(const std::vector<TableScore>& scores, const TextOptions& options) {
  const int width = width_for(scores);
  std::string text = toned(left("table", width) +
                               "   rows  >= 32 MiB     signed   rows   < 32 MiB     signed"
                               "      worst",
                           Tone::strong, options) +
                     '\n';
  for (const auto& score : scores)
    text += fmt::format("{}{} {}  {}{}\n", left(printable(score.name, options.unicode), width),
                        table_errors_text(score.large), table_errors_text(score.small),
                        right(signed_percent(score.rows[score.worst].error), 9),
                        score.framework ? "  through a framework" : "");
  const auto shown = [](std::optional<double> share) { return share ? percent(*share) : "-"; };
  return text + fmt::format("{}         {}                    {}\n",
                            left("mean of the library's own", width),
                            right(shown(mean(scores, &TableScore::large)), 8),
                            right(shown(mean(scores, &TableScore::small)), 8));
}

}  // namespace

std::string collectives_json(const std::vector<TableScore>& scores) {
  Document datasets = Document::array();
  std::size_t rows = 0;
  for (const auto& score : scores) {
    datasets.push_back(table_document(score));
    rows += score.rows.size();
  }
  return dump(Object()
                  .put("datasets", std::move(datasets))
                  .optional("mape", mean(scores, &TableScore::all))
                  .optional("mape_from_32_mib", mean(scores, &TableScore::large))
                  .optional("mape_below_32_mib", mean(scores, &TableScore::small))
                  .put("rows", rows)
                  .put("unsupported", 0)
                  .take());
}

std::string collectives_text(const std::vector<TableScore>& scores, const TextOptions& options) {
  std::string text;
  for (const auto& score : scores) {
    text += toned(printable(score.name, options.unicode), Tone::strong, options) + '\n';
    for (const auto& row : score.rows) text += table_row_line(row);
    text += '\n';
  }
  return text + summary_table(scores, options);
}

}  // namespace report

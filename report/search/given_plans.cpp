// SPDX-License-Identifier: Apache-2.0
#include "report/search/given_plans.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "report/document.hpp"
#include "report/terminal.hpp"
#include "units/text.hpp"

namespace report {
namespace {

using search::Comparison;

std::optional<units::Seconds> found_time(const Comparison& comparison) {
  const auto& plans = comparison.answer.plans;
  if (plans.empty()) return {};
  return plans.front().forecast.step.time;
}

// A plan that does not fit is slower than any.
bool is_no_slower(const Comparison& comparison) {
  const auto found = found_time(comparison);
  return !comparison.given_fits || (found && *found <= comparison.given);
}

struct Totals {
  int rows = 0, compared = 0, inside = 0, no_slower = 0;
  double gap = 0;  // the widest
};

Totals totals_of(const std::vector<GivenPlans>& all) {
  Totals totals;
  for (const auto& dataset : all)
    for (const auto& row : dataset.rows) {
      ++totals.rows;
      if (!row.comparison) continue;
      ++totals.compared;
      totals.inside += row.comparison->outside.empty();
      totals.no_slower += is_no_slower(*row.comparison);
      totals.gap = std::max(totals.gap, row.comparison->answer.gap);
    }
  return totals;
}

Document given_plan_document(const GivenPlan& row) {
  Object object;
  object.put("id", row.id).put("status", row.comparison ? "ok" : "unsupported");
  if (!row.comparison) return object.put("reason", row.reason).take();
  const auto& [outside, given, fits, answer] = *row.comparison;
  const auto found = found_time(*row.comparison);
  Document keys = Document::array();
  for (const auto key : outside) keys.push_back(std::string(key));
  object.put("reason", Document())
      .quantity("given_s", given)
      .put("given_fits", fits)
      .optional("found_s", found)
      .put("no_slower", is_no_slower(*row.comparison))
      .put("outside", std::move(keys))
      .quantity("wall_s", row.wall);
  if (found)
    object.quantity("lower_bound_s", answer.lower_bound)
        .number("gap", answer.gap)
        .put("plan", short_plan_document(answer.plans.front().plan));
  return object.take();
}

std::string joined_keys(const std::vector<std::string_view>& keys) {
  std::string text;
  for (const auto key : keys) text += (text.empty() ? "" : ", ") + std::string(key);
  return text;
}

std::string given_plan_line(const GivenPlan& row, int width) {
  const auto& comparison = *row.comparison;
  const auto found = found_time(comparison);
  std::string line =
      fmt::format("  {}  {}  {}  {}  {}  {}", left(row.id, width),
                  right(units::short_text(comparison.given), 9),
                  right(found ? units::short_text(*found) : "-", 9),
                  right(found ? signed_percent(*found / comparison.given - 1) : "-", 8),
                  right(found ? percent(comparison.answer.gap) : "-", 7),
                  right(units::short_text(row.wall), 8));
  if (!comparison.given_fits) line += "  theirs does not fit";
  if (!is_no_slower(comparison)) line += "  SLOWER";
  if (!comparison.outside.empty()) line += "  outside: " + joined_keys(comparison.outside);
  return line + '\n';
}

std::string given_plans_table(const GivenPlans& dataset, const TextOptions& options) {
  int width = 4;
  for (const auto& row : dataset.rows) width = std::max(width, columns(row.id));
  std::string text =
      toned(printable(dataset.dataset, options.unicode), Tone::strong, options) +
      fmt::format("\n  {}     theirs      found     less      gap      took\n", left("row", width));
  for (const auto& row : dataset.rows)
    if (row.comparison) text += given_plan_line(row, width);
  return text + '\n';
}

}  // namespace

std::string given_plans_json(const std::vector<GivenPlans>& all) {
  Document datasets = Document::array();
  for (const auto& dataset : all) {
    Document rows = Document::array();
    for (const auto& row : dataset.rows) rows.push_back(given_plan_document(row));
    datasets.push_back(Object().put("name", dataset.dataset).put("rows", std::move(rows)).take());
  }
  const auto totals = totals_of(all);
  return dump(Object()
                  .put("datasets", std::move(datasets))
                  .put("rows", totals.rows)
                  .put("unsupported", totals.rows - totals.compared)
                  .put("inside", totals.inside)
                  .put("no_slower", totals.no_slower)
                  .take());
}

std::string given_plans_text(const std::vector<GivenPlans>& all, const TextOptions& options) {
  std::string text;
  std::map<std::string, int> reasons;
  for (const auto& dataset : all) {
    text += given_plans_table(dataset, options);
    for (const auto& row : dataset.rows)
      if (!row.comparison) ++reasons[row.reason];
  }
  const auto totals = totals_of(all);
  text += fmt::format(
      "Of {} plans {} are inside of the space; what is found is no slower than {}; the widest gap "
      "is {}.\n",
      totals.compared, totals.inside, totals.no_slower, percent(totals.gap));
  for (const auto& [reason, rows] : reasons)
    text += fmt::format("{} not compared: {}\n", rows, printable(reason, options.unicode));
  return text;
}

}  // namespace report

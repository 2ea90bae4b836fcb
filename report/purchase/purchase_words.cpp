// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "report/purchase/purchase.hpp"
#include "report/purchase/purchase_parts.hpp"
#include "report/terminal.hpp"
#include "units/text.hpp"

namespace report {
namespace {

using search::Decision;
using search::Purchase;

std::string listed_names(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return text;
}

std::string nothing_feasible(const Purchase& purchase, const Decision& decision) {
  std::string text = "no option is feasible: ";
  for (std::size_t i = 0; i < decision.options.size(); ++i)
    text += (i == 0 ? "" : "; ") + purchase.options[i].name + " " +
            shortfall_words(decision.options[i]);
  return text;
}

std::string tie_words(const Purchase& purchase, const search::Recommended& chosen) {
  std::vector<std::string> names;
  for (const auto i : chosen.ties) names.push_back(purchase.options[i].name);
  return fmt::format(
      " It is a tie with {}: forecasts of both may be off by more than that ({} of the cost, "
      "80 %).",
      listed_names(names), percent(chosen.uncertainty));
}

}  // namespace

std::string money_words(units::Money money, const std::string& currency) {
  const double size = std::abs(money.value);
  if (size >= 999.5e6) return fmt::format("{:.3g} billion {}", money.value / 1e9, currency);
  if (size >= 999.5e3) return fmt::format("{:.3g} million {}", money.value / 1e6, currency);
  return grouped(money.value) + " " + currency;
}

std::string days(units::Seconds time) { return grouped(time.value / seconds_per_day); }
std::string days_words(units::Seconds time) { return days(time) + " days"; }

std::string shortfall_words(const search::Assessed& option) {
  if (option.assessment.feasible()) return {};
  const auto& [what, excess] = option.assessment.shortfalls.front();
  if (what == "plan")
    return option.found.interrupted ? "has no plan yet: the search was stopped"
                                    : "has no plan: no degrees divide GPUs, model and batch";
  if (what == "failures") return "never ends: failures undo what is done between them";
  if (what == "memory")
    return fmt::format("has no plan that fits: the closest needs {} more memory", percent(excess));
  if (what == "deadline") return fmt::format("misses the deadline by {}", percent(excess));
  return fmt::format("exceeds the {} by {}", what == "racks" ? "racks" : what, percent(excess));
}

MoneyScale::MoneyScale(const Decision& decision, const std::string& currency) : unit(currency) {
  double largest = 0;
  for (const auto& [found, assessment, fabric] : decision.options)
    largest = std::max({largest, assessment.costs.total().value, assessment.capital_full.value});
  if (largest < 10e3) return;
  size = largest >= 10e6 ? 1e6 : 1e3;
  unit = (size > 1e3 ? "million " : "thousand ") + currency;
}

std::string MoneyScale::operator()(units::Money money) const {
  return money.value == 0 ? "-" : grouped(money.value / size);
}

std::string aligned(std::vector<std::vector<std::string>> rows, const TextOptions& options) {
  constexpr int longest = 28;
  std::vector<int> widths;
  for (auto& row : rows) {
    row[0] = fitted(printable(row[0], options.unicode), longest);
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line = "  " + left(row[0], widths[0]);
    for (std::size_t i = 1; i < row.size(); ++i) line += "  " + right(row[i], widths[i]);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }
  return text;
}

std::string recommendation_words(const Purchase& purchase, const Decision& decision) {
  if (!decision.recommended) return nothing_feasible(purchase, decision);
  const auto& chosen = *decision.recommended;
  const auto& best = decision.options[chosen.option].assessment;
  const auto& currency = purchase.economics.currency;
  std::string text =
      fmt::format("{}: {} and {} until the last token", purchase.options[chosen.option].name,
                  money_words(best.costs.total(), currency), days_words(best.until_done));
  if (!chosen.second) {
    text += decision.options.size() > 1 ? ", the only option within all limits." : ".";
  } else {
    const auto& second = purchase.options[*chosen.second].name;
    text += chosen.margin > 0 ? fmt::format(", the least money; {} costs {} more.", second,
                                            percent(chosen.margin))
                              : fmt::format(", the least money; {} costs the same.", second);
    if (!chosen.ties.empty()) text += tie_words(purchase, chosen);
  }
  if (best.deadline_probability)
    text += fmt::format(" It meets the deadline with a probability of {}.",
                        chance(*best.deadline_probability));
  return text;
}

}  // namespace report

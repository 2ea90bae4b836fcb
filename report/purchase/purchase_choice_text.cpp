// SPDX-License-Identifier: Apache-2.0
// The basis of a choice among options, and the changes that would overturn it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "report/purchase/purchase_parts.hpp"
#include "report/terminal.hpp"

namespace report {
namespace {

using search::Decision;
using search::Purchase;

std::string purchase_pareto_text(const Purchase& purchase, const Decision& decision,
                                 const TextOptions& options) {
  if (decision.pareto.size() < 2) return {};
  std::string names;
  for (const auto i : decision.pareto)
    names += (names.empty() ? "" : ", ") + printable(purchase.options[i].name, options.unicode);
  return heading("Time, money, energy: no option is better than one of these in all three",
                 options) +
         wrapped(names, 2, width_of(options));
}

// "price 20 % up or down", once for what is the same both ways.
std::string sensitivity_words(const search::CostSensitivity& row, bool both) {
  auto what = fmt::format("{} {:.0f} % {}", row.parameter, 100 * std::abs(row.change),
                          both             ? "up or down"
                          : row.change > 0 ? "up"
                                           : "down");
  std::ranges::replace(what, '_', ' ');
  return what;
}

std::string sensitivity_text(const Purchase& purchase, const Decision& decision,
                             const TextOptions& options) {
  if (!decision.recommended || decision.options.size() < 2) return {};
  std::string flips, same;
  const auto& rows = decision.sensitivity;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& row = rows[i];
    const bool both = i + 1 < rows.size() && rows[i + 1].parameter == row.parameter &&
                      rows[i + 1].recommended == row.recommended;
    const auto what = sensitivity_words(row, both);
    if (row.recommended == decision.recommended->option)
      same += (same.empty() ? "the same with " : ", ") + what;
    else
      flips += wrapped(printable(what + ": " +
                                     (row.recommended ? purchase.options[*row.recommended].name
                                                      : "no option is feasible"),
                                 options.unicode),
                       2, width_of(options));
    i += both ? 1 : 0;
  }
  return heading("What would change the choice", options) + flips +
         wrapped(printable(same, options.unicode), 2, width_of(options));
}

// Returns the change of a figure with its sign, in two digits at least however small it is beside
// the unit of its column. A change by less than a millionth of the figure is "0".
std::string signed_change(double now, double changed) {
  const double change = std::abs(changed - now);
  if (change <= 1e-6 * std::abs(now)) return "0";
  const auto digits = static_cast<int>(1 - std::floor(std::log10(change)));
  return (changed < now ? "-" : "+") +
         (change < 1e-3 ? fmt::format("{:.{}f}", change, digits) : grouped(change));
}

std::string fabric_text(const Purchase& purchase, const Decision& decision, const MoneyScale& money,
                        const TextOptions& options) {
  if (!decision.recommended) return {};
  const auto& option = decision.options[decision.recommended->option];
  if (option.fabric.empty()) return {};
  std::vector<std::vector<std::string>> rows{{"", "training", "change", "cost", "change"}};
  for (const auto& [what, changed] : option.fabric) {
    const auto& now = option.assessment;
    const auto cost = changed.costs.total();
    rows.push_back(
        {what, days(changed.time),
         signed_change(now.time.value / seconds_per_day, changed.time.value / seconds_per_day),
         money(cost),
         signed_change(now.costs.total().value / money.size, cost.value / money.size)});
  }
  return heading(
             "Another network for " +
                 printable(purchase.options[decision.recommended->option].name, options.unicode) +
                 ", at the same price (training in days, cost in " + money.unit + ")",
             options) +
         aligned(rows, options);
}

// Returns the assumptions behind the figures that the file does not state, each once.
std::string notes_text(const Purchase& purchase, const Decision& decision,
                       const TextOptions& options) {
  std::vector<std::string> notes;
  std::set<std::string> said;
  const auto add = [&](const std::string& note) {
    if (said.insert(note).second) notes.push_back(note);
  };
  for (const auto& option : purchase.options)
    if (option.price && !option.price->source.empty())
      add(fmt::format("price from the {}{}", option.price->source,
                      option.price->estimated ? " (an estimate)" : ""));
  for (std::size_t i = 0; i < decision.options.size(); ++i)
    for (const auto& plan : decision.options[i].found.workloads)
      if (plan.forecast.validated)
        for (const auto& outside : plan.forecast.validated->outside)
          add("outside of what was measured, and the interval wider: " + outside);
  if (!(purchase.economics.electricity.value > 0)) add("energy is not paid for: no price is given");
  if (std::ranges::any_of(purchase.options, [](const auto& one) { return one.rent.has_value(); }))
    add("rents include power, space and repairs");
  if (notes.empty()) return {};
  std::string text = heading("This rests on", options);
  for (const auto& note : notes)
    text += wrapped("- " + printable(note, options.unicode), 2, width_of(options));
  return text;
}

}  // namespace

std::string choice_text(const Purchase& purchase, const Decision& decision, const MoneyScale& money,
                        const TextOptions& options) {
  return purchase_pareto_text(purchase, decision, options) +
         sensitivity_text(purchase, decision, options) +
         fabric_text(purchase, decision, money, options) + notes_text(purchase, decision, options);
}

}  // namespace report

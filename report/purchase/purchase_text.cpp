// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "report/correction.hpp"
#include "report/purchase/purchase.hpp"
#include "report/purchase/purchase_parts.hpp"
#include "report/question_text.hpp"
#include "report/terminal.hpp"
#include "units/text.hpp"

namespace report {
namespace {

using search::Assessed;
using search::Assessment;
using search::Decision;
using search::Purchase;

std::string workloads_text(const Purchase& purchase, const TextOptions& options) {
  std::string text;
  for (std::size_t w = 0; w < purchase.workloads.size(); ++w) {
    const auto& workload = purchase.workloads[w];
    const auto* model = model_of(purchase, w);
    std::string line =
        fmt::format("{}{} on {} trillion tokens", printable(workload.name, options.unicode),
                    model == nullptr ? "" : " (" + parameters_words(*model) + ")",
                    grouped(workload.tokens / 1e12));
    if (workload.weight != 1) line += fmt::format(", {:.4g} times", workload.weight);
    if (workload.overhead > 0)
      line += fmt::format(", {} more for experiments", percent(workload.overhead));
    if (workload.critical_batch)
      line += fmt::format(", growing as 1 + batch / {}", grouped(*workload.critical_batch));
    text += wrapped(line, 2, width_of(options));
  }
  return text;
}

std::string constraints_text(const Purchase& purchase, const TextOptions& options) {
  const auto& [deadline, budget, budget_of, power, racks] = purchase.constraints;
  const bool of_capital = budget_of == search::Constraints::BudgetOf::capital;
  std::string text;
  const auto add = [&](const std::string& one) { text += (text.empty() ? "" : ", ") + one; };
  if (deadline) add("within " + days_words(*deadline));
  if (budget)
    add("for " + money_words(*budget, purchase.economics.currency) +
        (of_capital ? " that all machines cost" : " that the job uses up"));
  if (power) add("with " + units::short_text(*power));
  if (racks) add("in " + grouped(*racks) + " racks");
  return text.empty() ? "" : wrapped(text, 2, width_of(options));
}

std::string option_verdict(const Purchase& purchase, const Decision& decision, std::size_t i) {
  const auto& option = decision.options[i];
  if (!option.assessment.feasible()) return shortfall_words(purchase, decision, i);
  const auto& chosen = *decision.recommended;
  if (chosen.option == i) return chosen.ties.empty() ? "recommended" : "a tie, the least cost";
  return std::ranges::find(chosen.ties, i) != chosen.ties.end() ? "a tie" : "";
}

// A table in which columns that are "-" for all are left out.
std::string without_empty(std::vector<std::vector<std::string>> rows, const TextOptions& options) {
  for (std::size_t column = rows.front().size(); column-- > 1;)
    if (std::all_of(rows.begin() + 1, rows.end(),
                    [&](const auto& row) { return row[column] == "-"; }))
      for (auto& row : rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
  return aligned(rows, options);
}

// Whether any part of the option may fail.
bool fails(const Purchase& purchase, std::size_t option) {
  const auto& rent = purchase.options[option].rent;
  return search::has_failures(purchase.reliability) || (rent && rent->preemption_mtbf) ||
         purchase.reliability.stragglers.mtbf.value > 0;
}

std::vector<std::string> option_row(const Purchase& purchase, const Decision& decision,
                                    std::size_t i, const MoneyScale& money) {
  const auto& a = decision.options[i].assessment;
  std::vector<std::string> row{purchase.options[i].name, grouped_count(a.gpus)};
  if (a.planned) {
    const auto& step = decision.options[i].found.workloads.front().forecast.step;
    row.insert(row.end(), {units::short_text(step.time), percent(step.mfu),
                           fails(purchase, i) ? percent(a.goodput) : "-", days(a.until_done)});
    if (a.time_low < a.time_high)
      row.back() += fmt::format(" ({}-{})", days(a.until_done - a.time + a.time_low),
                                days(a.until_done - a.time + a.time_high));
    row.insert(row.end(), {money(a.paid()), money(a.costs.total()),
                           money(a.costs.total() / (a.tokens / 1e12))});
  } else {
    row.insert(row.end(), {"-", "-", "-", "-", "-", "-", "-"});
  }
  row.push_back(purchase.options[i].rent ? "-" : units::short_text(a.power));
  if (purchase.constraints.deadline)
    row.push_back(a.deadline_probability ? chance(*a.deadline_probability) : "-");
  return row;
}

std::string options_text(const Purchase& purchase, const Decision& decision,
                         const MoneyScale& money, const TextOptions& options) {
  std::vector<std::string> head{"",           "GPUs",   "step", "MFU",   "goodput",
                                "until done", "to pay", "cost", "per T", "power"};
  if (purchase.constraints.deadline) head.push_back("in time");
  std::vector<std::vector<std::string>> rows{head};
  for (std::size_t i = 0; i < decision.options.size(); ++i)
    rows.push_back(option_row(purchase, decision, i, money));
  std::string text =
      heading("Options (money in " + money.unit + ")", options) +
      wrapped(
          "until done: days from the order to the last token, 80 % interval; to pay: until the "
          "last token, all machines that are bought; cost: what the job uses up "
          "of them, and what else it takes, per T: for a trillion tokens; power of the buyer's "
          "site, of which rented machines draw none",
          2, width_of(options)) +
      without_empty(rows, options);
  for (std::size_t i = 0; i < decision.options.size(); ++i)
    if (const auto said = option_verdict(purchase, decision, i); !said.empty())
      text += wrapped(printable(purchase.options[i].name, options.unicode) + ": " + said, 2,
                      width_of(options));
  return text;
}

// Returns a table of the numbers of nodes that were tried, for options that leave the number open.
std::string tried_text(const Purchase& purchase, const Decision& decision, const MoneyScale& money,
                       const TextOptions& options) {
  std::vector<std::vector<std::string>> rows{
      {"", "nodes", "GPUs", "until done", "to pay", "cost", ""}};
  for (std::size_t i = 0; i < decision.options.size(); ++i)
    for (const auto& [nodes, a] : decision.options[i].tried) {
      const bool taken = nodes == purchase.options[i].cluster().nodes();
      search::Assessed one;
      one.assessment = a;
      rows.push_back({purchase.options[i].name, grouped_count(nodes), grouped_count(a.gpus),
                      a.planned ? days(a.until_done) : "-", a.planned ? money(a.paid()) : "-",
                      a.planned ? money(a.costs.total()) : "-",
                      taken && a.planned ? "taken"
                      : a.feasible()     ? ""
                                         : shortfall_words(one)});
    }
  if (rows.size() < 2) return {};
  return heading(
             "Numbers of nodes that were tried (money in " + money.unit + ", until done in days)",
             options) +
         aligned(rows, options);
}

std::string costs_text(const Purchase& purchase, const Decision& decision, const MoneyScale& money,
                       const TextOptions& options) {
  std::vector<std::vector<std::string>> rows{
      {"", "capital", "rent", "energy", "support", "staff", "storage", "total", "whole price"}};
  for (std::size_t i = 0; i < decision.options.size(); ++i) {
    const auto& a = decision.options[i].assessment;
    if (!a.planned) continue;
    const auto& c = a.costs;
    rows.push_back({purchase.options[i].name, money(c.capital), money(c.rent), money(c.energy),
                    money(c.support), money(c.staff), money(c.storage), money(c.total()),
                    money(a.capital_full)});
  }
  if (rows.size() < 2) return {};
  return heading("Where the money goes (" + money.unit + ")", options) +
         without_empty(rows, options);
}

// "h100", or "h100, llama3-70b" where there are several workloads.
std::string name_with_workload(const Purchase& purchase, std::size_t option, std::size_t workload) {
  const auto& name = purchase.options[option].name;
  return purchase.workloads.size() > 1 ? name + ", " + purchase.workloads[workload].name : name;
}

std::string share(double value) {
  return value < 5e-5 ? "-" : fmt::format("{:.2f} %", 100 * value);
}

std::string goodput_text(const Purchase& purchase, const Decision& decision,
                         const TextOptions& options) {
  std::vector<std::vector<std::string>> rows{{"", "fails every", "checkpoint", "takes", "every",
                                              "stalls", "lost work", "restarts", "waits",
                                              "stragglers"}};
  bool any = false;
  for (std::size_t i = 0; i < decision.options.size(); ++i) {
    const auto& goodputs = decision.options[i].assessment.goodputs;
    for (std::size_t w = 0; w < goodputs.size(); ++w) {
      const auto& g = goodputs[w];
      any = any || g.share < 1;
      const bool fails = g.mtbf.has_value();
      rows.push_back({name_with_workload(purchase, i, w), fails ? units::short_text(*g.mtbf) : "-",
                      fails ? units::short_text(g.checkpoint) : "-",
                      fails ? units::short_text(g.saving.stall + g.saving.lag) : "-",
                      fails ? units::short_text(g.interval) : "-", share(g.stalls),
                      share(g.lost_work), share(g.restarts), share(g.waits), share(g.slow)});
    }
  }
  if (!any) return {};
  return heading("Where the time goes (shares of the wall clock that make no progress)", options) +
         without_empty(rows, options);
}

// `asked`: the gap at which the search may end.
std::string plan_words(const search::Planned& plan, double asked) {
  auto text = degrees_words(plan.scenario.plan) +
              fmt::format(", batch {}", grouped_count(plan.scenario.training.global_batch));
  if (plan.gap > 0)
    text += fmt::format("; none is faster by more than {}", percent_at_most(plan.gap)) +
            gap_left_words(plan.gap, asked, plan.interrupted);
  if (plan.correction) text += "; " + correction_sentence(*plan.correction);
  return text + (plan.interrupted ? " (the search was stopped early)" : "");
}

std::string plans_text(const Purchase& purchase, const Decision& decision,
                       const TextOptions& options) {
  std::string text;
  for (std::size_t i = 0; i < decision.options.size(); ++i) {
    const auto& plans = decision.options[i].found.workloads;
    for (std::size_t w = 0; w < plans.size(); ++w) {
      const auto name = name_with_workload(purchase, i, w);
      text += wrapped(printable(name, options.unicode) + ": " +
                          plan_words(plans[w], purchase.options[i].questions[w].gap),
                      2, width_of(options));
    }
  }
  return text.empty() ? "" : heading("The best plan of each", options) + text;
}

}  // namespace

std::string purchase_text(const Purchase& purchase, const Decision& decision,
                          const TextOptions& options) {
  const MoneyScale money(decision, purchase.economics.currency);
  std::string text =
      toned(printable(purchase.name.empty() ? "A purchase" : purchase.name, options.unicode),
            Tone::strong, options) +
      '\n' + workloads_text(purchase, options) + constraints_text(purchase, options);
  const bool tie = decision.recommended && !decision.recommended->ties.empty();
  text += heading(tie ? "A tie" : "Recommended", options) +
          wrapped(printable(recommendation_words(purchase, decision), options.unicode), 2,
                  width_of(options));
  for (const auto& warning : purchase_warnings(purchase, decision)) {
    auto lines = wrapped(printable(warning, options.unicode), 4, width_of(options));
    lines[2] = '!';
    text += lines;
  }
  return text + options_text(purchase, decision, money, options) +
         tried_text(purchase, decision, money, options) +
         costs_text(purchase, decision, money, options) +
         goodput_text(purchase, decision, options) + plans_text(purchase, decision, options) +
         choice_text(purchase, decision, money, options);
}

}  // namespace report

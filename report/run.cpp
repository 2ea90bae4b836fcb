// SPDX-License-Identifier: Apache-2.0
#include "report/run.hpp"

#include <fmt/format.h>

#include <vector>

#include "report/amounts.hpp"
#include "report/terminal.hpp"
#include "units/text.hpp"

namespace report {
namespace {

using search::Assessment;
using search::WholeRun;

// The currency of prices in the catalog.
const std::string catalog_currency = "USD";

std::vector<std::string> run_gaps(const WholeRun& run) {
  std::vector<std::string> all;
  if (!run.price) all.emplace_back("the price of a node is not known: write cluster.node.price");
  if (!run.power_known)
    all.emplace_back("what a node draws is not known: write cluster.node.power");
  all.emplace_back("no price of energy, no cooling, staff or rent: stepcast purchase weighs them");
  return all;
}

std::string run_interval(const Assessment& a) {
  if (!(a.time_low < a.time_high)) return {};
  return fmt::format(" (80 %: {} to {})", days(a.time_low), days(a.time_high));
}

std::string run_time_words(const WholeRun& run) {
  auto text = fmt::format("{}: {}{}, {} steps, {} GPU hours", tokens_words(run.tokens),
                          days_words(run.calm.time), run_interval(run.calm), grouped(run.steps),
                          grouped(run.gpu_hours));
  const auto& failing = run.failing;
  if (failing.planned)
    text += fmt::format("; {} with failures as often as in Llama 3's training (goodput {})",
                        days_words(failing.time), percent(failing.goodput));
  else
    text += "; with failures as often as in Llama 3's training it never ends";
  return text;
}

std::string run_money_words(const WholeRun& run) {
  std::string text;
  if (run.price) {
    text = fmt::format(
        "{} to buy the nodes and switches, {} of it used up by the run, over a life of {} years",
        money_words(run.calm.capital_full, catalog_currency),
        money_words(run.calm.costs.capital, catalog_currency),
        grouped(run.lifetime / units::Seconds{365 * seconds_per_day}));
    if (!run.price->source.empty())
      text +=
          fmt::format(" ({}{})", run.price->source, run.price->estimated ? ", an estimate" : "");
    text += "; ";
  }
  if (run.power_known)
    text +=
        fmt::format("{} at {}; ", energy_words(run.calm.energy), units::short_text(run.calm.power));
  const char* separator = "";
  for (const auto& one : run_gaps(run)) {
    text += separator + one;
    separator = "; ";
  }
  return text;
}

}  // namespace

std::string run_text(const std::optional<WholeRun>& run, const TextOptions& options) {
  if (!run) return {};
  return item("training", run_time_words(*run), options) +
         item("money", printable(run_money_words(*run), options.unicode), options);
}

Document run_document(const WholeRun& run) {
  const auto in_days = [](units::Seconds time) { return time.value / seconds_per_day; };
  const auto& calm = run.calm;
  const auto& failing = run.failing;
  const auto times = [&](Object& object, const Assessment& a, double gpu_hours) {
    const auto figure = [&](const char* key, double value) {
      object.optional(key, a.planned ? std::optional(value) : std::nullopt);
    };
    figure("days", in_days(a.time));
    figure("days_low", in_days(a.time_low));
    figure("days_high", in_days(a.time_high));
    figure("gpu_hours", gpu_hours);
  };
  Object object, with_failures;
  object.count("tokens", run.tokens).number("steps", run.steps);
  times(object, calm, run.gpu_hours);
  with_failures.optional("gpu_mtbf_s", search::published_failures().gpu_mtbf)
      .number("goodput", failing.goodput);
  times(with_failures, failing, run.gpu_hours_failing);
  object.put("with_failures", with_failures.take()).put("currency", catalog_currency);
  const auto if_known = [](bool known, auto value) {
    return known ? std::optional(value) : std::nullopt;
  };
  const bool priced = run.price.has_value();
  object.optional("capital_full", if_known(priced, calm.capital_full))
      .optional("capital", if_known(priced, calm.costs.capital))
      .quantity("lifetime_s", run.lifetime)
      .put("price_source",
           priced && !run.price->source.empty() ? Document(run.price->source) : Document(nullptr))
      .put("price_estimated", priced && run.price->estimated)
      .optional("power_w", if_known(run.power_known, calm.power))
      .optional("energy_wh", if_known(run.power_known, calm.energy.value / joules_per_watt_hour));
  return object.put("missing", run_gaps(run)).take();
}

}  // namespace report

// SPDX-License-Identifier: Apache-2.0
#include "report/alerts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/terminal.hpp"
#include "units/text.hpp"

namespace report {
namespace {

using forecast::Alert;
using forecast::AlertUnit;

std::string value_words(AlertUnit unit, double value) {
  switch (unit) {
    case AlertUnit::share:
      return percent(value);
    case AlertUnit::seconds:
      return units::short_text(units::Seconds{value});
    case AlertUnit::bytes:
      return units::short_text(units::Bytes{value});
    case AlertUnit::tokens_per_second:
      return grouped(value) + " tokens/s";
    case AlertUnit::per_second:
      return fmt::format("{:.3g} / day", value * 86400);
    case AlertUnit::plain:
      break;
  }
  return fmt::format("{:.4g}", value);
}

std::string value_words(const Alert& alert) {
  return alert.value ? value_words(alert.rule.unit, *alert.value) : std::string();
}

Document unit_document(AlertUnit unit) {
  switch (unit) {
    case AlertUnit::share:
      return "share";
    case AlertUnit::seconds:
      return "s";
    case AlertUnit::bytes:
      return "bytes";
    case AlertUnit::tokens_per_second:
      return "tokens/s";
    case AlertUnit::per_second:
      return "1/s";
    case AlertUnit::plain:
      break;
  }
  return nullptr;
}

Document alert_document(const Alert& alert) {
  const auto& facts = forecast::facts_of(alert.rule.figure);
  std::string state(to_text(alert.state));
  std::ranges::replace(state, ' ', '_');
  return Object()
      .put("figure", std::string(facts.name))
      .put("condition", alert.rule.condition)
      .count("threshold", alert.rule.threshold)
      .optional("value", alert.value)
      .put("unit", unit_document(alert.rule.unit))
      .put("state", state)
      .optional("low", alert.low)
      .optional("high", alert.high)
      .put("certain", alert.certain)
      .put("words", value_words(alert))
      .put("meaning", std::string(facts.meaning))
      .put("reason", alert.why_not.empty() ? Document() : Document(alert.why_not))
      .take();
}

std::string state_words(const Alert& alert, const TextOptions& options) {
  if (alert.state == Alert::State::raised) return toned("RAISED", Tone::bad, options);
  return std::string(to_text(alert.state));
}

// Returns a remark on a rule beyond its state: the interval around its threshold, the meaning of a
// raised figure, or the reason why it is not simulated.
std::string remark(const Alert& alert) {
  if (!alert.certain)
    return fmt::format("not certain: the threshold lies inside the 80 % interval, {} to {}",
                       value_words(alert.rule.unit, *alert.low),
                       value_words(alert.rule.unit, *alert.high));
  if (alert.state == Alert::State::raised)
    return std::string(forecast::facts_of(alert.rule.figure).meaning);
  return alert.why_not;
}

// The widths of the columns: the figure, its value, the condition.
struct Widths {
  int name = 0, value = 0, condition = 0;
  explicit Widths(const std::vector<Alert>& alerts) {
    for (const auto& alert : alerts) {
      const auto& facts = forecast::facts_of(alert.rule.figure);
      name = std::max(name, columns(facts.name));
      value = std::max(value, columns(value_words(alert)));
      condition = std::max(condition, columns(alert.rule.condition));
    }
  }
};

std::string title(const std::vector<Alert>& alerts) {
  const auto count = [&](Alert::State state) {
    return std::ranges::count(alerts, state, &Alert::state);
  };
  std::string text =
      fmt::format("Alerts: {} of {} raised", count(Alert::State::raised), alerts.size());
  if (const auto unknown = count(Alert::State::not_simulated); unknown > 0)
    text += fmt::format(", {} not simulated", unknown);
  return text;
}

std::string alert_text(const Alert& alert, const Widths& widths, const TextOptions& options) {
  const auto text = "  " +
                    left(std::string(forecast::facts_of(alert.rule.figure).name), widths.name) +
                    "  " + right(value_words(alert), widths.value) + "   " +
                    left(printable(alert.rule.condition, options.unicode), widths.condition) +
                    "   " + state_words(alert, options) + '\n';
  return text + wrapped(printable(remark(alert), options.unicode), 6, width_of(options));
}

}  // namespace

Document alerts_document(const forecast::Scenario& scenario, const forecast::Forecast& forecast) {
  Document all = Document::array();
  for (const auto& alert : forecast::alerts_of(scenario, forecast))
    all.push_back(alert_document(alert));
  return all;
}

std::string alerts_text(const forecast::Scenario& scenario, const forecast::Forecast& forecast,
                        const TextOptions& options) {
  const auto alerts = forecast::alerts_of(scenario, forecast);
  if (alerts.empty()) return {};
  const Widths widths(alerts);
  std::string text = heading(title(alerts), options);
  for (const auto& alert : alerts) text += alert_text(alert, widths, options);
  return text;
}

std::string compared_alerts_text(const forecast::Scenario& from, const forecast::Forecast& before,
                                 const forecast::Scenario& to, const forecast::Forecast& after,
                                 const TextOptions& options) {
  auto judged = from;
  judged.alerts = to.alerts;
  const auto then = forecast::alerts_of(judged, before), now = forecast::alerts_of(to, after);
  if (now.empty()) return {};
  const auto side = [&](const Alert& alert) {
    return right(value_words(alert), 16) + ' ' +
           (alert.state == Alert::State::raised ? toned(left("RAISED", 13), Tone::bad, options)
                                                : left(std::string(to_text(alert.state)), 13));
  };
  std::string text = heading(title(now) + " (against, now)", options);
  const Widths widths(now);
  for (std::size_t i = 0; i < now.size(); ++i) {
    const auto& rule = now[i].rule;
    auto line = "  " + left(std::string(forecast::facts_of(rule.figure).name), widths.name) + "  " +
                left(printable(rule.condition, options.unicode), widths.condition) + side(then[i]) +
                side(now[i]);
    line.resize(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

}  // namespace report

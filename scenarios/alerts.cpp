// SPDX-License-Identifier: Apache-2.0
#include "scenarios/alerts.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <string>

#include "forecast/alerts.hpp"
#include "scenarios/keys.hpp"
#include "scenarios/named.hpp"
#include "units/text.hpp"

namespace scenarios {
namespace {

using forecast::AlertFigure;
using forecast::AlertFigureFacts;
using forecast::AlertRule;
using forecast::AlertUnit;

constexpr Range percents{0, 1000, "a share in percent"};
constexpr Range shares{0, 1, "without a percent sign it is a share of one; 80 % is 0.8"};
constexpr Range times{0, 1e6, "a step ends within days"};
constexpr Range operand_sizes{0, 1e18, "no machine here holds an exabyte"};
constexpr Range rates{0, 1e15, "tokens per second"};
constexpr Range failure_rates{0, 1e6, "failures per second"};
constexpr Range mtbf_range{60, 1e5 * 365 * 86400,
                           "a part works a minute at least between two failures"};

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

// --- Forms

const Table<AlertRule>& failure_table() {
  const auto mtbf = [](std::string_view name, std::string_view of, auto member) {
    return quantity<AlertRule>(Type::duration, units::parse_duration, name, "it never fails",
                               mtbf_range, of, member);
  };
  static const Table<AlertRule> table{
      shown_as(
          [](const AlertRule& rule) { return std::optional(shown_text(rule.condition)); },
          unread<AlertRule>("when", {.type = Type::text}, "The condition, such as '> 0.5 / day'")),
      mtbf("node_mtbf", "Mean time between failures of one node", &AlertRule::node_mtbf),
      mtbf("gpu_mtbf", "Mean time between failures of one GPU; rates add up",
           &AlertRule::gpu_mtbf)};
  return table;
}

Form form_of(const AlertFigureFacts& facts) {
  std::vector<Form> one{{.type = Type::text}};
  if (facts.figure == AlertFigure::node_failure_rate)
    one.push_back(map_of(fields_of(failure_table())));
  auto all = one;
  const Form item = one.size() == 1 ? one.front() : Form{.type = Type::either, .forms = one};
  all.push_back({.type = Type::list, .range = {1, 100, ""}, .forms = {item}});
  return {.type = Type::either, .forms = std::move(all)};
}

// --- Thresholds

// A number, and what follows it.
struct Written {
  std::string_view number, unit;
};
Written split(std::string_view text) {
  double ignored = 0;
  const auto* end = std::from_chars(text.data(), text.data() + text.size(), ignored).ptr;
  const auto length = static_cast<std::size_t>(end - text.data());
  const auto number = text.substr(0, length);
  if (number.find_first_not_of("0123456789.eE+-") != number.npos) return {{}, text};  // inf, nan
  return {number, units::trimmed(text.substr(length))};
}

// A condition while it is read; complaints about it point at `at`.
struct ConditionReader {
  const AlertFigureFacts& facts;
  const Cursor& at;

  std::string example() const { return "; write e.g. " + quoted(facts.example); }

  // The text as a value of the form, if it is one.
  std::optional<Value> of_form(Type type, const Range& range, std::string_view text) const {
    auto value = at.value();
    value.text = text;
    value.quoted = false;
    if (!check({.type = type, .range = range}, at.instead(value, at.value()))) return {};
    return value;
  }
  std::optional<double> number(const Range& range, std::string_view text) const {
    const auto value = of_form(Type::number, range, text);
    return value ? std::optional(to_number(*value)) : std::nullopt;
  }
  std::optional<double> refuse(std::string_view text, const std::string& what) const {
    at.complain(quoted(text) + " is no " + what + example());
    return {};
  }

  std::optional<double> share(std::string_view text) const {
    const auto [digits, unit] = split(text);
    if (digits.empty() || (!unit.empty() && unit != "%")) return refuse(text, "share");
    const auto read = number(unit.empty() ? shares : percents, digits);
    return read && !unit.empty() ? std::optional(*read / 100) : read;
  }
  std::optional<double> time(std::string_view text) const {
    const auto value = of_form(Type::duration, times, text);
    return value ? std::optional(units::parse_duration(value->text).value) : std::nullopt;
  }
  std::optional<double> size(std::string_view text) const {
    const auto value = of_form(Type::bytes, operand_sizes, text);
    return value ? std::optional(units::parse_bytes(value->text).value) : std::nullopt;
  }
  // Returns the number per `period`, as a rate per second; a period without a number, such as
  // "day", is one.
  std::optional<double> rate(std::string_view text, std::string_view digits,
                             std::string_view period, const Range& range,
                             const std::string& what) const {
    try {
      const bool counted = !period.empty() && period.front() >= '0' && period.front() <= '9';
      const auto time = units::parse_duration(counted ? period : "1 " + std::string(period));
      if (digits.empty() || !(time.value > 0) || (!counted && period.empty()))
        return refuse(text, what);
      const auto read = number(range, digits);
      return read ? std::optional(*read / time.value) : std::nullopt;
    } catch (const std::invalid_argument&) {
      return refuse(text, what);
    }
  }
  std::optional<double> tokens(std::string_view text) const {
    const auto [digits, unit] = split(text);
    constexpr std::string_view of_tokens = "tokens/";
    if (!digits.empty() && unit.empty()) return number(rates, digits);
    if (!unit.starts_with(of_tokens)) return refuse(text, "rate of tokens");
    return rate(text, digits, units::trimmed(unit.substr(of_tokens.size())), rates,
                "rate of tokens");
  }
  std::optional<double> failures(std::string_view text) const {
    const auto [digits, unit] = split(text);
    for (const std::string_view per : {"/", "per "})
      if (unit.starts_with(per))
        return rate(text, digits, units::trimmed(unit.substr(per.size())), failure_rates,
                    "rate of failures");
    return refuse(text, "rate of failures");
  }
  std::optional<double> plain(std::string_view text) const {
    const auto digits = split(text).number;
    if (digits.empty()) return refuse(text, "number");
    return number({-1e300, 1e300, ""}, digits);
  }

  // Returns the threshold; sets the rule's unit if the figure leaves a choice.
  std::optional<double> threshold(std::string_view text, AlertRule& rule) const {
    switch (rule.unit) {
      case AlertUnit::share: {
        if (rule.figure != AlertFigure::memory) return share(text);
        const auto unit = split(text).unit;
        if (unit == "%") return share(text);
        if (unit.empty()) return refuse(text, "share in percent, and no size with its unit");
        rule.unit = AlertUnit::bytes;
        return size(text);
      }
      case AlertUnit::seconds:
        return time(text);
      case AlertUnit::tokens_per_second:
        return tokens(text);
      case AlertUnit::per_second:
        return failures(text);
      default:
        return plain(text);
    }
  }
};

// --- Conditions

struct Comparison {
  std::string_view word, sign;
  AlertRule::Raised raised;
};
constexpr std::array<Comparison, 6> comparisons{{{"<=", "<=", AlertRule::Raised::at_most},
                                                 {">=", ">=", AlertRule::Raised::at_least},
                                                 {"<", "<", AlertRule::Raised::below},
                                                 {">", ">", AlertRule::Raised::above},
                                                 {"below ", "<", AlertRule::Raised::below},
                                                 {"above ", ">", AlertRule::Raised::above}}};

// Reads "> 90 %" into the rule; false after complaining.
bool read_condition(const AlertFigureFacts& facts, AlertRule& rule, const Cursor& at) {
  const ConditionReader reader{facts, at};
  const auto text = units::trimmed(at.value().text);
  const auto* found = std::ranges::find_if(
      comparisons, [&](const Comparison& one) { return text.starts_with(one.word); });
  if (found == comparisons.end()) {
    at.complain(quoted(text) +
                " compares with nothing: an alert is raised below (<) or above (>) " +
                "a threshold" + reader.example());
    return false;
  }
  const auto threshold = units::trimmed(text.substr(found->word.size()));
  if (threshold.empty()) {
    at.complain(quoted(text) + " has no threshold" + reader.example());
    return false;
  }
  rule.figure = facts.figure;
  rule.unit = facts.unit;
  rule.raised = found->raised;
  rule.condition = std::string(found->sign) + ' ' + std::string(threshold);
  const auto value = reader.threshold(threshold, rule);
  rule.threshold = value.value_or(0);
  return value.has_value();
}

bool read_failures(const AlertFigureFacts& facts, AlertRule& rule, const Cursor& at) {
  read_map(failure_table(), rule, at);
  if (!at.find("node_mtbf") && !at.find("gpu_mtbf"))
    at.missing("node_mtbf",
               "a rate of failures follows from a mean time between them: write "
               "node_mtbf or gpu_mtbf, such as 200 days");
  const auto when = at.find("when");
  if (!when) {
    at.missing("when", "a rule has a condition, such as when: " + quoted(facts.example));
    return false;
  }
  return when->value().kind == Value::Kind::scalar && read_condition(facts, rule, *when);
}

void read_rule(const AlertFigureFacts& facts, const Cursor& at, std::vector<AlertRule>& rules) {
  AlertRule rule;
  const bool failing = facts.figure == AlertFigure::node_failure_rate;
  bool read = false;
  switch (at.value().kind) {
    case Value::Kind::scalar:
      read = read_condition(facts, rule, at);
      break;
    case Value::Kind::map:
      if (failing) {
        read = read_failures(facts, rule, at);
        break;
      }
      [[fallthrough]];
    default:
      at.complain("expected a condition; write e.g. " + quoted(facts.example));
  }
  if (read) rules.push_back(std::move(rule));
}

Value show_rule(const AlertRule& rule) {
  if (!rule.node_mtbf && !rule.gpu_mtbf) return shown_text(rule.condition);
  return show_map(failure_table(), rule);
}

}  // namespace

std::vector<Field> alert_fields() {
  std::vector<Field> fields;
  for (const auto& facts : forecast::alert_figures())
    fields.push_back({facts.name, facts.meaning, "", form_of(facts)});
  return fields;
}

std::vector<AlertRule> read_alerts(const Cursor& at) {
  std::vector<std::string_view> names;
  for (const auto& facts : forecast::alert_figures()) names.push_back(facts.name);
  std::vector<AlertRule> rules;
  for (const auto& member : at.value().members) {
    if (!check_key(member, at, names)) continue;
    const auto index = std::ranges::find(names, member.key.text) - names.begin();
    const auto& facts = forecast::alert_figures()[static_cast<std::size_t>(index)];
    const auto value = at.member(member);
    if (value.value().kind != Value::Kind::list) {
      read_rule(facts, value, rules);
      continue;
    }
    for (std::size_t i = 0; i < value.value().items.size(); ++i)
      read_rule(facts, value.item(i), rules);
  }
  return rules;
}

Value shown(const std::vector<AlertRule>& rules) {
  Value map;
  map.kind = Value::Kind::map;
  for (const auto& rule : rules) {
    const auto name = forecast::facts_of(rule.figure).name;
    auto* said = map.find(name);
    if (said == nullptr) {
      show_key(map, name, show_rule(rule));
      continue;
    }
    if (said->kind != Value::Kind::list) *said = shown_list(std::vector{*said}, std::identity());
    said->items.push_back(show_rule(rule));
  }
  return map;
}

}  // namespace scenarios

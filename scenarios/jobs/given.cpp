// SPDX-License-Identifier: Apache-2.0
#include "scenarios/jobs/given.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include "scenarios/jobs/argument_words.hpp"
#include "scenarios/jobs/keys_as_flags.hpp"
#include "units/text.hpp"

namespace scenarios {
namespace {

template <class Number>
std::optional<Number> parsed(std::string text) {
  if (!text.starts_with('_') && !text.ends_with('_')) std::erase(text, '_');  // 1_000, as Python
  Number number{};
  const auto* end = text.data() + text.size();
  const auto [stop, wrong] = std::from_chars(text.data(), end, number);
  if (wrong != std::errc() || stop != end) return {};
  return number;
}

}  // namespace

bool is_off(const JobArgument& argument) {
  if (argument.values.size() != 1 || !argument.values.front().trouble.empty()) return false;
  const auto text = units::lower_case(argument.values.front().text);
  return text.empty() || text == "none" || text == "0.0" || yes_or_no(text) == false;
}

std::string written(const JobArgument& argument) {
  constexpr std::size_t longest = 80;
  auto text = argument.text.empty() ? argument.name : argument.text;
  if (argument.text.empty())
    for (const auto& value : argument.values)
      text += ' ' + (value.trouble.empty() ? value.text : "…");
  return text.size() > longest ? text.substr(0, longest) + "…" : text;
}

bool gives(const JobArgument& argument, std::string_view name) {
  return !argument.off && argument.name.compare(name) == 0;
}

std::string place_text(const JobArgument& argument, const std::string& file) {
  return Complaints(argument.file.empty() ? file : argument.file).text_of(argument.at);
}

Given::Given(const ArgumentTable& table, const std::vector<JobArgument>& arguments,
             Complaints& complaints)
    : table_(table), complaints_(complaints) {
  for (const auto& argument : arguments) {
    if (const auto dash = foreign_dash(argument.name); dash > 0) {
      complaints.add(argument.at, argument.name +
                                      ": it begins with a dash that is no hyphen; write --" +
                                      argument.name.substr(dash));
      continue;
    }
    if (argument.stray) continue;
    if (argument.name.empty()) {
      for (const auto& value : argument.values)
        if (!value.trouble.empty())
          complaints.add(argument.at, "arguments that only a shell can tell: " + value.trouble);
      continue;
    }
    const auto* known = table.find(argument.name);
    auto& last = last_[std::string(known == nullptr ? argument.name : known->name)];
    const bool refused = known != nullptr && known->repeats && known->effect == Effect::refused;
    if (refused && last != nullptr && !last->off && !is_off(*last)) continue;  // the first
    last = &argument;
  }
  for (const auto& [name, argument] : last_) {
    const auto* known = table.find(name);
    if (known != nullptr && !argument->wrong.empty()) complain(name, argument->wrong);
    if (known != nullptr && known->effect == Effect::refused && !argument->off &&
        !is_off(*argument))
      refuse(name, std::string(known->why));
  }
}

const JobArgument* Given::find(std::string_view name) const {
  const auto* argument = mentioned(name);
  return argument == nullptr || argument->off ? nullptr : argument;
}

const JobArgument* Given::mentioned(std::string_view name) const {
  if (table_.find(name) == nullptr)
    throw std::logic_error("no argument of the table: " + std::string(name));
  const auto found = last_.find(name);
  return found == last_.end() ? nullptr : found->second;
}

std::optional<std::string> Given::word(std::string_view name) const {
  const auto* argument = find(name);
  if (argument == nullptr) return {};
  if (argument->values.size() != 1) {
    complain(name, argument->values.empty()
                       ? "a value is missing"
                       : "it takes one value and has " + std::to_string(argument->values.size()));
    return {};
  }
  const auto& value = argument->values.front();
  if (value.trouble.empty()) return value.text;
  complain(name, value.trouble);
  return {};
}

std::vector<std::string> Given::words(std::string_view name) const {
  std::vector<std::string> all;
  const auto* argument = find(name);
  if (argument == nullptr) return all;
  for (const auto& value : argument->values) {
    if (!value.trouble.empty()) complain(name, value.trouble);
    bool begun = false;
    for (const char c : value.text) {
      const bool between = c == ' ' || c == ',' || c == '[' || c == ']' || c == '\'' || c == '"';
      if (!between && !begun) all.emplace_back();
      if (!between) all.back() += c;
      begun = !between;
    }
  }
  return all;
}

std::optional<std::int64_t> Given::whole(std::string_view name) const {
  const auto text = word(name);
  if (!text) return {};
  const auto number = parsed<std::int64_t>(*text);
  constexpr std::int64_t most = std::int64_t{1} << 40;
  if (number && *number >= 0 && *number <= most) return number;
  complain(name, "'" + *text + "' is not a whole number from 0 to " + std::to_string(most));
  return {};
}

bool Given::yes(std::string_view name, bool fallback) const {
  const auto* argument = mentioned(name);
  if (argument == nullptr) return fallback;
  if (argument->off) return false;
  if (argument->values.empty()) return true;
  const auto text = word(name);
  if (!text) return fallback;
  const auto yes = yes_or_no(*text);
  if (!yes && !is_off(*argument)) complain(name, "expected true or false");
  return yes.value_or(false);
}

std::int64_t Given::degree(std::string_view name) const {
  constexpr std::int64_t most = 1'000'000;
  const auto value = whole_or(name, 1);
  if (value == 0) complain(name, "a degree is at least 1");
  if (value > most) complain(name, "a degree is at most 1,000,000");
  return value > most ? 1 : std::max<std::int64_t>(1, value);
}

std::optional<double> Given::number(std::string_view name) const {
  const auto text = word(name);
  if (!text) return {};
  const auto number = parsed<double>(*text);
  if (number && std::isfinite(*number)) return number;
  complain(name, "'" + *text + "' is not a number");
  return {};
}

Given::Misspelt Given::misspelt_in(std::string_view text) const {
  for (const auto& [name, argument] : last_) {
    if (table_.find(name) != nullptr) continue;
    if (const auto& meant = meant_by(name); !meant.empty() && has_word(text, meant, "-."))
      return {argument, meant};
  }
  return {};
}

const std::string& Given::meant_by(std::string_view name) const {
  auto found = meant_.find(name);
  if (found == meant_.end())
    found = meant_.emplace(std::string(name), table_.nearest_to(name)).first;
  return found->second;
}

Place Given::place_of(std::string_view name) const {
  const auto* argument = mentioned(name);
  if (argument == nullptr) return {};
  return argument->file.empty() ? argument->at : argument->named.value_or(Place{});
}

std::string Given::elsewhere(std::string_view name) const {
  const auto* argument = mentioned(name);
  const bool own = argument != nullptr && argument->named;
  return own ? place_text(*argument, complaints_.file()) : std::string();
}

std::string Given::text_of(std::string_view name) const {
  const auto* argument = mentioned(name);
  return argument == nullptr ? std::string() : written(*argument);
}

void Given::say(std::string_view name, const std::string& text, bool unsupported) const {
  const auto* argument = mentioned(name);
  auto shown = argument == nullptr ? std::string(name) : written(*argument);
  auto place = argument == nullptr ? std::string() : place_text(*argument, complaints_.file());
  complaints_.add(place_of(name),
                  Complaint{std::move(place), std::move(shown) + ": " + text, unsupported});
}

}  // namespace scenarios

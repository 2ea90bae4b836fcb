// SPDX-License-Identifier: Apache-2.0
// Reading; print.cpp writes.
#include "units/text.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <stdexcept>
#include <vector>

#include "units/spelling.hpp"
#include "units/unit_table.hpp"
#include "units/words.hpp"

namespace units {

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (auto& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r\n";
  const auto first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }

struct Written {
  std::string_view number, unit;
};

// The longest decimal number at the start, and what follows it; no number, no result. The grammar
// is from_chars', which no locale changes, less its "nan" and "inf", plus a leading '+'.
std::optional<Written> split(std::string_view text) {
  text = trimmed(text);
  std::size_t sign = text.starts_with('-') ? 1 : 0;
  if (text.starts_with('+')) text.remove_prefix(1);
  if (text.size() <= sign || (!is_digit(text[sign]) && text[sign] != '.')) return std::nullopt;
  double ignored = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), ignored).ptr;
  const auto length = static_cast<std::size_t>(end - text.data());
  if (length == 0) return std::nullopt;
  return Written{text.substr(0, length), trimmed(text.substr(length))};
}

// Returns the three capitals at the end of the unit of an amount of money, as "USD" of "M USD".
std::string_view currency_in(std::string_view unit) {
  constexpr std::size_t length = 3;
  if (unit.size() < length) return {};
  const auto word = unit.substr(unit.size() - length);
  const bool apart = unit.size() == length || unit[unit.size() - length - 1] == ' ';
  return apart && std::ranges::all_of(word, is_capital) ? word : std::string_view();
}

const Unit* find_unit(const Dimension& dimension, std::string_view name) {
  static constexpr Unit base;
  if (&dimension == &money) name = trimmed(name.substr(0, name.size() - currency_in(name).size()));
  if (name.empty()) return &base;
  const auto found = std::ranges::find(dimension.units, name, &Unit::name);
  return found == dimension.units.end() ? nullptr : &*found;
}

// Network people write bits with a small b: "Gbps", "Gb/s". A byte is eight times that, so the
// nearest spelling, GB/s, would be bad advice.
std::string spelt_out(std::string_view unit) {
  for (const std::string_view ending : {"bps", "b/s", "bs", "bits/s", "bits"})
    if (unit.ends_with(ending))
      return std::string(unit.substr(0, unit.size() - ending.size())) + "bit/s";
  return std::string(unit);
}

std::string advice(const Dimension& dimension, const Written& written) {
  std::vector<std::string_view> names;
  for (const auto& unit : dimension.units) names.push_back(unit.name);
  const auto meant = &dimension == &bandwidth ? spelt_out(written.unit) : std::string(written.unit);
  const auto near = nearest_word(meant, names);
  if (near.empty()) return "; write e.g. '" + std::string(dimension.example) + "'";
  return "; write e.g. '" + std::string(written.number) + ' ' + std::string(near) + "'";
}

// Returns the advice for a duration in months; empty for any other.
std::string instead_of_months(const Dimension& dimension, const Written& written) {
  const bool months = written.unit == "month" || written.unit == "months";
  if (!months || dimension.units.data() != duration.units.data()) return {};
  const auto days = value_of(written.number, {"days", 30 * 86'400});
  return days ? "a month has no fixed length; write e.g. '" + exact_text(Seconds{*days}) + "'" : "";
}

[[noreturn]] void refuse(const Dimension& dimension, std::string_view text,
                         const std::optional<Written>& written) {
  const auto quoted = "'" + std::string(text) + "'";
  const auto name = std::string(dimension.name);
  if (!written)
    throw std::invalid_argument("unknown " + name + ' ' + quoted + advice(dimension, {}));
  if (find_unit(dimension, written->unit) != nullptr)
    throw std::invalid_argument(name + ' ' + quoted + " is beyond what a number can hold" +
                                advice(dimension, {}));
  if (const auto why = instead_of_months(dimension, *written); !why.empty())
    throw std::invalid_argument("unknown " + name + ' ' + quoted + ": " + why);
  for (const auto* other : dimensions)
    if (find_unit(*other, written->unit) != nullptr)
      throw std::invalid_argument(
          quoted + " is " + std::string(other->article) + ' ' + std::string(other->name) +
          ", not " + std::string(dimension.article) + ' ' + name + advice(dimension, {}));
  throw std::invalid_argument("unknown " + name + ' ' + quoted + advice(dimension, *written));
}

double parse(const Dimension& dimension, std::string_view text) {
  const auto written = split(text);
  if (written)
    if (const auto* unit = find_unit(dimension, written->unit))
      if (const auto value = value_of(written->number, *unit)) return *value;
  refuse(dimension, text, written);
}

}  // namespace

std::optional<double> value_of(std::string_view number, const Unit& unit) {
  const auto mark = number.find_first_of("eE");
  int exponent = 0;
  if (mark != std::string_view::npos) {
    auto digits = number.substr(mark + 1);
    if (digits.starts_with('+')) digits.remove_prefix(1);
    const auto end = digits.data() + digits.size();
    constexpr int far = std::numeric_limits<int>::max() / 2;
    if (std::from_chars(digits.data(), end, exponent).ec != std::errc{} || exponent > far ||
        exponent < -far)
      return std::nullopt;
  }
  std::string shifted(number.substr(0, mark));
  shifted += 'e' + std::to_string(exponent + unit.exponent);
  double value = 0;
  const auto status = std::from_chars(shifted.data(), shifted.data() + shifted.size(), value).ec;
  value *= unit.factor;
  if (status != std::errc{} || !std::isfinite(value)) return std::nullopt;
  return value;
}

Bytes parse_bytes(std::string_view text) { return {parse(size, text)}; }
BytesPerSecond parse_bandwidth(std::string_view text) { return {parse(bandwidth, text)}; }
FlopsPerSecond parse_flop_rate(std::string_view text) { return {parse(flop_rate, text)}; }
Seconds parse_duration(std::string_view text) { return {parse(duration, text)}; }
Seconds parse_duration_like(std::string_view text, std::string_view example) {
  auto like = duration;
  like.example = example;
  return {parse(like, text)};
}
Watts parse_power(std::string_view text) { return {parse(power, text)}; }
Money parse_money(std::string_view text) { return {parse(money, text)}; }
double parse_tokens(std::string_view text) { return parse(tokens, text); }

std::string_view currency_of(std::string_view text) {
  const auto written = split(text);
  if (!written || find_unit(money, written->unit) == nullptr) return {};
  return currency_in(written->unit);
}

std::string_view to_text(Precision precision) { return word(precision); }

}  // namespace units

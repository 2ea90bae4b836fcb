// SPDX-License-Identifier: Apache-2.0
#include "scenarios/shown.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

namespace scenarios {
namespace {

Value scalar_of(std::string text, bool quoted = false) {
  Value value;
  value.kind = Value::Kind::scalar;
  value.text = std::move(text);
  value.quoted = quoted;
  return value;
}

}  // namespace

Value shown_yes_no(bool value) { return scalar_of(value ? "true" : "false"); }

Value shown_whole(std::int64_t value) { return scalar_of(std::to_string(value)); }

Value shown_number(double value) {
  if (!std::isfinite(value)) throw std::domain_error("a number of a scenario is not finite");
  std::array<char, 32> digits{};
  const auto* end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  std::string text(digits.data(), static_cast<std::size_t>(end - digits.data()));
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return scalar_of(std::move(text));
}

Value shown_count(double value) {
  constexpr double exact = 0x1p53;  // whole numbers below are doubles
  if (std::trunc(value) != value || std::abs(value) >= exact) return shown_number(value);
  return shown_whole(static_cast<std::int64_t>(value));
}

Value shown_text(std::string_view text) { return scalar_of(std::string(text), true); }

void show_key(Value& map, std::string_view key, Value value) {
  map.kind = Value::Kind::map;
  map.members.push_back({shown_text(key), std::move(value)});
}

}  // namespace scenarios

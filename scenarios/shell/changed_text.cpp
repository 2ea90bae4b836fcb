// SPDX-License-Identifier: Apache-2.0
#include "scenarios/shell/changed_text.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <cctype>
#include <vector>

namespace scenarios {
namespace {

constexpr std::size_t longest = 256;
constexpr std::string_view pattern_signs = "*?[\\";

std::string in_case(std::string text, bool upper, bool all) {
  const auto end = all ? text.size() : std::min<std::size_t>(1, text.size());
  for (std::size_t i = 0; i < end; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    text[i] = static_cast<char>(upper ? std::toupper(byte) : std::tolower(byte));
  }
  return text;
}

// Without the shortest or longest prefix or suffix that fits the pattern.
std::optional<std::string> without(const std::string& text, const std::string& pattern, bool prefix,
                                   bool most) {
  constexpr std::size_t longest_pattern = 64;
  if (text.size() > longest || pattern.size() > longest_pattern ||
      std::ranges::count(pattern, '*') > 1)
    return {};
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const auto length = most ? text.size() - i : i;
    const auto part = prefix ? text.substr(0, length) : text.substr(text.size() - length);
    if (fnmatch(pattern.c_str(), part.c_str(), 0) != 0) continue;
    return prefix ? text.substr(length) : text.substr(0, text.size() - length);
  }
  return text;
}

std::optional<std::string> replaced(std::string text, std::string_view operation) {
  const bool all = operation.starts_with("//");
  operation.remove_prefix(all ? 2 : 1);
  const auto middle = std::min(operation.find('/'), operation.size());
  const auto what = operation.substr(0, middle);
  const auto by = operation.substr(std::min(middle + 1, operation.size()));
  const bool pattern = what.find_first_of(pattern_signs) != what.npos;
  if (what.empty() || pattern || what[0] == '#' || what[0] == '%') return {};
  for (auto at = text.find(what); at != text.npos; at = text.find(what, at + by.size())) {
    if (text.size() > longest) return {};
    text.replace(at, what.size(), by);
    if (!all) break;
  }
  return text;
}

}  // namespace

std::optional<std::string> changed_text(const std::string& text, std::string_view operation) {
  if (operation == ",," || operation == ",") return in_case(text, false, operation.size() > 1);
  if (operation == "^^" || operation == "^") return in_case(text, true, operation.size() > 1);
  if (operation.empty() || operation.find_first_of("'\"") != operation.npos) return {};
  const char sign = operation.front();
  if (sign == '/') return replaced(text, operation);
  if (sign != '%' && sign != '#') return {};
  const bool most = operation.size() > 1 && operation[1] == sign;
  return without(text, std::string(operation.substr(most ? 2 : 1)), sign == '#', most);
}

}  // namespace scenarios

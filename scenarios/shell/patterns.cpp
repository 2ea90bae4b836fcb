// SPDX-License-Identifier: Apache-2.0
#include "scenarios/shell/patterns.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <cstddef>

#include "scenarios/shell/options.hpp"
#include "units/text.hpp"

namespace scenarios {
namespace {

// Returns the flag by which fnmatch reads extended patterns; nothing: it reads none.
std::optional<int> extended_flag() {
#ifdef FNM_EXTMATCH
  return FNM_EXTMATCH;
#else
  return {};
#endif
}

}  // namespace

bool is_extended(std::string_view pattern) {
  constexpr std::string_view signs = "?*+@!";
  for (auto at = pattern.find('('); at != pattern.npos; at = pattern.find('(', at + 1))
    if (at > 0 && signs.find(pattern[at - 1]) != signs.npos) return true;
  return false;
}

std::optional<std::string> known_text(const std::vector<ShellWord>& all) {
  if (all.empty()) return "";
  if (all.size() > 1 || !all[0].trouble.empty() || all[0].text.starts_with("$")) return {};
  return all[0].text;
}

std::optional<bool> fits_pattern(const std::string& text, const std::string& pattern) {
  constexpr std::size_t longest = 256, longest_repeated = 16, longest_pattern = 64;
  constexpr std::ptrdiff_t most_stars = 2, most_brackets = 2;
  const bool extended = is_extended(pattern);
  const auto flag = extended ? extended_flag() : 0;
  // A group that is repeated may be tried in as many ways as there are sums to the length.
  const bool repeats =
      extended && (pattern.find("+(") != pattern.npos || pattern.find("*(") != pattern.npos);
  if (!flag || text.size() > (repeats ? longest_repeated : longest) ||
      pattern.size() > longest_pattern ||
      std::ranges::count(pattern, '*') + (extended ? std::ranges::count(pattern, '+') : 0) >
          most_stars ||
      (extended && std::ranges::count(pattern, '(') > most_brackets))
    return {};
  return fnmatch(pattern.c_str(), text.c_str(), *flag) == 0;
}

std::string lowered_if(bool lower, std::string text) {
  return lower ? units::lower_case(text) : text;
}

namespace {

// Whether signs of patterns, or values that may have some, stand outside of quotes.
bool has_bare_sign(std::string_view raw) {
  char quote = '\0';
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const char c = raw[i];
    if (c == '\\' && quote != '\'')
      ++i;
    else if (quote != '\0' && c == quote)
      quote = '\0';
    else if (quote == '\0' && (c == '"' || c == '\''))
      quote = c;
    else if (quote == '\0' && std::string_view("*?[($`").find(c) != std::string_view::npos)
      return true;
  }
  return false;
}

// Returns the place behind the bracket that closes the one at `at`.
std::size_t behind_brackets(std::string_view raw, std::size_t at) {
  int open = 0;
  for (; at < raw.size(); ++at) {
    if (raw[at] == '{' || raw[at] == '(') ++open;
    if ((raw[at] == '}' || raw[at] == ')') && --open == 0) return at + 1;
  }
  return raw.size();
}

}  // namespace

bool quotes_signs(std::string_view raw) {
  char quote = '\0';
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const char c = raw[i];
    if (c == '$' && quote != '\'' && i + 1 < raw.size() &&
        (raw[i + 1] == '{' || raw[i + 1] == '(')) {
      i = behind_brackets(raw, i + 1) - 1;
    } else if (c == '\\' && quote != '\'') {
      ++i;
      if (quote == '\0' && i < raw.size() &&
          std::string_view("*?[").find(raw[i]) != std::string_view::npos)
        return true;
    } else if (quote != '\0' && c == quote)
      quote = '\0';
    else if (quote == '\0' && (c == '"' || c == '\''))
      quote = c;
    else if (quote != '\0' &&
             (c == '*' || c == '?' || c == '[' || (c == '(' && is_extended(raw.substr(i - 1, 2)))))
      return true;
  }
  return false;
}

bool quotes_values(std::string_view raw, std::string_view text) {
  const auto is_sign = [](char c) { return c == '*' || c == '?' || c == '['; };
  return raw.find('"') != raw.npos &&
         std::ranges::count_if(text, is_sign) > std::ranges::count_if(raw, is_sign);
}

std::optional<bool> fits_branch(const std::optional<std::string>& word, const RawWord& pattern,
                                const ShellVariables& variables) {
  if (pattern.text == "*") return true;
  const auto text = known_text(variables.in_condition(pattern.text, pattern.at));
  const auto any_case = is_on(case_option, variables);
  if (!word || !text || !any_case) return {};
  const bool extended = is_extended(*text) && has_bare_sign(pattern.text);
  if (!extended && text->find('(') != text->npos) return {};
  const auto one = lowered_if(*any_case, *word), other = lowered_if(*any_case, *text);
  if (!extended && other.find_first_of("*?[\\") == other.npos) return one == other;
  if (!has_bare_sign(pattern.text)) return one == other;
  return *text == pattern.text ? fits_pattern(one, other) : std::nullopt;
}

}  // namespace scenarios

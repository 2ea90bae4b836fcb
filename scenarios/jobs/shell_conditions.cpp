// SPDX-License-Identifier: Apache-2.0
#include "scenarios/jobs/shell_conditions.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

namespace scenarios {
namespace {

std::optional<std::int64_t> whole_in(std::string_view text) {
  std::int64_t number = 0;
  const auto* end = text.data() + text.size();
  const auto [stop, wrong] = std::from_chars(text.data(), end, number);
  if (wrong != std::errc() || stop != end) return {};
  return number;
}

std::optional<bool> compared(const std::string& left, std::string_view sign,
                             const std::string& right, bool of_patterns) {
  const bool equals = sign == "=" || sign == "==";
  if (equals || sign == "!=") {
    if (of_patterns && right.find_first_of("*?[") != right.npos) return {};
    return (left == right) == equals;
  }
  const auto one = whole_in(left), other = whole_in(right);
  if (!one || !other) return {};
  if (sign == "-eq") return *one == *other;
  if (sign == "-ne") return *one != *other;
  if (sign == "-lt") return *one < *other;
  if (sign == "-le") return *one <= *other;
  if (sign == "-gt") return *one > *other;
  if (sign == "-ge") return *one >= *other;
  return {};
}

std::optional<bool> tested(const std::vector<std::string>& words, bool of_patterns) {
  if (words.size() == 2 && words[0] == "-z") return words[1].empty();
  if (words.size() == 2 && words[0] == "-n") return !words[1].empty();
  return words.size() == 3 ? compared(words[0], words[1], words[2], of_patterns) : std::nullopt;
}

std::optional<bool> both(std::optional<bool> one, std::optional<bool> other) {
  if (one == false || other == false) return false;
  return one && other ? std::optional(true) : std::nullopt;
}

std::optional<bool> negated(std::optional<bool> one) {
  return one ? std::optional(!*one) : std::nullopt;
}

}  // namespace

std::optional<bool> succeeds(const Statement& statement, std::size_t first,
                             const ShellVariables& variables) {
  const auto& words = statement.words;
  const auto is = [&](std::size_t i, std::string_view text) {
    return i < words.size() && words[i].text == text;
  };
  if (statement.array) return true;
  if (is(first, "!")) return negated(succeeds(statement, first + 1, variables));
  if (first + 1 == words.size() && (is(first, "true") || is(first, ":"))) return true;
  if (first + 1 == words.size() && is(first, "false")) return false;
  const bool wide = is(first, "[[");
  auto end = words.size();
  if (wide || is(first, "[")) {
    if (!is(--end, wide ? "]]" : "]")) return {};
  } else if (!is(first, "test")) {
    return {};
  }
  std::vector<std::string> texts;
  for (auto i = first + 1; i < end; ++i) {
    const auto all = variables.expanded(words[i].text, words[i].at);
    if (all.size() > 1 || (all.empty() && !wide)) return {};
    if (!all.empty() && (!all[0].trouble.empty() || all[0].text.starts_with("$"))) return {};
    texts.push_back(all.empty() ? std::string() : all[0].text);
  }
  return tested(texts, wide);
}

std::optional<bool> Conditions::around() const {
  return blocks_.empty() ? std::optional(true) : blocks_.back().runs;
}

void Conditions::begin_branch(std::optional<bool> condition) {
  auto& block = blocks_.back();
  const auto outer =
      blocks_.size() > 1 ? blocks_[blocks_.size() - 2].runs : std::optional<bool>(true);
  if (block.settled) condition = false;
  const auto chosen = condition == false ? condition : block.doubtful ? std::nullopt : condition;
  block.settled = block.settled || condition == true;
  block.doubtful = block.doubtful || !condition;
  block.runs = both(outer, chosen);
}

void Conditions::enter(const Statement& statement, const ShellVariables& variables) {
  const std::string_view word = statement.words.front().text;
  std::size_t first = 0;
  if (word == "if") {
    blocks_.push_back({around()});
    first = 1;
  } else if (!blocks_.empty() && word == "elif") {
    const auto outer =
        blocks_.size() > 1 ? blocks_[blocks_.size() - 2].runs : std::optional<bool>(true);
    blocks_.back().runs = outer;
    first = 1;
  } else if (!blocks_.empty() && (word == "then" || word == "else")) {
    begin_branch(word == "then" ? status_ : std::optional<bool>(true));
    status_ = true;
    runs_ = around();
    return;
  } else if (!blocks_.empty() && word == "fi") {
    blocks_.pop_back();
    status_ = {};
    runs_ = around();
    return;
  }
  // "a && b": b is run where a succeeds, "a || b" where it fails.
  const auto needed = statement.joined == '&'   ? status_
                      : statement.joined == '|' ? negated(status_)
                                                : std::optional<bool>(true);
  runs_ = both(around(), needed);
  if (needed == false) return;  // the status stays
  const auto own = succeeds(statement, first, variables);
  if (statement.joined == '&')
    status_ = both(status_, own);
  else if (statement.joined == '|')
    status_ = status_ == false || own == true ? own : std::nullopt;
  else
    status_ = own;
}

}  // namespace scenarios

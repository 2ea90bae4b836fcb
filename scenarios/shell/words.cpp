// SPDX-License-Identifier: Apache-2.0
#include "scenarios/shell/words.hpp"

#include <algorithm>
#include <utility>

#include "scenarios/shell/word_expansion.hpp"
#include "scenarios/shell/word_parts.hpp"

namespace scenarios {

std::string quoted_lines(std::string_view lines, bool literal) {
  std::string word = "\"";
  for (const char c : lines) {
    if (c == '"' || (literal && (c == '$' || c == '`' || c == '\\'))) word += '\\';
    word += c;
  }
  return word + '"';
}

std::string whole_word(const std::string& raw) {
  if (raw.find('"') != raw.npos || raw.find('\'') != raw.npos) return raw;
  std::string word = "\"";
  int depth = 0;  // of brackets behind a dollar sign, in which backslashes stay
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const char c = raw[i], next = i + 1 < raw.size() ? raw[i + 1] : '\0';
    const bool opens = c == '{' || c == '(';
    if (opens && (depth > 0 || (i > 0 && raw[i - 1] == '$'))) ++depth;
    if (depth > 0 && (c == '}' || c == ')')) --depth;
    if (c == '\\' && depth == 0) {  // in quotes a backslash stays before most signs
      if (next == '\\' || next == '$' || next == '`' || next == '\n') word += c;
      ++i;
      if (next != '\0') word += next;
      continue;
    }
    word += c;
  }
  return word + '"';
}

ShellVariables::ShellVariables(std::span<const std::string> env) {
  assign(split_name, {{std::string(usual_split), {}, {}}});
  for (const auto& one : env) {
    const auto equals = one.find('=');
    if (equals == 0 || equals == one.npos || name_end(one, 0) != equals)
      throw Error({{"--env", "'" + one + "' is no NAME=VALUE"}});
    given_[one.substr(0, equals)] = one.substr(equals + 1);
  }
}

// The value of a variable that is set.
std::vector<ShellWord>& ShellVariables::set(const std::string& name) {
  if (state_.exports_all) mark_exported(name, *state_.exports_all);
  return state_.values[name];
}

void ShellVariables::assign(const std::string& name, std::vector<ShellWord> value) {
  set(name) = std::move(value);
}

void ShellVariables::append(const std::string& name, const std::vector<ShellWord>& value) {
  constexpr std::size_t most = 100'000;
  auto& words = set(name);
  if (words.size() + value.size() <= most) words.insert(words.end(), value.begin(), value.end());
}

void ShellVariables::doubt(const std::string& name, const std::string& why) {
  const bool advised = why.find("--env") != why.npos;
  set(name) = {ShellWord{{}, advised ? why : why + advice(name), {}}};
}

void ShellVariables::mark_exported(const std::string& name, const std::string& why) {
  const auto before = state_.exported.find(name);
  if (why.empty())
    state_.exported[name].clear();
  else if (before == state_.exported.end())
    state_.exported[name] = why;
}

void ShellVariables::export_all(bool on, const std::string& why) {
  auto& all = state_.exports_all;
  if (why.empty())
    all = on ? std::optional<std::string>("") : std::nullopt;
  else if (on != all.has_value())
    all = why;
}

void ShellVariables::keep_exported() {
  state_.exports_all.reset();
  state_.hidden = std::exchange(state_.values, {});
  for (const auto& [name, why] : state_.exported) {
    const auto found = state_.hidden.find(name);
    if (found == state_.hidden.end() || kind_of(name) == 'a' || kind_of(name) == 'A') continue;
    const bool known = std::ranges::none_of(
        found->second, [](const ShellWord& word) { return !word.trouble.empty(); });
    if (why.empty() || !known)
      state_.values[name] = found->second;
    else
      doubt(name, why);
  }
  state_.kinds.clear();
  assign(split_name, {{std::string(usual_split), {}, {}}});
}

void ShellVariables::keep_none() {
  auto folder = variable("PWD");  // stays: it is where the shell is
  state_.values.clear();
  state_.exported.clear();
  put_back("PWD", std::move(folder));
  assign(split_name, {{std::string(usual_split), {}, {}}});
}

char ShellVariables::kind_of(const std::string& name) const {
  const auto found = state_.kinds.find(name);
  return found == state_.kinds.end() ? '\0' : found->second;
}

void ShellVariables::set_kind(const std::string& name, char kind) {
  if (kind == '\0')
    state_.kinds.erase(name);
  else
    state_.kinds[name] = kind;
}

ShellVariable ShellVariables::variable(const std::string& name) const {
  ShellVariable all{.kind = kind_of(name)};
  if (const auto found = state_.values.find(name); found != state_.values.end())
    all.value = found->second;
  if (const auto found = state_.exported.find(name); found != state_.exported.end())
    all.exported = found->second;
  return all;
}

void ShellVariables::put_back(const std::string& name, ShellVariable variable) {
  set_kind(name, variable.kind);
  state_.values.erase(name);
  state_.exported.erase(name);
  if (variable.value) state_.values[name] = std::move(*variable.value);
  if (variable.exported) state_.exported[name] = std::move(*variable.exported);
}

ShellArguments ShellVariables::exchange_arguments(std::vector<ShellWord> words) {
  const bool same = words.size() == 1 && words.front().text == "$@" && arguments_.own;
  if (same) return arguments_;
  std::erase_if(words, [](const ShellWord& word) { return word.text == "$@"; });
  return std::exchange(arguments_,
                       {.own = false, .shifted = 0, .words = std::move(words), .doubt = {}});
}

std::int64_t ShellVariables::argument_count() const {
  if (!arguments_.own) return static_cast<std::int64_t>(arguments_.words.size());
  std::int64_t last = 0;
  for (const auto& [name, value] : given_)
    if (!value.empty() && name.size() < 4 && std::ranges::all_of(name, is_digit))
      last = std::max<std::int64_t>(last, std::stoi(name));
  return std::max<std::int64_t>(0, last - arguments_.shifted);
}

std::optional<bool> ShellVariables::shift(std::string_view many) {
  const bool known = !many.empty() && many.size() < 4 && std::ranges::all_of(many, is_digit) &&
                     arguments_.doubt.empty();
  if (!known) {
    doubt_arguments("the arguments are shifted where only a shell can tell");
    return {};
  }
  const auto number = std::stol(std::string(many)), count = argument_count();
  const bool given = !arguments_.own || count > 0;  // some of them
  if (given && number > count) return false;        // a shell shifts none
  if (arguments_.own)
    arguments_.shifted += number;
  else
    arguments_.words.erase(arguments_.words.begin(), arguments_.words.begin() + number);
  return given ? std::optional(true) : std::nullopt;
}

std::vector<ShellWord> ShellVariables::expanded(std::string_view raw, const Place& at) const {
  if (exhausted()) return {ShellWord{{}, "the script is longer than any that was seen", at}};
  return WordExpansion(*this, at, 0, Unknown::reason).of(raw);
}

std::vector<ShellWord> ShellVariables::value_of(std::string_view raw, const Place& at) const {
  if (exhausted()) return {ShellWord{{}, "the script is longer than any that was seen", at}};
  return WordExpansion(*this, at, 0, Unknown::mark).of(raw);
}

std::vector<ShellWord> ShellVariables::in_condition(std::string_view raw, const Place& at) const {
  if (exhausted()) return {ShellWord{{}, "the script is longer than any that was seen", at}};
  return WordExpansion(*this, at, 0, Unknown::none).of(raw);
}

std::optional<std::string> ShellVariables::text_of(const std::string& name) const {
  if (const auto given = given_.find(name); given != given_.end()) return given->second;
  const auto found = state_.values.find(name);
  if (found == state_.values.end() || found->second.size() != 1) return {};
  const auto& word = found->second.front();
  return word.trouble.empty() && word.text.find(mark) == word.text.npos ? std::optional(word.text)
                                                                        : std::nullopt;
}

std::size_t assigned_at(std::string_view word) {
  if (word.empty() || !is_letter(word.front())) return std::string_view::npos;
  const auto end = name_end(word, 0);
  if (word.substr(end).starts_with('=')) return end + 1;
  if (word.substr(end).starts_with("+=")) return end + 2;
  return std::string_view::npos;
}

std::vector<AssigningExpansion> assigning_expansions(std::string_view raw) {
  std::vector<AssigningExpansion> found;
  bool quoted = false;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const char c = raw[i];
    if (c == '"') quoted = !quoted;
    if (c == '\\') ++i;
    if (c == '\'' && !quoted) i = std::min(raw.find('\'', i + 1), raw.size());
    if (raw.substr(i).starts_with("$(")) i = behind_closing(raw, i + 1, '(', ')') - 1;
    if (c != '$' || !raw.substr(i).starts_with("${")) continue;
    const auto end = name_end(raw, i + 2);
    const auto sign = raw.substr(std::min(end, raw.size()), 2);
    if (end > i + 2 && is_letter(raw[i + 2]) && (sign.starts_with('=') || sign == ":="))
      found.push_back({std::string(raw.substr(i + 2, end - i - 2)),
                       std::string(raw.substr(i, behind_closing(raw, i + 1, '{', '}') - i))});
  }
  return found;
}

}  // namespace scenarios

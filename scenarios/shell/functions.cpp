// SPDX-License-Identifier: Apache-2.0
#include "scenarios/shell/functions.hpp"

#include <algorithm>
#include <utility>

namespace scenarios {

std::size_t ShellFunctions::define(std::span<const Statement> statements, bool runs) {
  std::size_t end = 1;
  int open = 0;
  const bool apart = statements.size() > 1 && statements[1].words.front().text == "(";
  const std::string_view opens = apart ? "(" : "{", closes = apart ? ")" : "}";
  for (; end < statements.size(); ++end) {
    const auto& word = statements[end].words.front().text;
    if (word == opens) ++open;
    if (word == closes) --open;
    if (open <= 0) break;
  }
  if (open < 0 || end == 1) return 0;  // no body in brackets
  const auto all = statements.subspan(1, std::min(end + 1, statements.size()) - 1);
  const auto inside = apart ? all : all.subspan(1, all.size() - (end < statements.size() ? 2 : 1));
  if (!runs) return std::min(end, statements.size() - 1);
  std::vector<Statement> body(inside.begin(), inside.end());
  // Where it is called, it does not run in the copies that its definition runs in.
  const auto copies = statements[1].shells.size();
  const auto around = copies - (apart && copies > 0 && !all.back().shells.empty() ? 1 : 0);
  for (auto& statement : body) {
    auto& shells = statement.shells;  // fewer in a text that breaks off
    shells.erase(shells.begin(),
                 shells.begin() + static_cast<std::ptrdiff_t>(std::min(around, shells.size())));
  }
  bodies_[statements.front().defines] = {
      std::make_shared<const std::vector<Statement>>(std::move(body))};
  return std::min(end, statements.size() - 1);
}

void ShellFunctions::mark_exported(std::string_view name, bool on) {
  if (const auto found = bodies_.find(name); found != bodies_.end()) found->second.exported = on;
}

bool ShellFunctions::is_exported(std::string_view name) const {
  const auto found = bodies_.find(name);
  return found != bodies_.end() && found->second.exported;
}

void ShellFunctions::keep_exported() {
  std::erase_if(bodies_, [](const auto& one) { return !one.second.exported; });
}

ShellFunctions::Body ShellFunctions::body(std::string_view name) {
  auto& function = bodies_.find(name)->second;
  function.called = true;
  return function.body;
}

std::size_t ShellFunctions::called_by(const Statement& statement, std::size_t first) const {
  const auto& words = statement.words;
  return first < words.size() && has(words[first].text) ? first : words.size();
}

std::vector<std::string> ShellFunctions::uncalled() const {
  std::vector<std::string> names;
  for (const auto& [name, function] : bodies_)
    if (!function.called) names.push_back(name);
  return names;
}

void ShellFunctions::add_locals(const Statement& statement, std::size_t first, std::size_t end,
                                ShellVariables& variables) {
  if (locals_.empty()) return;
  const bool called = assigned_at(statement.words.front().text) != std::string_view::npos &&
                      !statement.local;  // "NAME=value function"
  for (auto i = first; i < end; ++i) {
    const auto& word = statement.words[i].text;
    auto name = word.substr(0, word.find_first_of("+="));
    auto before = variables.variable(name);
    if (called)
      variables.mark_exported(name);
    else
      variables.set_kind(name, '\0');
    locals_.back().try_emplace(std::move(name), std::move(before));
  }
}

void ShellFunctions::leave(ShellVariables& variables) {
  for (auto& [name, before] : locals_.back()) variables.put_back(name, std::move(before));
  locals_.pop_back();
}

}  // namespace scenarios

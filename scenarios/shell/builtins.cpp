// SPDX-License-Identifier: Apache-2.0
#include "scenarios/shell/builtins.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace scenarios {
namespace {

// Returns the value of IFS for a command, which may be set in front of it; nothing: unknown.
std::optional<std::string> splits_of(const Statement& statement, std::size_t command,
                                     const ShellVariables& variables) {
  constexpr std::string_view name = "IFS=";
  for (std::size_t i = 0; i < command; ++i) {
    const auto& [raw, at] = statement.words[i];
    if (!raw.starts_with(name)) continue;
    const auto value = variables.expanded(whole_word(raw.substr(name.size())), at);
    const bool known = value.size() == 1 && value.front().trouble.empty();
    return known ? std::optional(value.front().text) : std::nullopt;
  }
  return variables.text_of("IFS");
}

}  // namespace

Statement with_known_names(const Statement& statement, const ShellVariables& variables) {
  auto known = statement;
  known.words.clear();
  for (const auto& word : statement.words) {
    const auto& raw = word.text;
    const bool plain = known.words.empty() || raw.starts_with('-') ||
                       assigned_at(raw + "=") != std::string_view::npos;
    const auto values = plain ? std::vector<ShellWord>() : variables.value_of(raw, word.at);
    const bool named = !values.empty() && std::ranges::all_of(values, [](const ShellWord& value) {
      return assigned_at(value.text + "=") != std::string_view::npos;
    });
    if (!named) known.words.push_back(word);
    for (const auto& value : named ? values : std::vector<ShellWord>()) {
      const auto at = assigned_at(value.text);
      const bool assigns = at != std::string_view::npos;
      known.words.push_back({assigns
                                 ? value.text.substr(0, at) +
                                       quoted_lines(std::string_view(value.text).substr(at), true)
                                 : value.text,
                             word.at});
    }
  }
  return known;
}

bool read_text(const Statement& statement, std::size_t command, ShellVariables& variables) {
  const auto& words = statement.words;
  const auto text = variables.expanded(statement.document.text, statement.document.at);
  if (text.size() != 1 || !text.front().trouble.empty()) return false;
  const bool lines = words[command].text != "read";
  bool list = lines, whole_lines = false, plain = false;
  std::vector<std::string> names;
  for (auto i = command + 1; i < words.size(); ++i) {
    const auto& word = words[i].text;
    plain = plain || word == "-ra" || word == "-ar";
    if (word == "-t" && lines)
      whole_lines = true;
    else if (!lines && (word == "-a" || word == "-ra" || word == "-ar"))
      list = true;
    else if (!lines && word == "-r")
      plain = true;
    else if (assigned_at(word + "=") == word.size() + 1)
      names.push_back(word);
    else
      return false;
  }
  auto value = text.front().text;
  if (!lines) value.resize(std::min(value.find('\n'), value.size()));
  if (names.empty() || (list && names.size() > 1) || (lines && !whole_lines) ||
      (!lines && !plain && value.find('\\') != value.npos))
    return false;
  ShellVariables inside({});  // in which the text is split
  const auto split_at =
      lines ? std::optional<std::string>("\n") : splits_of(statement, command, variables);
  if (!split_at) return false;
  inside.assign("IFS", {{*split_at, {}, {}}});
  inside.assign("text", {{value, {}, {}}});
  auto parts =
      inside.expanded(names.size() == 1 && !list ? "\"$text\"" : "$text", words[command].at);
  if (!list && parts.size() > names.size()) return false;
  if (list) return variables.assign(names.front(), std::move(parts)), true;
  for (std::size_t i = 0; i < names.size(); ++i)
    variables.assign(names[i],
                     {i < parts.size() ? parts[i] : ShellWord{{}, {}, words[command].at}});
  return true;
}

}  // namespace scenarios

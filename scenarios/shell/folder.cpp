// SPDX-License-Identifier: Apache-2.0
#include "scenarios/shell/folder.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "scenarios/shell/word_parts.hpp"

namespace scenarios {
namespace {

// The folder is that of the first name, which no script assigns to; PWD only tells it.
constexpr const char *folder_name = ".", *told_name = "PWD", *before_name = "OLDPWD",
                     *pushed_name = "DIRSTACK";
constexpr std::size_t longest_path = 4096;  // as Linux has it

// The place among the words of the command itself: "command cd x" and "builtin cd x" are "cd x".
std::size_t command_at(const Statement& statement) {
  const auto& words = statement.words;
  std::size_t at = 0;
  while (at + 1 < words.size() && (words[at].text == "command" || words[at].text == "builtin"))
    ++at;
  return at;
}

std::string_view command_of(const Statement& statement) {
  std::string_view name = statement.words[command_at(statement)].text;
  if (name.starts_with('\\')) name.remove_prefix(1);
  return name;
}

bool is_rooted(std::string_view path) {
  return path == script_folder ||
         (path.starts_with(script_folder) && path.substr(script_folder.size()).starts_with('/'));
}

std::string normal(const std::string& path) {
  auto text = std::filesystem::path(path).lexically_normal().string();
  while (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return text;
}

// Whether the word may stand before the name of a program: a value, or a program that starts it.
bool starts_command(const RawWord& word) {
  constexpr std::array<std::string_view, 5> starters{"exec", "nohup", "command", "srun", "sudo"};
  return std::ranges::find(starters, word.text) != starters.end() || word.text.starts_with('-') ||
         assigned_at(word.text) != std::string_view::npos;
}

// Returns the word for the folder that the statement names.
ShellWord named_folder(const Statement& statement, const ShellVariables& variables) {
  const auto& words = statement.words;
  const auto at = words.front().at;
  const auto kept = [&](const char* name) {
    const auto value = variables.variable(name).value;
    if (value && value->size() == 1) return value->front();
    return ShellWord{{}, "only a shell can tell the folder before", at};
  };
  if (command_of(statement) == "popd") return kept(pushed_name);
  const auto behind = words.begin() + static_cast<std::ptrdiff_t>(command_at(statement)) + 1;
  const auto named = std::find_if(behind, words.end(), [](const RawWord& word) {
    return !word.text.starts_with('-') || word.text == "-";
  });
  if (named == words.end()) return {{}, "only a shell can tell the home folder", at};
  if (named->text == "-") return kept(before_name);
  const auto value = variables.expanded(named->text, named->at);
  if (value.size() != 1) return {{}, "only a shell can tell which folder it is", at};
  if (!value.front().trouble.empty()) return {{}, value.front().trouble, at};
  const auto& text = value.front().text;
  const bool other = text.starts_with('~') || text.size() > longest_path;
  const auto path = other ? std::nullopt : path_from(other_folder(variables), text);
  if (!path || path->size() > longest_path)
    return {{}, "only a shell can tell which folder it is", at};
  return {rooted(*path), {}, at};
}

}  // namespace

bool changes_folder(const Statement& statement) {
  const auto name = command_of(statement);
  return name == "cd" || name == "pushd" || name == "popd";
}

bool may_change_folder(std::string_view script) {
  constexpr std::array<std::string_view, 4> changes{"cd ", "pushd ", "env -C", "--chdir"};
  return std::ranges::any_of(changes,
                             [&](std::string_view one) { return script.find(one) != script.npos; });
}

void change_folder(const Statement& statement, const std::string& doubt,
                   ShellVariables& variables) {
  const auto at = statement.words.front().at;
  const auto before =
      other_folder(variables).value_or(ShellWord{std::string(script_folder), {}, at});
  auto folder = doubt.empty() ? named_folder(statement, variables) : ShellWord{{}, doubt, at};
  folder.at = at;
  variables.assign(before_name, {before});
  if (command_of(statement) == "pushd") variables.assign(pushed_name, {before});
  if (command_of(statement) == "popd") variables.assign(pushed_name, {});
  for (const auto* name : {folder_name, told_name}) {
    variables.assign(name, {folder});
    variables.mark_exported(name);
  }
}

std::optional<RawWord> take_folder_of_env(Statement& statement) {
  auto& words = statement.words;
  auto at = std::ranges::find_if(
      words, [](const RawWord& word) { return word.text == "env" || word.text.ends_with("/env"); });
  const bool runs = std::all_of(words.begin(), at, starts_command);
  if (at == words.end() || !runs) return {};
  std::optional<RawWord> folder;
  constexpr std::string_view brief = "-C", full = "--chdir";
  for (++at; at != words.end();) {
    const auto& text = at->text;
    const auto option = text.starts_with(full) ? full : brief;
    const bool named = text == option && at + 1 != words.end();
    const bool joined = text.size() > option.size() && text.starts_with(option) &&
                        (option == brief || text[option.size()] == '=');
    if (named || joined) {
      folder =
          named ? at[1] : RawWord{text.substr(option.size() + (option == full ? 1 : 0)), at->at};
      at = words.erase(at, at + (named ? 2 : 1));
    } else if (text == "-u" || text == "--unset") {
      at += at + 1 == words.end() ? 1 : 2;
    } else if (text.starts_with('-') || assigned_at(text) != std::string_view::npos) {
      ++at;
    } else {
      break;
    }
  }
  return folder;
}

std::optional<ShellWord> other_folder(const ShellVariables& variables) {
  const auto value = variables.variable(folder_name).value;
  if (!value || value->size() != 1 || value->front().text == script_folder) return {};
  return value->front();
}

std::optional<std::string> path_from(const std::optional<ShellWord>& folder,
                                     const std::string& path) {
  if (path.starts_with('/')) return normal(path);
  if (is_rooted(path)) return normal(path);
  if (!folder) return normal(path);
  if (!folder->trouble.empty()) return {};
  return normal(folder->text + "/" + path);
}

std::string rooted(const std::string& path) {
  if (path.starts_with('/')) return path;
  return path == "." ? std::string(script_folder) : std::string(script_folder) + "/" + path;
}

std::string unrooted(std::string word) {
  const auto equals = word.find('=');
  const auto begin = is_rooted(word) || equals == word.npos ? 0 : equals + 1;
  if (is_rooted(std::string_view(word).substr(begin))) word.erase(begin, script_folder.size() - 1);
  return word;
}

}  // namespace scenarios

// SPDX-License-Identifier: Apache-2.0
#include "scenarios/jobs/script_files.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace scenarios {

const RawWord* sourced_by(const Statement& statement) {
  const auto& words = statement.words;
  const bool sources = words.size() > 1 && (words[0].text == "source" || words[0].text == ".");
  return sources ? &words[1] : nullptr;
}

void ScriptFiles::add_written(const Statement& statement, const ShellVariables& variables) {
  if (statement.output.empty() || statement.document.text.empty() ||
      statement.words.front().text != "cat")
    return;
  const auto name = variables.expanded(statement.output, statement.document.at);
  if (name.size() != 1 || !name.front().trouble.empty()) return;
  const auto& [raw, at] = statement.document;
  for (const auto& text : variables.value_of(raw, at)) written_[name.front().text] = text.text;
  for (const auto& text : variables.expanded(raw, at))
    if (text.trouble.empty()) known_[name.front().text] = text.text;
}

std::optional<std::string> ScriptFiles::text_of(const std::string& path) const {
  const auto found = written_.find(path.substr(path.starts_with("./") ? 2 : 0));
  if (found != written_.end()) return found->second;
  return beside_ ? beside_(path) : std::nullopt;
}

std::size_t ScriptFiles::started_by(const Statement& statement,
                                    const ShellVariables& variables) const {
  constexpr std::array<std::string_view, 4> shells{"bash", "sh", "zsh", "sbatch"};
  constexpr std::array<std::string_view, 5> ends{".sh", ".bash", ".sbatch", ".slurm", ".job"};
  const auto& words = statement.words;
  const auto is_shell = [&](std::string_view word) {
    word.remove_prefix(word.rfind('/') + 1);
    return std::ranges::find(shells, word) != shells.end();
  };
  const bool shell = is_shell(words.front().text);
  for (std::size_t i = shell ? 1 : 0; i < (shell ? words.size() : 1); ++i) {
    const auto name = variables.expanded(words[i].text, words[i].at);
    if (name.size() != 1 || !name.front().trouble.empty()) return 0;
    const auto& path = name.front().text;
    const bool script =
        std::ranges::any_of(ends, [&](std::string_view end) { return path.ends_with(end); });
    if (path == "-c" || (!script && !written_.contains(path))) continue;
    return text_of(path) ? i + 1 : 0;
  }
  return 0;
}

}  // namespace scenarios

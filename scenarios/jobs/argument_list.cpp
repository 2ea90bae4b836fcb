// SPDX-License-Identifier: Apache-2.0
#include "scenarios/jobs/argument_list.hpp"

#include <cctype>
#include <map>
#include <utility>
#include <vector>

#include "scenarios/jobs/argument_words.hpp"
#include "scenarios/jobs/launch_words.hpp"
#include "scenarios/shell/statements.hpp"
#include "scenarios/shell/words.hpp"

namespace scenarios {
namespace {

// Assigns the variable of a line. A name with two values, neither made of the other, got them under
// conditions that the list leaves out, so its value is not known.
void assign_line(const TextLine& line, ShellVariables& variables,
                 std::map<std::string, std::string_view>& seen) {
  const auto value_at = assigned_at(line.text);
  if (value_at == std::string_view::npos) return;
  const std::string name(line.text.substr(0, value_at - 1));
  const auto raw = line.text.substr(value_at);
  const bool again = seen.contains(name) && seen[name] != raw && raw.find("$" + name) == raw.npos &&
                     raw.find("${" + name) == raw.npos;
  seen[name] = raw;
  if (again)
    variables.doubt(name, name + " has several values in this file, the last in line " +
                              std::to_string(line.at.line));
  else
    variables.assign(name, variables.expanded('"' + std::string(raw) + '"', line.at));
}

bool has_sections(std::string_view text) {
  return text.starts_with("# variables\n") || text.find("\n# arguments\n") != text.npos ||
         text.starts_with("# arguments\n");
}

// Whether the first line that is no comment begins with an argument, as in a file that a program is
// given as @FILE and in no script.
bool has_arguments_alone(std::string_view text) {
  for (const auto& line : lines_of(text)) {
    const auto begin = line.text.find_first_not_of(" \t");
    if (begin == line.text.npos || line.text[begin] == '#') continue;
    const auto rest = line.text.substr(begin);
    return rest.size() > 2 && rest.starts_with("--") &&
           std::isalpha(static_cast<unsigned char>(rest[2])) != 0;
  }
  return false;
}

}  // namespace

bool is_list(std::string_view text) { return has_sections(text) || has_arguments_alone(text); }

FrameworkJob read_list(std::string_view text, const ArgumentTable& table,
                       std::span<const std::string> env) {
  ShellVariables variables(env);
  std::map<std::string, std::string_view> seen;
  std::vector<ShellWord> launcher, words;
  std::string_view section = "# arguments";
  const bool sections = has_sections(text);
  for (const auto& line : lines_of(text)) {
    if (line.text.starts_with("# ")) {
      if (sections) section = line.text;
      continue;
    }
    if (section == "# variables") {
      assign_line(line, variables, seen);
      continue;
    }
    for (const auto& statement : statements_of(line.text))
      for (const auto& word : statement.words)
        for (auto& one : variables.expanded(word.text, {line.at.line, word.at.column, 0}))
          (section == "# launcher" ? launcher : words).push_back(std::move(one));
  }
  return {arguments_from(words, table), launched_command(launcher, "torchrun").options, {}};
}

}  // namespace scenarios

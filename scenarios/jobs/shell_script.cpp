// SPDX-License-Identifier: Apache-2.0
#include "scenarios/jobs/shell_script.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>

#include "scenarios/jobs/launch_words.hpp"
#include "scenarios/jobs/shell_statements.hpp"
#include "scenarios/jobs/shell_words.hpp"

namespace scenarios {
namespace {

bool begins_argument(std::string_view word) {
  return word.size() > 2 && word.starts_with("--") &&
         std::isalpha(static_cast<unsigned char>(word[2])) != 0;
}

std::string_view name_in(std::string_view word) { return word.substr(0, word.find('=')); }

// "section.key=value", as Hydra has it: where the value begins, of a key that the table has.
std::size_t override_at(std::string_view word, const ArgumentTable& table) {
  const auto equals = word.find('=');
  const auto dot = word.find('.');
  if (equals == word.npos || dot > equals || begins_argument(word)) return word.npos;
  const auto begin = std::min(word.find_first_not_of("+~"), equals);
  return table.find(word.substr(begin, equals - begin)) != nullptr ? equals + 1 : word.npos;
}

std::size_t known_among(std::span<const JobWord> words, const ArgumentTable& table) {
  return static_cast<std::size_t>(std::ranges::count_if(words, [&](const JobWord& word) {
    return (begins_argument(word.text) && table.find(name_in(word.text)) != nullptr) ||
           override_at(word.text, table) != std::string_view::npos;
  }));
}

bool is_program(std::string_view word) { return word.ends_with(".py"); }

// Where the program's name stands in a command: a script of Python, or "-m module".
std::size_t program_in(std::span<const JobWord> words) {
  for (std::size_t i = 0; i < words.size(); ++i)
    if (is_program(words[i].text)) return i;
  // The last module: "python -m torch.distributed.run -m training.pretrain".
  for (auto i = words.size(); i > 1; --i)
    if (words[i - 2].text == "-m") return i - 1;
  return words.size();
}

class Script {
 public:
  Script(std::string_view text, const ArgumentTable& table, std::span<const std::string> env,
         bool any_program = false)
      : text_(text), table_(table), variables_(env), any_program_(any_program) {}

  bool starts() const { return !best_.empty(); }
  std::span<const JobWord> behind_program() const {
    return std::span<const JobWord>(best_).subspan(std::min(arguments_at_, best_.size()));
  }

  Job read() {
    Job job;
    job.launcher = batch();
    for (const auto& statement : statements_of(text_)) run(statement);
    if (best_.empty()) best_ = all_lists();
    for (const auto& part : {before_, launching(job.program)})
      for (auto& option : launched_command(part).options) job.launcher.push_back(std::move(option));
    job.arguments = arguments_from(std::span(best_).subspan(arguments_at_), table_);
    if (variables_.exhausted()) job.arguments.push_back({{}, variables_.expanded("", {}), {}});
    return job;
  }

 private:
  // Options of #SBATCH, whose variables Slurm sets.
  std::vector<JobArgument> batch() {
    std::vector<JobWord> words;
    for (const auto& word : batch_options(text_))
      for (auto& one : variables_.expanded(word.text, word.at)) words.push_back(std::move(one));
    auto options = launched_command(words, "slurm").options;
    for (const auto& one : slurm_variables(options)) {
      const auto equals = one.find('=');
      variables_.assign(one.substr(0, equals), {{one.substr(equals + 1), {}, {}}});
    }
    return options;
  }

  // The words before the program, whose name is found with them.
  std::vector<JobWord> launching(std::string& name) {
    auto program = program_in(best_);
    const bool module = program > 0 && program < best_.size() && best_[program - 1].text == "-m";
    if (program == best_.size()) {
      const auto command = launched_command(best_);
      program = command.launched && command.rest < best_.size() &&
                        !begins_argument(best_[command.rest].text)
                    ? command.rest
                    : best_.size();
    }
    if (program == best_.size()) return {};
    arguments_at_ = program + 1;
    const auto& path = best_[program].text;
    name = path.substr(path.rfind('/') + 1);
    const auto before = std::span(best_).first(program - (module ? 1 : 0));
    return {before.begin(), before.end()};
  }

  // A launcher with a program, Python with a script, or values of variables before a program.
  static bool starts_program(std::span<const JobWord> words) {
    if (words.empty()) return false;
    constexpr std::array<std::string_view, 2> own_command{"axolotl", "llamafactory-cli"};
    if (words.size() > 1 && std::ranges::find(own_command, words.front().text) != own_command.end())
      return true;
    const bool sets = assigned_at(words.front().text) != std::string_view::npos;
    return sets || program_in(words) < words.size() || launched_command(words).launched;
  }

  std::vector<JobWord> words_of_statement(const Statement& statement, std::size_t first,
                                          bool value = false) const {
    std::vector<JobWord> words;
    for (std::size_t i = first; i < statement.words.size(); ++i) {
      const auto& [raw, at] = statement.words[i];
      for (auto& one : value ? variables_.value_of(raw, at) : variables_.expanded(raw, at))
        words.push_back(std::move(one));
    }
    return words;
  }

  // Commands in one text that a command is given: of bash -c, ssh, and their like. Their places are
  // those of the whole text. Words behind it are the last one's: "… ${ARGS[@]}" in quotes.
  void run_inside(const Statement& statement) {
    const auto holds_several = [](const JobWord& word) {
      return word.text.find(" -") != word.text.npos || word.text.find('\n') != word.text.npos;
    };
    const auto values = words_of_statement(statement, 0, true);
    if (std::ranges::none_of(values, holds_several)) return;
    const auto words = words_of_statement(statement, 0);
    std::vector<JobWord> command, before;
    for (std::size_t i = 0; i < std::min(values.size(), words.size()); ++i) {
      if (!holds_several(values[i])) {
        (command.empty() ? before : command).push_back(words[i]);
        continue;
      }
      bool next = false;
      for (auto& inner : statements_of(values[i].text)) {
        if (next) consider(std::exchange(command, {}), before);
        next = true;
        for (auto& word : inner.words) word.at = values[i].at;
        for (auto& one : words_of_statement(inner, 0)) command.push_back(std::move(one));
      }
    }
    consider(std::move(command), before);
  }

  void consider(std::vector<JobWord> words, const std::vector<JobWord>& before = {}) {
    const bool launched = any_program_ && !best_.empty() && launched_command(best_).launched;
    const bool better = any_program_ ? starts_program(words) && !launched
                                     : known_among(words, table_) > known_among(best_, table_);
    if (!better) return;
    best_ = std::move(words);
    before_ = before;
  }

  void run(const Statement& statement) {
    const auto& words = statement.words;
    std::size_t first = 0;
    constexpr std::array<std::string_view, 5> declare{"export", "local", "readonly", "declare",
                                                      "typeset"};
    if (!statement.array && std::ranges::find(declare, words[0].text) != declare.end()) {
      ++first;
      while (first < words.size() && words[first].text.starts_with('-')) ++first;  // declare -r
    }
    bool assigns = first < words.size();
    for (auto i = first; i < words.size() && !statement.array; ++i)
      assigns = assigns && assigned_at(words[i].text) != std::string_view::npos;
    if (statement.array || assigns) {
      for (auto i = first; i < (statement.array ? 1 : words.size()); ++i) assign(statement, i);
      return;
    }
    run_inside(statement);
    consider(words_of_statement(statement, 0));
  }

  void assign(const Statement& statement, std::size_t i) {
    const auto& word = statement.words[i];
    const auto value_at = assigned_at(word.text);
    const bool adds = word.text[value_at - 2] == '+';
    const auto name = word.text.substr(0, value_at - (adds ? 2 : 1));
    if (!statement.sure && !statement.array) {
      const auto line = std::to_string(word.at.line);
      variables_.doubt(
          name, name + " is set under a condition in line " + line + ", which needs a shell");
      return;
    }
    auto value = statement.array ? words_of_statement(statement, 1, true)
                                 : whole_value(word.text.substr(value_at), word.at);
    if (adds)
      variables_.append(name, value);
    else
      variables_.assign(name, value);
    if (auto words = split(name, value); known_among(words, table_) > 0)
      lists_.push_back(std::move(words));
  }

  // An assignment splits nothing.
  std::vector<JobWord> whole_value(const std::string& raw, const Place& at) const {
    std::string quoted = raw;
    if (raw.find('"') == raw.npos && raw.find('\'') == raw.npos) quoted = '"' + raw + '"';
    auto words = variables_.value_of(quoted, at);
    if (words.empty()) words.push_back({{}, {}, at});
    return words;
  }

  static std::vector<JobWord> split(const std::string& name, const std::vector<JobWord>& words) {
    ShellVariables variables({});
    variables.assign(name, words);
    return variables.expanded("$" + name, words.empty() ? Place{} : words.front().at);
  }

  std::vector<JobWord> all_lists() const {
    std::vector<JobWord> all;
    for (const auto& list : lists_) all.insert(all.end(), list.begin(), list.end());
    return all;
  }

  std::string_view text_;
  const ArgumentTable& table_;
  ShellVariables variables_;
  std::vector<JobWord> best_;     // of the command with most known arguments
  std::vector<JobWord> before_;   // of the command that is given this one as a text
  std::size_t arguments_at_ = 0;  // of the best
  bool any_program_;              // the best is the first that is launched, or the last program
  std::vector<std::vector<JobWord>> lists_;  // of variables that hold arguments
};

// --- lists: sections of lines

struct Line {
  std::string_view text;
  Place at;
};

const ArgumentTable& no_arguments() {
  static const ArgumentTable none("");
  return none;
}

std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> lines;
  std::int64_t number = 1;
  for (std::size_t begin = 0; begin < text.size(); ++number) {
    const auto end = std::min(text.find('\n', begin), text.size());
    auto line = text.substr(begin, end - begin);
    while (line.ends_with('\r') || line.ends_with(' ')) line.remove_suffix(1);
    lines.push_back({line, {number, 1, 0}});
    begin = end + 1;
  }
  return lines;
}

bool is_list(std::string_view text) {
  return text.starts_with("# variables\n") || text.find("\n# arguments\n") != text.npos ||
         text.starts_with("# arguments\n");
}

// A name that has two values, neither made of the other, got them under conditions that the list
// leaves out.
void assign_line(const Line& line, ShellVariables& variables,
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

Job read_list(std::string_view text, const ArgumentTable& table, std::span<const std::string> env) {
  ShellVariables variables(env);
  std::map<std::string, std::string_view> seen;
  std::vector<JobWord> launcher, words;
  std::string_view section = "# arguments";
  for (const auto& line : lines_of(text)) {
    if (line.text.starts_with("# ")) {
      section = line.text;
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

}  // namespace

std::vector<JobArgument> arguments_from(std::span<const JobWord> words,
                                        const ArgumentTable& table) {
  std::vector<JobArgument> arguments;
  for (std::size_t i = 0; i < words.size();) {
    const auto& word = words[i++];
    if (const auto value = override_at(word.text, table); value != std::string_view::npos) {
      const auto name = word.text.substr(0, value - 1);
      arguments.push_back({name.substr(std::min(name.find_first_not_of("+~"), name.size())),
                           {{word.text.substr(value), word.trouble, word.at}},
                           word.at});
      continue;
    }
    if (word.text == "$@" || word.text == "$*") {
      arguments.push_back({word.text, {}, word.at});
      continue;
    }
    if (!begins_argument(word.text)) {
      // Arguments may hide behind what only a shell can tell.
      if (!word.trouble.empty()) arguments.push_back({{}, {word}, word.at});
      continue;
    }
    JobArgument argument{std::string(name_in(word.text)), {}, word.at};
    const auto* known = table.find(argument.name);
    const char takes = known == nullptr ? '?' : known->takes;
    std::size_t most = takes == '0' ? 0 : takes == '1' ? 1 : takes == '3' ? 3 : words.size();
    if (argument.name.size() < word.text.size()) {
      argument.values.push_back(
          {word.text.substr(argument.name.size() + 1), word.trouble, word.at});
      most = 0;
    }
    for (; most > 0 && i < words.size() && !begins_argument(words[i].text) &&
           override_at(words[i].text, table) == std::string_view::npos;
         --most)
      argument.values.push_back(words[i++]);
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

Job read_shell_script(std::string_view text, const ArgumentTable& table,
                      std::span<const std::string> env) {
  return is_list(text) ? read_list(text, table, env) : Script(text, table, env).read();
}

std::optional<LaunchScript> read_launch(std::string_view text, std::span<const std::string> env) {
  Script script(text, no_arguments(), env, true);
  LaunchScript launch{script.read(), {}};
  const auto behind = script.behind_program();
  launch.words.assign(behind.begin(), behind.end());
  if (!script.starts()) return {};
  return launch;
}

std::size_t arguments_in(std::string_view text, const ArgumentTable& table, std::string_view part) {
  std::size_t known = 0;
  for (const auto& line : lines_of(text)) {
    const auto code = line.text.substr(0, line.text.find('#'));
    for (auto begin = code.find("--"); begin != code.npos; begin = code.find("--", begin + 2)) {
      const auto rest = code.substr(begin);
      const auto name = rest.substr(0, rest.find_first_of(" =\t\\\"')"));
      if (name.find(part, 2) != name.npos && table.find(name) != nullptr) ++known;
    }
  }
  return known;
}

std::size_t overrides_in(std::string_view text, const ArgumentTable& table) {
  std::size_t known = 0;
  for (const auto& line : lines_of(text)) {
    const auto code = line.text.substr(0, line.text.find('#'));
    for (auto rest = code; !rest.empty();) {
      const auto end = std::min(rest.find_first_of(" \t\"'()"), rest.size());
      if (override_at(rest.substr(0, end), table) != rest.npos) ++known;
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return known;
}

}  // namespace scenarios

// SPDX-License-Identifier: Apache-2.0
// Outputs of commands that can be told without running them: "$(basename a/b.yaml)".
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/shell/arithmetic.hpp"
#include "scenarios/shell/statements.hpp"
#include "scenarios/shell/word_expansion.hpp"
#include "scenarios/shell/word_parts.hpp"

namespace scenarios {
namespace {

// Whether a command is pwd.
bool is_pwd(const Statement& statement) {
  const auto& words = statement.words;
  return words.front().text == "pwd" && !runs_apart(statement) &&
         (words.size() == 1 || (words.size() == 2 && words[1].text.starts_with('-')));
}

// Returns the word X of "cd X && pwd"; null: another command.
const RawWord* shown_folder(const std::vector<Statement>& statements) {
  if (statements.size() != 2 || !is_pwd(statements[1]) || statements[1].joined == '|') return {};
  const auto& words = statements.front().words;
  const bool option = words.size() == 3 && words[1].text.starts_with('-');
  const bool moves = words.front().text == "cd" && (words.size() == 2 || option);
  return moves && !runs_apart(statements.front()) ? &words.back() : nullptr;
}

// Returns "(a * b)" for the command "expr a \* b", whose words are numbers, variables and signs;
// empty: another command.
std::string sum_of(std::string_view command) {
  constexpr std::string_view name = "expr ";
  const auto start = command.find_first_not_of(" \t");
  if (start == command.npos || !command.substr(start).starts_with(name)) return {};
  std::string sum = "(";
  for (const char c : command.substr(start + name.size())) {
    if (is_letter(c) && (sum.back() == ' ' || sum.back() == '(')) return {};  // "length TEXT"
    if (c != '\\' && c != '\'' && c != '"') sum += c;
  }
  return sum + ")";
}

// Returns the words that "echo" shows; empty: another command, or more than one.
std::string_view echoed_by(std::string_view command) {
  constexpr std::string_view name = "echo ", blanks = " \t\n";
  const auto start = command.find_first_not_of(blanks);
  if (start == command.npos || !command.substr(start).starts_with(name)) return {};
  command.remove_prefix(start + name.size());
  const auto first = command.find_first_not_of(blanks);
  const bool plain = command.find_first_of("|;&<>()`*?[\n'\\") == command.npos;
  // "echo -n" has an option, "echo --tensor-model-parallel-size 8" none.
  const bool option =
      first != command.npos && command[first] == '-' && !command.substr(first).starts_with("--");
  return first != command.npos && !option && plain ? command.substr(first) : std::string_view();
}

// Returns the lines of "cat <<EOF", lines, "EOF" as a word in quotes; empty: another command.
std::string here_document(std::string_view command) {
  const auto start = command.find_first_not_of(" \t\n");
  if (start == command.npos || !command.substr(start).starts_with("cat")) return {};
  const auto line_end = command.find('\n', start);
  const auto mark_at = command.find("<<", start);
  if (mark_at == command.npos || line_end == command.npos || mark_at > line_end) return {};
  std::string name;
  bool literal = false;
  for (const char c : command.substr(mark_at + 2, line_end - mark_at - 2)) {
    literal = literal || c == '\'' || c == '"' || c == '\\';
    if (is_letter(c) || is_digit(c)) name += c;
  }
  const auto body_end = name.empty() ? command.npos : command.rfind(name);
  if (body_end == command.npos || body_end <= line_end) return {};
  return quoted_lines(command.substr(line_end + 1, body_end - line_end - 1), literal);
}

// Returns the raw word FILE of "cat FILE" and "< FILE"; empty: another command.
std::string shown_file(std::string_view command, const std::vector<Statement>& statements) {
  constexpr std::string_view blanks = " \t\n";
  const auto start = std::min(command.find_first_not_of(blanks), command.size());
  command.remove_prefix(start);
  if (command.size() > 1 && command[0] == '<' && command[1] != '<' && command[1] != '(') {
    const auto file =
        command.substr(std::min(command.find_first_not_of(blanks, 1), command.size()));
    return file.find_first_of("|;&<> \t") == file.npos ? std::string(file) : std::string();
  }
  if (statements.size() != 1) return {};
  const auto& one = statements.front();
  const bool plain = one.document.text.empty() && one.output.empty() && one.processes.empty() &&
                     !one.input && !one.array && !runs_apart(one);
  return plain && one.words.size() == 2 && one.words[0].text == "cat" ? one.words[1].text
                                                                      : std::string();
}

// Whether there is nothing but a comment.
bool is_comment(std::string_view command) {
  const auto first = command.find_first_not_of(" \t");
  return first != command.npos && command[first] == '#' && command.find('\n') == command.npos;
}

using Arguments = std::vector<std::string>;

// "seq 3", "seq 2 4", "seq 2 2 8".
std::optional<std::string> output_of_seq(const Arguments& words) {
  constexpr std::size_t most = 1'000;
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto number = whole_number(words[i]);
    if (!number) return {};
    numbers.push_back(*number);
  }
  if (numbers.empty() || numbers.size() > 3) return {};
  const auto first = numbers.size() > 1 ? numbers.front() : 1, last = numbers.back(),
             step = numbers.size() > 2 ? numbers[1] : 1;
  if (step == 0) return {};
  std::string text;
  std::size_t count = 0;
  for (auto at = first; step > 0 ? at <= last : at >= last; at += step) {
    if (++count > most) return {};
    text += (text.empty() ? "" : "\n") + std::to_string(at);
  }
  return text;
}

std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

// "basename PATH" and "basename PATH SUFFIX".
std::optional<std::string> output_of_basename(const Arguments& words) {
  if (words.size() < 2 || words.size() > 3 || words[1].starts_with('-')) return {};
  auto name = without_slashes(words[1]);
  if (name.size() > 1) name.erase(0, name.rfind('/') + 1);
  if (words.size() == 3 && name != words[2] && name.ends_with(words[2]))
    name.resize(name.size() - words[2].size());
  return name;
}

std::optional<std::string> output_of_dirname(const Arguments& words) {
  const bool marked = words.size() == 3 && words[1] == "--";
  if (!marked && (words.size() != 2 || words[1].starts_with('-'))) return {};
  auto path = without_slashes(words.back());
  const auto slash = path.rfind('/');
  if (slash == path.npos) return ".";
  path.resize(std::max<std::size_t>(1, slash));
  return without_slashes(std::move(path));
}

// "printf FORMAT WORD…" with %s and %d, over and over until no word is left.
std::optional<std::string> output_of_printf(const Arguments& words) {
  if (words.size() < 2 || words[1].starts_with('-')) return {};
  const auto& format = words[1];
  std::string text;
  std::size_t next = 2;
  do {
    const auto before = next;
    for (std::size_t i = 0; i < format.size(); ++i) {
      const char c = format[i], behind = i + 1 < format.size() ? format[i + 1] : '\0';
      if (c != '%' && c != '\\') {
        text += c;
        continue;
      }
      ++i;
      if (c == behind) {
        text += c;
      } else if (c == '\\' && (behind == 'n' || behind == 't')) {
        text += behind == 'n' ? '\n' : '\t';
      } else if (c == '%' && (behind == 's' || behind == 'd')) {
        const auto word = next < words.size() ? words[next++] : behind == 's' ? "" : "0";
        const auto number = whole_number(word);
        if (behind == 'd' && (!number || std::to_string(*number) != word)) return {};
        text += word;
      } else {
        return {};
      }
    }
    if (next == before) break;
  } while (next < words.size());
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

// "realpath PATH" and "readlink -f PATH" of a path that does not go on from another folder.
std::optional<std::string> output_of_realpath(const Arguments& words) {
  const bool follows = words.size() == 3 && words[1].starts_with('-') && words[1] != "-s";
  if (words.size() != 2 && !follows) return {};
  if (words.front() == "readlink" && !follows) return {};
  const auto& path = words.back();
  const bool known = path == script_folder || path.starts_with('/') || path.starts_with("./");
  return known ? std::optional(path) : std::nullopt;
}

// Returns what the command of these words prints, without the last line's end; nothing: it is
// another command.
std::optional<std::string> output_of(const Arguments& words) {
  const auto& name = words.front();
  if (name == "seq") return output_of_seq(words);
  if (name == "basename") return output_of_basename(words);
  if (name == "dirname") return output_of_dirname(words);
  if (name == "realpath" || name == "readlink") return output_of_realpath(words);
  return name == "printf" ? output_of_printf(words) : std::nullopt;
}

// Returns the parts of the line that "cut -d = -f 1" prints; nothing: another command. `words`:
// those of the command.
std::optional<std::string> output_of_cut(const Arguments& words, std::string_view line) {
  constexpr std::string_view by = "-d", of = "-f";
  std::string split = "\t", field;
  if (words.empty() || words.front() != "cut" || line.find('\n') != line.npos) return {};
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto option = std::string_view(words[i]).substr(0, by.size());
    if (option != by && option != of) return {};
    const bool apart = words[i].size() == option.size();
    if (apart && i + 1 == words.size()) return {};
    auto value = apart ? words[++i] : words[i].substr(option.size());
    (option == by ? split : field) = std::move(value);
  }
  const auto number = whole_number(field);
  if (split.size() != 1 || !number || *number < 1) return {};
  if (line.find(split) == line.npos) return std::string(line);
  for (auto left = *number; left > 1; --left)
    line.remove_prefix(std::min(line.find(split), line.size() - 1) + 1);
  return std::string(line.substr(0, line.find(split)));
}

// Returns the words of a statement if they are known, and it does nothing beside its command;
// empty: only a shell can tell them.
Arguments words_of(const Statement& one, const ShellVariables& variables, const Place& at,
                   std::size_t depth, Unknown unknown) {
  const bool plain =
      !one.array && one.output.empty() && one.defines.empty() && one.document.text.empty();
  Arguments words;
  for (std::size_t i = 0; plain && i < one.words.size(); ++i)
    for (auto& word : WordExpansion(variables, at, depth, unknown).of(one.words[i].text)) {
      if (!word.trouble.empty() || word.text == "$@") return {};
      words.push_back(std::move(word.text));
    }
  return words;
}

// Returns the words of a command that is one of known words; empty: only a shell can tell them.
Arguments known_words(std::string_view command, const ShellVariables& variables, const Place& at,
                      std::size_t depth, Unknown unknown) {
  const auto statements = statements_of(command);
  if (statements.size() != 1) return {};
  const auto& one = statements.front();
  // Only the folder of the script is known, neither the name of the script nor the folder above.
  const bool of_script = command.find("$0") != command.npos ||
                         command.find("${0") != command.npos ||
                         command.find("BASH_SOURCE") != command.npos;
  const auto& name = one.words.front().text;
  const auto dirname = command.find("dirname ");
  const bool folder = dirname == command.rfind("dirname ") &&
                      (name == "dirname" || name == "realpath" || name == "readlink");
  if ((of_script && !folder) || runs_apart(one) || unclosed_quote(command)) return {};
  return words_of(one, variables, at, depth, unknown);
}

// Returns what "echo WORDS | cut -d = -f 1" prints; nothing: another command, or only a shell can
// tell.
std::optional<std::string> cut_output(std::string_view command, const ShellVariables& variables,
                                      const Place& at, std::size_t depth) {
  const auto statements = statements_of(command);
  const bool piped = statements.size() == 2 && statements[0].feeds && statements[1].reads;
  if (!piped || statements[0].words.front().text != "echo" || unclosed_quote(command)) return {};
  const auto shown = words_of(statements[0], variables, at, depth, Unknown::reason);
  std::string line;
  for (std::size_t i = 1; i < shown.size(); ++i) line += (i == 1 ? "" : " ") + shown[i];
  if (shown.size() < 2 || line.starts_with('-') || line.find('\\') != line.npos) return {};
  return output_of_cut(words_of(statements[1], variables, at, depth, Unknown::reason), line);
}

}  // namespace

void WordExpansion::in_brackets(std::string_view inside) {
  if (inside.starts_with('(') && inside.ends_with(')')) return add_calculated(inside);
  if (auto text = here_document(inside); !text.empty() && depth_ < deepest_default) {
    for (const auto& word : inner(Unknown::mark).of(text)) add_value(word.text, {});
    return;
  }
  add_output(inside);
}

void WordExpansion::add_output(std::string_view command) {
  if (is_comment(command)) return;  // a way to write one between lines that go on
  const auto statements = statements_of(command);
  if (statements.size() == 1 && is_pwd(statements.front())) return put("PWD", {}, false, false);
  if (const auto* folder = shown_folder(statements); folder != nullptr) {
    const auto path = single(folder->text);
    if (path && !path->empty()) return add_value(*path, {});
  }
  if (const auto sum = sum_of(command); !sum.empty()) return add_calculated(sum);
  if (const auto shown = echoed_by(command); !shown.empty() && depth_ < deepest_default)
    return add_words(inner(unknown_).of(shown), {}, false);
  if (const auto cut = depth_ < deepest_default ? cut_output(command, variables_, at_, depth_ + 1)
                                                : std::nullopt)
    return add_value(*cut, {});
  if (const auto file = shown_file(command, statements); !file.empty()) {
    const auto path = single(file);
    const auto& read = variables_.values().around.file;
    auto text = path && read ? read(*path) : std::nullopt;
    if (!text && path)
      return trouble(*path + ", which a command reads here, is not beside this file");
    if (text && !text->trouble.empty()) return trouble(text->trouble);
    if (text) {
      text->text.resize(text->text.find_last_not_of('\n') + 1);
      return add_value(text->text, {});
    }
  }
  if (statements.size() == 1 && statements.front().words.size() == 1 &&
      variables_.values().around.command)
    if (const auto inside =
            variables_.values().around.command(statements.front().words.front().text))
      return add_output(*inside);
  const auto told = unknown_ == Unknown::none ? unknown_ : Unknown::reason;
  const auto words = depth_ < deepest_default
                         ? known_words(command, variables_, at_, depth_ + 1, told)
                         : Arguments();
  const auto text = words.empty() ? std::nullopt : output_of(words);
  if (text) return add_value(*text, {});
  trouble("it is the output of a command, which needs a shell");
}

}  // namespace scenarios

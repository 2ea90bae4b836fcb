// SPDX-License-Identifier: Apache-2.0
#include "scenarios/shell/word_expansion.hpp"

#include <algorithm>
#include <utility>

#include "scenarios/shell/arithmetic.hpp"
#include "scenarios/shell/word_parts.hpp"

namespace scenarios {
namespace {

// Returns the index behind the bracket that closes the one at `from`; the end of the text if none
// does.
std::size_t behind_closing(std::string_view text, std::size_t from, char open, char close) {
  int depth = 0;
  for (; from < text.size(); ++from) {
    if (text[from] == '\\') {
      ++from;
      continue;
    }
    if (text[from] == open) ++depth;
    if (text[from] == close && --depth == 0) return from + 1;
  }
  return text.size();
}

// Whether a command prints the folder of the script, in which it is taken to be started: "pwd",
// "dirname $0", "cd $(dirname $0) && pwd".
bool tells_folder(std::string_view command) {
  constexpr std::string_view blanks = " \t\r\n";
  const auto begin = std::min(command.find_first_not_of(blanks), command.size());
  command = command.substr(begin, command.find_last_not_of(blanks) + 1 - begin);
  if (command == "pwd") return true;
  const bool of_script =
      command.find("$0") != command.npos || command.find("BASH_SOURCE") != command.npos;
  const auto dirname = command.find("dirname ");
  const bool once = dirname != command.npos && dirname == command.rfind("dirname ");
  const bool other = command.find_first_of("/;|") != command.npos;
  const bool moves = command.starts_with("cd ") && command.ends_with("&& pwd");
  return of_script && once && !other && (moves || dirname == 0);
}

std::string marked(std::string_view why) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text(1, mark);
  for (const char c : why) {
    const auto byte = static_cast<unsigned char>(c);
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text + mark_end;
}

std::string unmarked(std::string_view hexadecimal) {
  const auto digit = [](char c) { return is_digit(c) ? c - '0' : (c - 'a' + 10) & 15; };
  std::string why;
  for (std::size_t i = 0; i + 1 < hexadecimal.size(); i += 2)
    why += static_cast<char>(digit(hexadecimal[i]) << 4 | digit(hexadecimal[i + 1]));
  return why;
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
  return first != command.npos && command[first] != '-' && plain ? command.substr(first)
                                                                 : std::string_view();
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

}  // namespace

std::vector<ShellWord> WordExpansion::of(std::string_view raw) {
  for (std::size_t i = 0; i < raw.size();) i = step(raw, i);
  end_word();
  return std::move(words_);
}

std::size_t WordExpansion::step(std::string_view raw, std::size_t i) {
  const char c = raw[i];
  if (c == '\\') return escaped(raw, i);
  if (c == '\'' && !quoted_) {
    const auto end = std::min(raw.find('\'', i + 1), raw.size());
    add(raw.substr(i + 1, end - i - 1));
    return std::min(end + 1, raw.size());
  }
  if (c == '"') {
    quoted_ = !quoted_;
    begun_ = true;
    return i + 1;
  }
  if (c == '`') {
    const auto end = std::min(raw.find('`', i + 1), raw.size());
    add_output(raw.substr(i + 1, end - i - 1));
    return std::min(end + 1, raw.size());
  }
  if (c == '$') return variable(raw, i);
  if (c == mark) return passed_mark(raw, i, {});
  add(raw.substr(i, 1));
  return i + 1;
}

std::size_t WordExpansion::passed_mark(std::string_view text, std::size_t i,
                                       const std::string& variable) {
  const auto end = std::min(text.find(mark_end, i), text.size());
  trouble_of(variable, unmarked(text.substr(i + 1, end - i - 1)));
  return std::min(end + 1, text.size());
}

void WordExpansion::trouble_of(const std::string& variable, const std::string& why) {
  trouble(variable.empty() || why.find("--env") != why.npos
              ? why
              : variable + ": " + why + advice(variable));
}

std::size_t WordExpansion::escaped(std::string_view raw, std::size_t i) {
  if (i + 1 >= raw.size()) return raw.size();
  const char next = raw[i + 1];
  const bool kept = quoted_ && next != '$' && next != '"' && next != '\\' && next != '`';
  if (next != '\n') add(raw.substr(kept ? i : i + 1, kept ? 2 : 1));
  return i + 2;
}

std::size_t WordExpansion::variable(std::string_view raw, std::size_t i) {
  const char next = i + 1 < raw.size() ? raw[i + 1] : '\0';
  if (next == '(') {
    const auto end = behind_closing(raw, i + 1, '(', ')');
    in_brackets(raw.substr(i + 2, end - i - 3 < raw.size() ? end - i - 3 : 0));
    return end;
  }
  if (next == '{') {
    const auto end = behind_closing(raw, i + 1, '{', '}');
    in_braces(raw.substr(i + 2, end - i - 3 < raw.size() ? end - i - 3 : 0));
    return end;
  }
  if (is_letter(next)) {
    const auto end = name_end(raw, i + 1);
    put(std::string(raw.substr(i + 1, end - i - 1)), {}, false, false);
    return end;
  }
  if (next == '@' || next == '*') {
    add_arguments(next == '@', 0);
    return i + 2;
  }
  if (is_digit(next) || next == '#' || next == '?') {
    add_argument(std::string(1, next), "$" + std::string(1, next));
    return i + 2;
  }
  add(raw.substr(i, 1));
  return i + 1;
}

void WordExpansion::add_arguments(bool apart, std::size_t first) {
  const auto& all = variables_.arguments_;
  if (!all.doubt.empty()) return trouble(all.doubt);
  if (all.own) return add("$@");
  const auto skipped = std::min(first, all.words.size());
  add_words({all.words.begin() + static_cast<std::ptrdiff_t>(skipped), all.words.end()}, {}, apart);
}

void WordExpansion::add_argument(const std::string& name, const std::string& shown,
                                 std::optional<std::string_view> fallback) {
  const auto& all = variables_.arguments_;
  const bool numbered = !name.empty() && name.size() < 4 && std::ranges::all_of(name, is_digit);
  if (!all.doubt.empty()) return trouble(all.doubt);
  if (name == "#") return add(std::to_string(count()));
  if (name == "0") return add(script_name);
  const auto asked = numbered ? std::stoll(name) : 0;
  const auto number = asked > 0 ? asked + all.shifted : asked;
  if (!all.own && number > 0) {
    const bool given = number <= static_cast<std::int64_t>(all.words.size());
    const auto* word = given ? &all.words[static_cast<std::size_t>(number) - 1] : nullptr;
    if (fallback && (word == nullptr || (word->text.empty() && word->trouble.empty())))
      return add_default(*fallback, {}, false);
    return word == nullptr ? add("") : add_words({*word}, {}, false);
  }
  const auto env = numbered ? std::to_string(number) : name;
  const auto given = variables_.given_.find(env);
  if (given != variables_.given_.end()) return add_value(given->second, env);
  if (fallback) return add_default(*fallback, {}, false);
  // If the argument is the value of a variable, the variable may be given instead.
  const bool advises = !marks_ && numbered;
  const bool moved = numbered && all.shifted > 0;
  trouble("it is " + (moved ? "$" + env : shown) + ", an argument of the script" +
          (advises ? advice(env) : ""));
}

std::int64_t WordExpansion::count() const {
  const auto& all = variables_.arguments_;
  if (!all.own) return static_cast<std::int64_t>(all.words.size());
  std::int64_t last = 0;
  for (const auto& [name, value] : variables_.given_)
    if (!name.empty() && name.size() < 4 && std::ranges::all_of(name, is_digit))
      last = std::max<std::int64_t>(last, std::stoi(name));
  return std::max<std::int64_t>(0, last - all.shifted);
}

void WordExpansion::in_brackets(std::string_view inside) {
  if (inside.starts_with('(') && inside.ends_with(')')) return add_calculated(inside);
  if (auto text = here_document(inside); !text.empty() && depth_ < deepest_default) {
    for (const auto& word : WordExpansion(variables_, at_, depth_ + 1, true).of(text))
      add_value(word.text, {});
    return;
  }
  add_output(inside);
}

void WordExpansion::add_output(std::string_view command) {
  if (tells_folder(command)) return add(".");
  if (const auto sum = sum_of(command); !sum.empty()) return add_calculated(sum);
  if (const auto shown = echoed_by(command); !shown.empty() && depth_ < deepest_default)
    return add_words(WordExpansion(variables_, at_, depth_ + 1, marks_).of(shown), {}, false);
  trouble("it is the output of a command, which needs a shell");
}

void WordExpansion::add_calculated(std::string_view inside) {
  if (depth_ >= deepest_default) return trouble("too many calculations inside of each other");
  const auto words =
      WordExpansion(variables_, at_, depth_ + 1, false).of('"' + std::string(inside) + '"');
  if (words.size() == 1 && !words.front().trouble.empty()) return trouble(words.front().trouble);
  std::string lacking;  // what is wrong with the first name that has no text
  const auto names = [&](const std::string& name) {
    auto text = variables_.text_of(name);
    if (!text && lacking.empty())
      for (const auto& word :
           WordExpansion(variables_, at_, depth_ + 1, false).of("\"$" + name + '"'))
        lacking = word.trouble;
    return text;
  };
  const auto sum = words.size() == 1 ? calculated(words.front().text, names) : std::nullopt;
  if (sum)
    add(std::to_string(*sum));
  else
    trouble(lacking.empty() ? "it is calculated, which needs a shell" : lacking);
}

void WordExpansion::add_words(const std::vector<ShellWord>& words, const std::string& name,
                              bool list) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto& word = words[i];
    if (i > 0) list || !quoted_ ? end_word() : add(" ");
    add_value(word.text, name);
    if (!word.trouble.empty()) trouble_of(name, word.trouble);
  }
}

void WordExpansion::add_value(std::string_view text, const std::string& name) {
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == mark) {
      i = passed_mark(text, i, name);
      continue;
    }
    const auto plain =
        std::min(text.find_first_of(quoted_ ? "\x1d" : "\x1d \t\n\r", i), text.size());
    add(text.substr(i, plain - i));
    i = plain;
    if (i < text.size() && is_blank(text[i])) {
      end_word();
      ++i;
    }
  }
  if (text.empty()) add(text);
}

void WordExpansion::add(std::string_view text) {
  begun_ = begun_ || quoted_ || !text.empty();
  if (word_.text.size() + text.size() > longest)
    trouble("it is longer than any argument");
  else
    word_.text += text;
}

void WordExpansion::trouble(const std::string& why) {
  begun_ = true;
  if (marks_ && word_.text.size() + 2 * why.size() + 2 <= longest)
    word_.text += marked(why);
  else if (word_.trouble.empty())
    word_.trouble = why;
}

void WordExpansion::end_word() {
  word_.at = at_;
  const auto cost = sizeof(ShellWord) + word_.text.size() + word_.trouble.size();
  auto& left = variables_.budget_;
  if (begun_ && cost <= left) {
    left -= cost;
    words_.push_back(std::move(word_));
  }
  word_ = {};
  begun_ = false;
}

}  // namespace scenarios

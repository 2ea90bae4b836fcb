// SPDX-License-Identifier: Apache-2.0
#include "scenarios/shell/words.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include "scenarios/shell/arithmetic.hpp"
#include "scenarios/shell/changed_text.hpp"

namespace scenarios {
namespace {

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::size_t name_end(std::string_view text, std::size_t from) {
  while (from < text.size() && (is_letter(text[from]) || is_digit(text[from]))) ++from;
  return from;
}

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

std::string advice(const std::string& name) { return "; add --env " + name + "=VALUE"; }

constexpr std::size_t deepest_default = 16;  // defaults inside of defaults
constexpr std::size_t most_arguments = 1000;

// A value may hold parts that only a shell can tell anywhere in its text. The reason of each stands
// between these two control characters, in hexadecimal, so that none of its blanks and quotes
// counts.
constexpr char mark = '\x1d', mark_end = '\x1e';

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

std::string quoted_lines(std::string_view lines, bool literal) {
  std::string word = "\"";
  for (const char c : lines) {
    if (c == '"' || (literal && (c == '$' || c == '`' || c == '\\'))) word += '\\';
    word += c;
  }
  return word + '"';
}

// Expands one word into the words that it stands for.
class WordExpansion {
 public:
  WordExpansion(const ShellVariables& variables, const Place& at, std::size_t depth, bool marks)
      : variables_(variables), at_(at), depth_(depth), marks_(marks) {}

  std::vector<ShellWord> of(std::string_view raw) {
    for (std::size_t i = 0; i < raw.size();) i = step(raw, i);
    end_word();
    return std::move(words_);
  }

 private:
  std::size_t step(std::string_view raw, std::size_t i) {
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

  // Takes the trouble marked at `i`, which came by way of a variable, as this word's; returns the
  // index behind the mark.
  std::size_t passed_mark(std::string_view text, std::size_t i, const std::string& variable) {
    const auto end = std::min(text.find(mark_end, i), text.size());
    trouble_of(variable, unmarked(text.substr(i + 1, end - i - 1)));
    return std::min(end + 1, text.size());
  }

  void trouble_of(const std::string& variable, const std::string& why) {
    trouble(variable.empty() || why.find("--env") != why.npos
                ? why
                : variable + ": " + why + advice(variable));
  }

  std::size_t escaped(std::string_view raw, std::size_t i) {
    if (i + 1 >= raw.size()) return raw.size();
    const char next = raw[i + 1];
    const bool kept = quoted_ && next != '$' && next != '"' && next != '\\' && next != '`';
    if (next != '\n') add(raw.substr(kept ? i : i + 1, kept ? 2 : 1));
    return i + 2;
  }

  std::size_t variable(std::string_view raw, std::size_t i) {
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

  // Adds the arguments behind the first ones. Those of the script stay as they are: a job is
  // started as it stands, so there are none.
  void add_arguments(bool apart, std::size_t first) {
    const auto& all = variables_.arguments_;
    if (!all.doubt.empty()) return trouble(all.doubt);
    if (all.own) return add("$@");
    const auto skipped = std::min(first, all.words.size());
    add_words({all.words.begin() + static_cast<std::ptrdiff_t>(skipped), all.words.end()}, {},
              apart);
  }

  // Adds an argument of the script or function, which writes it as `shown`; one of the script may
  // be given by --env.
  void add_argument(const std::string& name, const std::string& shown,
                    std::optional<std::string_view> fallback = {}) {
    const auto& all = variables_.arguments_;
    const bool numbered = !name.empty() && name.size() < 4 && std::ranges::all_of(name, is_digit);
    if (!all.doubt.empty()) return trouble(all.doubt);
    if (name == "#") return add(std::to_string(count()));
    const auto number = numbered ? std::stoll(name) + all.shifted : 0;
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

  // The number of arguments. Of the script's the last one that is given counts.
  std::int64_t count() const {
    const auto& all = variables_.arguments_;
    if (!all.own) return static_cast<std::int64_t>(all.words.size());
    std::int64_t last = 0;
    for (const auto& [name, value] : variables_.given_)
      if (!name.empty() && name.size() < 4 && std::ranges::all_of(name, is_digit))
        last = std::max<std::int64_t>(last, std::stoi(name));
    return std::max<std::int64_t>(0, last - all.shifted);
  }

  // Adds the value of $(…): a calculation, or a command's output.
  void in_brackets(std::string_view inside) {
    if (inside.starts_with('(') && inside.ends_with(')')) return add_calculated(inside);
    if (auto text = here_document(inside); !text.empty() && depth_ < deepest_default) {
      for (const auto& word : WordExpansion(variables_, at_, depth_ + 1, true).of(text))
        add_value(word.text, {});
      return;
    }
    add_output(inside);
  }

  // Adds the output of a command: of one that tells the script's folder a dot, of expr its sum.
  void add_output(std::string_view command) {
    if (tells_folder(command)) return add(".");
    if (const auto sum = sum_of(command); !sum.empty()) return add_calculated(sum);
    trouble("it is the output of a command, which needs a shell");
  }

  void add_calculated(std::string_view inside) {
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

  // Adds the value of ${…}: NAME, NAME:-default, NAME[@], NAME%suffix and their like.
  void in_braces(std::string_view inside) {
    if (inside.starts_with('@') || inside.starts_with('*')) return arguments_from(inside);
    if (inside == "#") return add_argument("#", {});
    if (inside.size() > 1 && (inside[0] == '#' || inside[0] == '!')) return measured(inside);
    const auto end = name_end(inside, 0);
    const std::string name(inside.substr(0, end));
    auto rest = inside.substr(end);
    const bool numbered = !name.empty() && is_digit(name.front());
    if (name.empty() || (numbered && rest.empty()))
      return add_argument(numbered ? name : "", "${" + std::string(inside) + "}");
    const bool list = rest.starts_with("[@]") || rest.starts_with("[*]");
    if (!list && rest.starts_with('[') && rest.ends_with(']'))
      return element(name, rest.substr(1, rest.size() - 2));
    if (list) rest.remove_prefix(3);
    if (rest.empty()) return put(name, {}, false, list);
    const bool colon = rest.starts_with(':');
    const auto operation = rest.substr(colon ? 1 : 0);
    const char sign = operation.empty() ? '\0' : operation.front();
    const bool has_default = sign == '-' || sign == '=';
    if (numbered && has_default) return add_argument(name, {}, operation.substr(1));
    if (has_default) return put(name, operation.substr(1), true, list);
    if (sign == '?') return put(name, {}, false, list);
    if (sign == '+') return alternative(name, operation.substr(1), colon);
    change(name, inside, rest, list);
  }

  // "${@}", "${@:2}".
  void arguments_from(std::string_view inside) {
    std::size_t first = 0;
    if (inside.size() > 2 && inside[1] == ':' && std::ranges::all_of(inside.substr(2), is_digit))
      first = inside.size() > 4 ? most_arguments : std::stoul(std::string(inside.substr(2)));
    add_arguments(inside.front() == '@', first > 0 ? first - 1 : 0);
  }

  // "${#NAME}", "${#NAME[@]}", "${!NAME}".
  void measured(std::string_view inside) {
    const auto end = name_end(inside, 1);
    const std::string name(inside.substr(1, end - 1));
    const auto rest = inside.substr(end);
    const bool list = rest == "[@]" || rest == "[*]";
    const auto found = variables_.values_.find(name);
    const bool plain = found != variables_.values_.end() &&
                       std::ranges::all_of(found->second, [](const ShellWord& word) {
                         return word.trouble.empty() && word.text.find(mark) == word.text.npos;
                       });
    const auto text = variables_.text_of(name);
    if (inside[0] == '#' && list && plain) return add(std::to_string(found->second.size()));
    if (inside[0] == '#' && rest.empty() && text) return add(std::to_string(text->size()));
    if (inside[0] == '!' && rest.empty() && text && name_end(*text, 0) == text->size() &&
        depth_ < deepest_default)
      return put(*text, {}, false, false);
    trouble("${" + std::string(inside) + "} needs a shell" + (text ? "" : advice(name)));
  }

  // "${NAME[2]}", or "${NAME[key]}" of an array with keys.
  void element(const std::string& name, std::string_view index) {
    const auto found = variables_.values_.find(name);
    const auto key = single(index);
    if (found == variables_.values_.end() || !key)
      return trouble("${" + name + "[" + std::string(index) + "]} needs a shell");
    const auto& words = found->second;
    for (const auto& word : words) {
      const auto begin = "[" + *key + "]=";
      if (word.text.starts_with(begin)) return add_value(word.text.substr(begin.size()), name);
    }
    const auto number =
        calculated(*key, [&](const std::string& variable) { return variables_.text_of(variable); });
    const bool keyed = std::ranges::any_of(
        words, [](const ShellWord& word) { return word.text.starts_with('['); });
    if (keyed || !number || *number < 0)
      return trouble("${" + name + "[" + std::string(index) + "]} needs a shell");
    if (*number < static_cast<std::int64_t>(words.size()))
      add_words({words[static_cast<std::size_t>(*number)]}, name, false);
  }

  // "${NAME:+word}": the word if the variable has a value, which `colon` wants not to be empty.
  void alternative(const std::string& name, std::string_view word, bool colon) {
    const bool digits = is_digit(name.front());
    const auto text = variables_.text_of(name);
    const auto found = variables_.values_.find(name);
    const bool unknown = found != variables_.values_.end() && !text && !found->second.empty();
    if (digits || unknown) return put(name, {}, false, false);  // its trouble
    if (!text || (colon && text->empty())) return;
    add_default(word, {}, false);
  }

  // "${NAME,,}", "${NAME%.yaml}", "${NAME/a/b}".
  void change(const std::string& name, std::string_view inside, std::string_view operation,
              bool list) {
    const auto text = list ? std::nullopt : variables_.text_of(name);
    if (!text && !list && !variables_.knows(name)) return put(name, {}, false, false);
    const auto operand = single(operation);
    const auto changed = text && operand ? changed_text(*text, *operand) : std::nullopt;
    if (changed) return add_value(*changed, {});
    trouble("${" + std::string(inside) + "} needs a shell");
  }

  // The one word that a part of ${…} stands for.
  std::optional<std::string> single(std::string_view raw) const {
    if (depth_ >= deepest_default) return {};
    const auto words =
        WordExpansion(variables_, at_, depth_ + 1, false).of('"' + std::string(raw) + '"');
    const bool one = words.size() == 1 && words.front().trouble.empty();
    return one ? std::optional(words.front().text) : std::nullopt;
  }

  void add_default(std::string_view fallback, const std::string& name, bool list) {
    if (depth_ >= deepest_default) return trouble("too many defaults inside of each other");
    add_words(WordExpansion(variables_, at_, depth_ + 1, marks_).of(fallback), name, list);
  }

  void put(const std::string& name, std::string_view fallback, bool has_fallback, bool list) {
    if (const auto given = variables_.given_.find(name); given != variables_.given_.end())
      return add_value(given->second, name);
    const auto found = variables_.values_.find(name);
    const bool known = found != variables_.values_.end();
    const bool empty = known && std::ranges::all_of(found->second, [](const ShellWord& word) {
                         return word.text.empty() && word.trouble.empty();
                       });
    if (has_fallback && (!known || empty)) return add_default(fallback, name, list);
    if (known) return add_words(found->second, name, list);
    trouble(name + " has no value in this file" + advice(name));
  }

  void add_words(const std::vector<ShellWord>& words, const std::string& name, bool list) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      const auto& word = words[i];
      if (i > 0) list || !quoted_ ? end_word() : add(" ");
      add_value(word.text, name);
      if (!word.trouble.empty()) trouble_of(name, word.trouble);
    }
  }

  // Adds the text of the variable of that name, which is split outside of quotes.
  void add_value(std::string_view text, const std::string& name) {
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

  void add(std::string_view text) {
    begun_ = begun_ || quoted_ || !text.empty();
    if (word_.text.size() + text.size() > longest)
      trouble("it is longer than any argument");
    else
      word_.text += text;
  }

  void trouble(const std::string& why) {
    begun_ = true;
    if (marks_ && word_.text.size() + 2 * why.size() + 2 <= longest)
      word_.text += marked(why);
    else if (word_.trouble.empty())
      word_.trouble = why;
  }

  void end_word() {
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

  static constexpr std::size_t longest = 65'536;

  const ShellVariables& variables_;
  Place at_;
  std::size_t depth_;
  bool marks_;
  bool quoted_ = false, begun_ = false;
  ShellWord word_;
  std::vector<ShellWord> words_;
};

ShellVariables::ShellVariables(std::span<const std::string> env) {
  for (const auto& one : env) {
    const auto equals = one.find('=');
    if (equals == 0 || equals == one.npos || name_end(one, 0) != equals)
      throw Error({{"--env", "'" + one + "' is no NAME=VALUE"}});
    given_[one.substr(0, equals)] = one.substr(equals + 1);
  }
}

void ShellVariables::assign(const std::string& name, std::vector<ShellWord> value) {
  values_[name] = std::move(value);
}

void ShellVariables::append(const std::string& name, const std::vector<ShellWord>& value) {
  constexpr std::size_t most = 100'000;
  auto& words = values_[name];
  if (words.size() + value.size() <= most) words.insert(words.end(), value.begin(), value.end());
}

void ShellVariables::doubt(const std::string& name, const std::string& why) {
  const bool advised = why.find("--env") != why.npos;
  values_[name] = {ShellWord{{}, advised ? why : why + advice(name), {}}};
}

std::optional<std::vector<ShellWord>> ShellVariables::value_if(const std::string& name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::nullopt : std::optional(found->second);
}

void ShellVariables::set_arguments(std::vector<ShellWord> words) {
  const bool same = words.size() == 1 && words.front().text == "$@" && arguments_.own;
  if (same) return;
  std::erase_if(words, [](const ShellWord& word) { return word.text == "$@"; });
  arguments_ = {.own = false, .words = std::move(words), .doubt = {}};
}

void ShellVariables::shift(std::string_view many) {
  const bool known = !many.empty() && many.size() < 3 && std::ranges::all_of(many, is_digit);
  if (!known) return doubt_arguments("the arguments are shifted where only a shell can tell");
  const auto number = std::stoul(std::string(many));
  if (arguments_.own) {
    arguments_.shifted += static_cast<std::int64_t>(number);
    return;
  }
  auto& words = arguments_.words;
  words.erase(words.begin(),
              words.begin() + static_cast<std::ptrdiff_t>(std::min(number, words.size())));
}

std::vector<ShellWord> ShellVariables::expanded(std::string_view raw, const Place& at) const {
  if (exhausted()) return {ShellWord{{}, "the script is longer than any that was seen", at}};
  return WordExpansion(*this, at, 0, false).of(raw);
}

std::vector<ShellWord> ShellVariables::value_of(std::string_view raw, const Place& at) const {
  if (exhausted()) return {ShellWord{{}, "the script is longer than any that was seen", at}};
  return WordExpansion(*this, at, 0, true).of(raw);
}

std::optional<std::string> ShellVariables::text_of(const std::string& name) const {
  if (const auto given = given_.find(name); given != given_.end()) return given->second;
  const auto found = values_.find(name);
  if (found == values_.end() || found->second.size() != 1) return {};
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

std::string defaulted_variable(std::string_view raw) {
  if (raw.size() > 1 && raw.starts_with('"') && raw.ends_with('"'))
    raw = raw.substr(1, raw.size() - 2);
  const auto equals = raw.find('=');
  if (!raw.starts_with("${") || !raw.ends_with('}') || equals == raw.npos) return {};
  auto name = std::string(raw.substr(2, equals - 2));
  if (name.ends_with(':')) name.pop_back();
  return assigned_at(name + "=") == name.size() + 1 ? name : std::string();
}

}  // namespace scenarios

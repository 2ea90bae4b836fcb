// SPDX-License-Identifier: Apache-2.0
#include "scenarios/shell/word_expansion.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "scenarios/shell/absent.hpp"
#include "scenarios/shell/arithmetic.hpp"
#include "scenarios/shell/word_parts.hpp"

namespace scenarios {
namespace {

// Returns the characters at which values outside of quotes are split.
std::string separators_of(const ShellVariables& variables) {
  const auto text = variables.text_of(split_name).value_or(std::string(usual_split));
  return text == usual_split ? text + '\r' : text;
}

}  // namespace

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
    begun_ = true;
    add(raw.substr(i + 1, end - i - 1));
    return std::min(end + 1, raw.size());
  }
  if (c == '"') {
    quoted_ = !quoted_ || enclosed_;
    begun_ = true;
    return i + 1;
  }
  if (c == '`') {
    const auto end = std::min(raw.find('`', i + 1), raw.size());
    add_output(raw.substr(i + 1, end - i - 1));
    return std::min(end + 1, raw.size());
  }
  if (c == '$') return variable(raw, i);
  if ((c == '<' || c == '>') && !quoted_ && raw.substr(i + 1).starts_with('(')) {
    trouble("it is the name of a pipe to a command, which needs a shell");
    return behind_closing(raw, i + 1, '(', ')');
  }
  if (c == mark) return passed_mark(raw, i, {});
  if (splits_ && !quoted_ && is_blank(c)) {
    end_word();
    return i + 1;
  }
  add(raw.substr(i, 1));
  return i + 1;
}

std::size_t WordExpansion::passed_mark(std::string_view text, std::size_t i,
                                       const std::string& variable) {
  const auto end = std::min(text.find(mark_end, i), text.size());
  trouble(reason_of(variable, unmarked(text.substr(i + 1, end - i - 1))));
  return std::min(end + 1, text.size());
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
    const auto inside = raw.substr(i + 2, end - i - 3 < raw.size() ? end - i - 3 : 0);
    const auto name = name_end(inside, 0);
    const bool is_text = quoted_ && name > 0 && inside.substr(name).starts_with("[*]");
    const bool kept = std::exchange(joined_, is_text);
    in_braces(inside);
    joined_ = kept;
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
  if (next == '\'' && !quoted_) return escaped_text(raw, i + 2);
  if (is_digit(next) || next == '#' || next == '?') {
    add_argument(std::string(1, next), "$" + std::string(1, next));
    return i + 2;
  }
  add(raw.substr(i, 1));
  return i + 1;
}

std::size_t WordExpansion::escaped_text(std::string_view raw, std::size_t i) {
  constexpr std::string_view letters = "nt\\'\"", signs = "\n\t\\'\"";
  add({});
  begun_ = true;
  for (; i < raw.size() && raw[i] != '\''; ++i) {
    if (raw[i] != '\\' || i + 1 == raw.size()) {
      add(raw.substr(i, 1));
      continue;
    }
    const auto at = letters.find(raw[++i]);
    if (at == letters.npos)
      trouble("$'\\" + std::string(1, raw[i]) + "' needs a shell");
    else
      add(signs.substr(at, 1));
  }
  return std::min(i + 1, raw.size());
}

void WordExpansion::add_arguments(bool apart, std::size_t first, std::int64_t most) {
  const auto& all = variables_.arguments_;
  if (!all.doubt.empty()) return trouble(all.doubt);
  const auto count = variables_.argument_count();
  if (all.own && count == 0) return add(unknown_ == Unknown::none ? "" : "$@");
  if (all.own) {
    std::vector<ShellWord> words;
    const auto end = std::min(count, static_cast<std::int64_t>(first) + most);
    for (auto i = static_cast<std::int64_t>(first) + 1; i <= end; ++i) {
      const auto given = variables_.given_.find(std::to_string(i + all.shifted));
      if (given == variables_.given_.end()) return add("$@");
      words.push_back({given->second, {}, at_});
    }
    return add_words(words, {}, apart);
  }
  const auto begin = all.words.begin() + std::min(static_cast<std::int64_t>(first), count);
  add_words({begin, begin + std::min(all.words.end() - begin, most)}, {}, apart);
}

void WordExpansion::add_argument(const std::string& name, const std::string& shown,
                                 std::optional<std::string_view> fallback) {
  const auto& all = variables_.arguments_;
  const bool numbered = !name.empty() && name.size() < 4 && std::ranges::all_of(name, is_digit);
  if (name == "0") return add(script_path);
  if (name == "?") return trouble("it is $?, the status of a command, which needs a shell");
  if (!all.doubt.empty()) return trouble(all.doubt);
  if (name == "#") return add(std::to_string(variables_.argument_count()));
  const auto asked = numbered ? std::stoll(name) : 0;
  const auto number = asked > 0 ? asked + all.shifted : asked;
  if (!all.own && number > 0) {
    const bool given = number <= static_cast<std::int64_t>(all.words.size());
    const auto* word = given ? &all.words[static_cast<std::size_t>(number) - 1] : nullptr;
    if (fallback && (word == nullptr || is_blank_word(*word)))
      return add_default(*fallback, {}, false);
    return word == nullptr ? add("") : add_words({*word}, {}, false);
  }
  const auto env = numbered ? std::to_string(number) : name;
  const auto given = variables_.given_.find(env);
  if (given != variables_.given_.end()) return add_value(given->second, env);
  if (fallback) return add_default(*fallback, {}, false);
  // If the argument is the value of a variable, the variable may be given instead.
  const bool advises = unknown_ != Unknown::mark && numbered;
  const bool moved = numbered && all.shifted > 0;
  trouble(absent_argument(moved || shown.empty() ? "$" + env : shown) +
          (advises ? advice(env) : ""));
}

void WordExpansion::add_calculated(std::string_view inside) {
  if (depth_ >= deepest_default) return trouble("too many calculations inside of each other");
  const auto words = inner().of('"' + std::string(inside) + '"');
  if (words.size() == 1 && !words.front().trouble.empty())
    return trouble(reason_of_made(words.front().trouble));
  std::string lacking;  // what is wrong with the first name that has no text
  const auto names = [&](const std::string& name) -> std::optional<std::string> {
    if (name.ends_with(']')) {  // an element of an array
      const auto element = inner().of("\"${" + name + "}\"");
      const bool known = element.size() == 1 && element.front().trouble.empty();
      if (!known && lacking.empty() && !element.empty())
        lacking = reason_of_made(element.front().trouble);
      return known ? std::optional(element.front().text) : std::nullopt;
    }
    auto text = variables_.text_of(name);
    if (!text && lacking.empty())
      for (const auto& word : inner().of("\"$" + name + '"')) {
        lacking = reason_of_made(word.trouble);
        if (lacking.empty() && word.text.empty()) text = "";
      }
    return text;
  };
  const auto sum = words.size() == 1 ? calculated(words.front().text, names) : std::nullopt;
  if (!sum && unknown_ == Unknown::none)
    for (const auto& word : WordExpansion(variables_, at_, depth_ + 1, Unknown::reason)
                                .of('"' + std::string(inside) + '"'))
      if (lacking.empty()) lacking = reason_of_made(word.trouble);
  if (sum)
    add(std::to_string(*sum));
  else
    trouble(lacking.empty() ? "it is calculated, which needs a shell" : lacking);
}

void WordExpansion::add_words(const std::vector<ShellWord>& words, const std::string& name,
                              bool list) {
  list = list && !joined_;
  left_out_ = left_out_ || (list && words.empty());
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto& word = words[i];
    if (i > 0) list || !quoted_ ? end_word() : add(separators_of(variables_).substr(0, 1));
    add_value(word.text, name);
    if (!word.trouble.empty()) trouble(reason_of(name, word.trouble));
  }
}

void WordExpansion::add_value(std::string_view text, const std::string& name) {
  const auto signs = quoted_ ? std::string() : separators_of(variables_);
  const auto blanks = std::ranges::count_if(signs, is_blank);
  const bool known = variables_.text_of(split_name) || !variables_.knows(split_name);
  const bool mixed = blanks > 0 && blanks < std::ssize(signs);
  if (!quoted_ && (!known || mixed) && text.find_first_not_of(" \t\n") != text.npos)
    return trouble("words are split by the value of IFS, which needs a shell");
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == mark) {
      i = passed_mark(text, i, name);
      continue;
    }
    const auto plain = std::min(text.find_first_of(signs + mark, i), text.size());
    add(text.substr(i, plain - i));
    i = plain;
    if (i < text.size() && text[i] != mark) {
      begun_ = begun_ || !is_blank(text[i]);  // an empty word between two signs
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
  if (unknown_ == Unknown::none && is_absent(why)) return;
  begun_ = true;
  if (unknown_ == Unknown::mark && word_.text.size() + 2 * why.size() + 2 <= longest)
    word_.text += marked(why);
  else if (outweighs(why, word_.trouble))
    word_.trouble = why;
}

void WordExpansion::end_word() {
  word_.at = at_;
  const auto cost = sizeof(ShellWord) + word_.text.size() + word_.trouble.size();
  auto& left = variables_.budget_;
  const bool none = left_out_ && word_.text.empty() && word_.trouble.empty();
  if (begun_ && !none && cost <= left) {
    left -= cost;
    words_.push_back(std::move(word_));
  }
  word_ = {};
  begun_ = left_out_ = false;
}

}  // namespace scenarios

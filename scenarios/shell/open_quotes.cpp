// SPDX-License-Identifier: Apache-2.0
#include "scenarios/shell/open_quotes.hpp"

#include <algorithm>

#include "scenarios/shell/word_parts.hpp"

namespace scenarios {
namespace {

constexpr char ansi = 'a';  // $'…', in which a backslash escapes

// Returns the length of "<<EOF" and the lines up to its last; 0: no here-document begins here, or
// none that ends within `lines_left` lines, which become fewer by those that were looked at.
std::size_t document_length(std::string_view text, std::size_t at, int& lines_left) {
  auto first = at + 2;
  if (text.substr(first).starts_with('-')) ++first;
  first = std::min(text.find_first_not_of(' ', first), text.size());
  std::string name;
  auto end = first;
  for (; end < text.size(); ++end)
    if (is_letter(text[end]) || is_digit(text[end]))
      name += text[end];
    else if (text[end] != '\'' && text[end] != '"' && text[end] != '\\')
      break;
  if (name.empty() || is_digit(name.front())) return 0;
  for (auto begin = text.find('\n', end); begin != text.npos && lines_left > 0;
       begin = text.find('\n', begin + 1), --lines_left) {
    const auto line = std::min(text.find_first_not_of('\t', begin + 1), text.size());
    const auto line_end = std::min(text.find('\n', line), text.size());
    if (text.substr(line, line_end - line) == name) return line_end - at;
  }
  return 0;
}

// Returns the length of a comment or a here-document; 0: none begins here.
std::size_t unquoted_length(std::string_view text, std::size_t at, int& lines_left) {
  const auto rest = text.substr(at);
  if (rest.starts_with("<<") && !rest.starts_with("<<<"))
    return document_length(text, at, lines_left);
  if (rest.starts_with('#') && at > 0 && is_blank(text[at - 1]))
    return std::min(rest.find('\n'), rest.size());
  return 0;
}

}  // namespace

std::size_t OpenQuotes::step(std::string_view text, std::size_t at) {
  const char c = text[at], next = at + 1 < text.size() ? text[at + 1] : '\0';
  const char innermost = inside_.empty() ? '\0' : inside_.back();
  if (c == '\\' && innermost != '\'') return std::min<std::size_t>(2, text.size() - at);
  if (innermost == '\'' || innermost == ansi) return c == '\'' ? closes() : 0;
  if (!inside_.empty() && c == innermost) return closes();
  if (c == '$' && next == '(') return opens(')', 2);
  if (c == '$' && next == '{') return opens('}', 2);
  if (c == '`') return opens(c, 1);
  if (innermost == '"') return 0;
  if (c == '"') return opens(c, 1);
  if (c == '$' && next == '\'') return opens(ansi, 2);
  if (c == '\'') return opens(c, 1);
  if ((c == '<' || c == '>') && next == '(') return opens(')', 2);
  if (innermost != ')') return 0;
  return c == '(' ? opens(')', 1) : unquoted_length(text, at, lines_left_);
}

}  // namespace scenarios

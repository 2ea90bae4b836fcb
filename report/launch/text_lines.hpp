// SPDX-License-Identifier: Apache-2.0
// Private to the room: lines of a text, by offsets.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>

namespace report {

// A range of a text.
struct TextRange {
  std::size_t begin = 0, end = 0;
};

constexpr std::string_view blanks = " \t";

inline bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

inline std::size_t line_begin(std::string_view text, std::size_t at) {
  const auto feed = at == 0 ? text.npos : text.rfind('\n', at - 1);
  return feed == text.npos ? 0 : feed + 1;
}

inline std::size_t line_end(std::string_view text, std::size_t at) {
  return std::min(text.find('\n', at), text.size());
}

// Whether the place is on a line that is a comment of a script.
inline bool is_comment(std::string_view text, std::size_t at) {
  const auto first = text.find_first_not_of(blanks, line_begin(text, at));
  return first != text.npos && first <= at && text[first] == '#';
}

// Returns a piece of text with the ends of lines that this text has.
inline std::string in_lines_of(std::string_view text, std::string piece) {
  const auto feed = text.find('\n');
  if (feed == text.npos || feed == 0 || text[feed - 1] != '\r') return piece;
  for (auto at = piece.find('\n'); at != piece.npos; at = piece.find('\n', at + 1))
    if (at == 0 || piece[at - 1] != '\r') piece.insert(at++, 1, '\r');
  return piece;
}

inline std::string indent_at(std::string_view text, std::size_t at) {
  const auto begin = line_begin(text, at);
  const auto first = std::min(text.find_first_not_of(blanks, begin), text.size());
  return std::string(text.substr(begin, first - begin));
}

}  // namespace report

// SPDX-License-Identifier: Apache-2.0
// Private to the room: letters, names and marks in words of a shell.
#pragma once
#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>

namespace scenarios {

inline bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}
inline bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

inline std::size_t name_end(std::string_view text, std::size_t from) {
  while (from < text.size() && (is_letter(text[from]) || is_digit(text[from]))) ++from;
  return from;
}

// Returns the index behind the bracket that closes the one at `from`; the end of the text if none
// does.
inline std::size_t behind_closing(std::string_view text, std::size_t from, char open, char close) {
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

inline std::string advice(const std::string& name) { return "; add --env " + name + "=VALUE"; }
// Why a text is not known that came by way of a variable, whose value would mend it.
inline std::string reason_of(const std::string& variable, const std::string& why) {
  return variable.empty() || why.find("--env") != why.npos
             ? why
             : variable + ": " + why + advice(variable);
}

constexpr const char* split_name = "IFS";          // its characters split values into words
constexpr std::string_view usual_split = " \t\n";  // which is its value at first

constexpr std::size_t deepest_default = 16;  // defaults inside of defaults
// The folder of a script, in which it is taken to be started, and its path, whatever its name.
// Nobody writes a path so, which tells it from a path in the folder that the script changed to.
constexpr std::string_view script_folder = "./.", script_path = "././script.sh";

// A value may hold parts that only a shell can tell anywhere in its text. The reason of each stands
// between these two control characters, in hexadecimal, so that none of its blanks and quotes
// counts.
constexpr char mark = '\x1d', mark_end = '\x1e';

std::string marked(std::string_view why);
// Returns the reason that stands between the characters of a mark.
std::string unmarked(std::string_view hexadecimal);

}  // namespace scenarios

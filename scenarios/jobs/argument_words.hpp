// SPDX-License-Identifier: Apache-2.0
// Arguments of a program among the words of its command line, and in a text.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "scenarios/jobs/job.hpp"

namespace scenarios {

// "--name" or "--name=value".
bool begins_argument(std::string_view word);

// The length of the dash at the word's beginning that is none of ASCII, as editors of text make it
// of hyphens; 0: it begins with none.
std::size_t foreign_dash(std::string_view word);

// The number of words that are arguments or overrides of the table. O(words log n).
std::size_t known_among(std::span<const ShellWord> words, const ArgumentTable& table);

// Arguments from the words of a command line, the program's name left out. Words behind the first
// of them that none takes are stray ones. "~section.key", which
// takes a key away, is an argument of that key that is off.
std::vector<JobArgument> arguments_from(std::span<const ShellWord> words,
                                        const ArgumentTable& table);

// The number of times that a text, without its comments, names an argument of the table whose name
// has `part`.
std::size_t arguments_in(std::string_view text, const ArgumentTable& table,
                         std::string_view part = {});

// The number of times that a text, without its comments, has "section.key=value" of a key of the
// table.
std::size_t overrides_in(std::string_view text, const ArgumentTable& table);

struct TextLine {
  std::string_view text;  // without its end and blanks before that
  Place at;
};

// Whether the text has the word, neither letters, digits, underscores nor one of `joins` beside it.
// O(text)
bool has_word(std::string_view text, std::string_view word, std::string_view joins = {});

std::vector<TextLine> lines_of(std::string_view text);

}  // namespace scenarios

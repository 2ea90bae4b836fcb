// SPDX-License-Identifier: Apache-2.0
// Patterns of a shell, and the texts that they fit.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/shell/statements.hpp"
#include "scenarios/shell/words.hpp"

namespace scenarios {

// Returns the text that one word of a script stands for; nothing if it stands for several words, or
// only a shell can tell.
std::optional<std::string> known_text(const std::vector<ShellWord>& all);

// Whether a pattern has a part such as "@(a|b)".
bool is_extended(std::string_view pattern);

// Whether a pattern fits a text, also one with "@(a|b)", "!(a)" and their like; nothing if either
// is long or the pattern has many stars: fnmatch tries every text that a star may stand for.
std::optional<bool> fits_pattern(const std::string& text, const std::string& pattern);

// Whether a sign of patterns in a raw word stands between quotes or behind a backslash, where it is
// itself.
bool quotes_signs(std::string_view raw);

// Whether variables between quotes may have brought signs of patterns into the text that a raw word
// stands for.
bool quotes_values(std::string_view raw, std::string_view text);

std::string lowered_if(bool lower, std::string text);

// Whether the pattern of a branch fits the word of its case. Returns nothing, because only a shell
// can tell, if a sign of patterns is quoted.
std::optional<bool> fits_branch(const std::optional<std::string>& word, const RawWord& pattern,
                                const ShellVariables& variables);

}  // namespace scenarios

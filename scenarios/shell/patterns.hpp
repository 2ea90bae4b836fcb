// SPDX-License-Identifier: Apache-2.0
// Patterns of a shell, and the texts that they fit.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "scenarios/shell/statements.hpp"
#include "scenarios/shell/words.hpp"

namespace scenarios {

// The shell's variable of the options that are on, and the one by which patterns fit whatever the
// case of letters.
inline constexpr const char *options_name = "BASHOPTS", *case_option = "nocasematch";

// Returns the text that one word of a script stands for; nothing if it stands for several words, or
// only a shell can tell.
std::optional<std::string> known_text(const std::vector<ShellWord>& all);

// Whether a pattern fits a text, also one with "@(a|b)", "!(a)" and their like; nothing if either
// is long or the pattern has many stars: fnmatch tries every text that a star may stand for.
std::optional<bool> fits_pattern(const std::string& text, const std::string& pattern);

// Whether patterns fit whatever the case of letters; nothing: only a shell can tell.
std::optional<bool> ignores_case(const ShellVariables& variables);
std::string lowered_if(bool lower, std::string text);

// Whether the pattern of a branch fits the word of its case. Returns nothing, because only a shell
// can tell, if a sign of patterns is quoted. A branch with an extended pattern is one of a shell
// that reads them: another one would not start the script.
std::optional<bool> fits_branch(const std::optional<std::string>& word, const RawWord& pattern,
                                const ShellVariables& variables);

}  // namespace scenarios

// SPDX-License-Identifier: Apache-2.0
// Private to the room: which word of a command names the file that has its arguments.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "scenarios/shell/word.hpp"

namespace scenarios {

// Whether a word names a file of settings: it ends as YAML, JSON or TOML does.
bool names_settings(std::string_view word);

// Returns "config.yaml" for "--config=config.yaml".
std::string path_in(std::string_view word);

// Whether the word is an option that takes the file of a command's arguments: "--config", also with
// the file in the same word.
bool takes_recipe(std::string_view word);

// Returns the word of a command, its program left out, that names the file of its arguments: the
// value of --config or its like, else the first file of settings that may be no value of another
// option; null: none does. A long option may take all words behind it, a short one takes one.
// O(words).
const ShellWord* recipe_word(std::span<const ShellWord> words);

}  // namespace scenarios

// SPDX-License-Identifier: Apache-2.0
// TOML as a value that remembers where each part stands.
#pragma once
#include <string>
#include <string_view>

#include "scenarios/documents/error.hpp"
#include "scenarios/documents/yaml.hpp"

namespace scenarios {

// Parses a document of TOML 1.0: texts of all four kinds are quoted scalars; numbers, dates, true
// and false are plain ones, underscores between digits gone. Throws Error, with the place, for text
// that is not TOML, keys that are given twice, and nesting deeper than 32. O(text).
Value parse_toml(std::string_view text, const std::string& file);

// Whether the text begins as TOML does: with a table's header or `key = value`.
bool looks_like_toml(std::string_view text);

}  // namespace scenarios

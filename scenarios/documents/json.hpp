// SPDX-License-Identifier: Apache-2.0
// A JSON document as a plain value that remembers where each part stands.
#pragma once
#include <string>
#include <string_view>

#include "scenarios/documents/yaml.hpp"

namespace scenarios {

// Parses one document into a value like parse_yaml's: text is a quoted scalar; numbers, true and
// false are plain ones, as they are written; NaN and Infinity are numbers. Throws Error, with the
// place, for text that is not JSON, is empty or exceeds a limit. O(text).
Value parse_json(std::string_view text, const std::string& file, const Limits& limits);

}  // namespace scenarios

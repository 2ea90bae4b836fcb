// SPDX-License-Identifier: Apache-2.0
// Changes to documents: figures in a catalog file and nothing else, so that comments, order and
// spelling stay; and changes of a value's place.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "scenarios/documents/error.hpp"
#include "scenarios/documents/yaml.hpp"

namespace scenarios {

// Returns the text with `value` at "key" or "key.inner": in place of the scalar there, or as a new
// last key of its map. `file` is for complaints. Throws Error if the text is no YAML, or if there
// is a value that is no plain scalar. O(text).
std::string with_value(std::string_view yaml, const std::string& file, std::string_view key,
                       std::string_view value);

// Returns the text with the first line "# fitted by stepcast calibrate: KEY, KEY" in place of an
// earlier one, and with these keys no longer listed under `from_memory`.
std::string with_origin(std::string_view yaml, std::span<const std::string> keys);

// Gives a value and all values inside of it the place of a value of another file.
void stand_at(Value& value, const Place& at);

}  // namespace scenarios

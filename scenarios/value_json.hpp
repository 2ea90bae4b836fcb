// SPDX-License-Identifier: Apache-2.0
// Values of a document as JSON, which is YAML too.
#pragma once
#include <optional>
#include <string>

#include "scenarios/yaml.hpp"

namespace scenarios {

// On one line. Plain scalars that look like numbers, true or false become those; the rest is text,
// its bytes that are no UTF-8 replaced. Of members with the same key the first counts. O(value).
std::string json_of(const Value& value);

// The number that a plain scalar is.
std::optional<double> number_of(const Value& value);

}  // namespace scenarios

// SPDX-License-Identifier: Apache-2.0
// Values of a document as JSON, which is YAML too.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "scenarios/documents/yaml.hpp"

namespace scenarios {

// Plain scalars that look like numbers, true or false become those; the rest is text, its bytes
// that are no UTF-8 replaced. Of members with the same key the first counts. O(value).
nlohmann::ordered_json json_document(const Value& value);
std::string json_of(const Value& value);  // on one line

// The number that a plain scalar is.
std::optional<double> number_of(const Value& value);

}  // namespace scenarios

// SPDX-License-Identifier: Apache-2.0
// Values of a document as JSON, which is YAML too.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "scenarios/documents/yaml.hpp"

namespace scenarios {

// Returns the value as JSON. Plain scalars that look like numbers, true or false become those;
// other scalars become text, with bytes that are no UTF-8 replaced. If members have the same key,
// the first counts. O(value).
nlohmann::ordered_json json_document(const Value& value);
std::string json_of(const Value& value);  // on one line

// Returns the number that a plain scalar is; nothing if it is none.
std::optional<double> number_of(const Value& value);

}  // namespace scenarios

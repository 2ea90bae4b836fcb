// SPDX-License-Identifier: Apache-2.0
// The reader's tables as JSON Schema (draft 2020-12), for editors.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "scenarios/documents/form.hpp"

namespace scenarios {

// The JSON Schema of the values that the form accepts.
nlohmann::ordered_json schema_of(const Form& form);

// The JSON Schema as a document of its own, with title and description.
nlohmann::ordered_json headed_schema(const char* title, const char* description, const Form& form);

// Returns the schema as the text of a file.
std::string schema_text(const nlohmann::ordered_json& schema);

}  // namespace scenarios

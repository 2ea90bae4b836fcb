// SPDX-License-Identifier: Apache-2.0
// The kinds of file that commands read, told apart by their keys.
#pragma once
#include <string>

#include "scenarios/documents/yaml.hpp"

namespace scenarios {

enum class FileKind { scenario, sweep, purchase };

// Returns the kind of which the document has most keys; of equals, or of none, a scenario first.
FileKind file_kind_of(const Value& document);

// Throws Error, with the command that reads it, for a document of another kind than `expected`: it
// has two keys of that kind at least, and none of the expected one.
void refuse_other_kind(const Value& document, FileKind expected, const std::string& file);

}  // namespace scenarios

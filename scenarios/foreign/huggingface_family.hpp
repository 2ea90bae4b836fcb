// SPDX-License-Identifier: Apache-2.0
// Finds the family of models that a config.json belongs to.
#pragma once
#include <optional>

#include "scenarios/foreign/huggingface_families.hpp"
#include "scenarios/foreign/huggingface_fields.hpp"

namespace scenarios {

// The family of the file's model_type, or of its part for text, less the parts that the file
// switches off. Nothing, with a complaint, if there is none, if the family has operators that
// cannot be described (unsupported, with the reason), and if it is not known (unsupported, with the
// nearest names).
std::optional<Family> family_of(Fields& fields);

}  // namespace scenarios

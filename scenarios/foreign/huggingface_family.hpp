// SPDX-License-Identifier: Apache-2.0
// Finds the family of models that a config.json belongs to.
#pragma once
#include "scenarios/foreign/huggingface_families.hpp"
#include "scenarios/foreign/huggingface_fields.hpp"

namespace scenarios {

// By the file's model_type, or that of its part for text. Null, with a complaint, where there is
// none, where the kind computes what cannot be described (unsupported, with the reason), and where
// it is not known (unsupported, with the nearest name).
const Family* family_of(Fields& fields);

}  // namespace scenarios

// SPDX-License-Identifier: Apache-2.0
// How the layers of a config.json differ from each other, and what a file asks for beside its kind.
#pragma once
#include "model/transformer.hpp"
#include "scenarios/foreign/huggingface_families.hpp"
#include "scenarios/foreign/huggingface_fields.hpp"

namespace scenarios {

// Which layers look back how far: by the list of layers if there is one, else by the family's rule.
// Complains (unsupported) of layers that are neither attention to all nor to a window.
void read_windows(model::Transformer& transformer, const Family& family, Fields& fields);

// Complains (unsupported) of fields that give the model parts that its kind does not have and that
// cannot be described, and notes those that are no part of the description.
void check_parts(const model::Transformer& transformer, const Family& family, Fields& fields);

}  // namespace scenarios

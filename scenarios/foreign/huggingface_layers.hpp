// SPDX-License-Identifier: Apache-2.0
// Differences between the layers of a config.json, and options that it sets beside its family.
#pragma once
#include <string_view>

#include "model/transformer.hpp"
#include "scenarios/foreign/huggingface_families.hpp"
#include "scenarios/foreign/huggingface_fields.hpp"

namespace scenarios {

// Reads the attention window of each layer: from the list of layers if there is one, else by the
// family's rule. Complains (unsupported) of layers that attend neither to all tokens nor to a
// window.
void read_windows(model::Transformer& transformer, const Family& family, Fields& fields);

// The reason against the first field that gives a model of any kind parts that cannot be described;
// empty if there is none.
std::string_view foreign_reason(Fields& fields);

// Complains (unsupported) of fields that give the model parts that its kind does not have and that
// cannot be described, and notes those that are no part of the description.
void check_parts(const model::Transformer& transformer, const Family& family, Fields& fields);

}  // namespace scenarios

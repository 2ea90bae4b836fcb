// SPDX-License-Identifier: Apache-2.0
// The mappings inside of a model's: attention: {kind, ...}, moe: {...}, and attention_window: N or
// {size, every}. Each reader changes what the mapping says of the model and complains of the rest;
// what is left out is derived when the whole model is read.
#pragma once
#include <vector>

#include "model/transformer.hpp"
#include "scenarios/form.hpp"

namespace scenarios {

std::vector<Field> attention_fields();
void read_attention(model::Transformer& transformer, const Cursor& at);

std::vector<Field> moe_fields();
void read_moe(model::Transformer& transformer, const Cursor& at);

const Form& window_form();
void read_window(model::Transformer& transformer, const Cursor& at);

}  // namespace scenarios

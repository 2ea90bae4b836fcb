// SPDX-License-Identifier: Apache-2.0
// The mappings inside of a model's: attention: {kind, ...}, moe: {...}, and attention_window: N or
// {size, every}. Each key changes the parts of the model that its mapping describes and complains
// of other keys; values that are left out are derived when the whole model is read.
#pragma once
#include "model/transformer.hpp"
#include "scenarios/keys.hpp"

namespace scenarios {

Key<model::Transformer> window_key();
Key<model::Transformer> attention_key();
Key<model::Transformer> moe_key();

}  // namespace scenarios

// SPDX-License-Identifier: Apache-2.0
// Kept activations in 8 bit.
#pragma once
#include "plans/recompute.hpp"

namespace strategies {

// Bytes of a stored value: one, and a scale in fp32 for every 128 values.
inline constexpr double stored_value_bytes = 1.0 + 4.0 / 128;

// Stores the kept inputs of linear layers and activations and the kept output of attention in 8
// bit: a kernel reads them and writes the copy in the forward pass, another makes them again before
// the gradient that needs them. Tensors that are dropped or narrow already, masks, sums of
// exponentials and the inputs of norms and attention stay as they are.
void store_in_8_bit(model::Operators& block, const Drop& drop);

}  // namespace strategies

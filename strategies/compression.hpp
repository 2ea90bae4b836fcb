// SPDX-License-Identifier: Apache-2.0
// Kept activations in 8 bit.
#pragma once
#include "plans/recompute.hpp"

namespace strategies {

// Bytes of a stored value: one, and a scale in fp32 for every 128 values.
inline constexpr double stored_value_bytes = 1.0 + 4.0 / 128;

// Stores in 8 bit what is kept of the inputs of linear layers and activations and of attention's
// output: a kernel reads them and writes the copy in the forward pass, another makes them again
// before the gradient that needs them. What is dropped or narrow already, masks, sums of
// exponentials and what norms and attention read stay as they are.
void store_in_8_bit(model::Operators& block, const Drop& drop);

}  // namespace strategies

// SPDX-License-Identifier: Apache-2.0
// Kept activations in 8 bit.
#pragma once
#include "strategies/recompute.hpp"

namespace strategies {

// Bytes of a stored value: one, and a scale in fp32 for every 128 values.
inline constexpr double stored_value_bytes = 1.0 + 4.0 / 128;

// Stores the inputs of linear layers that are kept, in values of `element` bytes, in 8 bit: a
// kernel reads them and writes the copy in the forward pass, another makes them again before the
// weight gradient. What is dropped, masks, sums of exponentials and what norms, activations and
// attention read stay as they are.
void store_in_8_bit(model::Operators& block, const Drop& drop, double element);

}  // namespace strategies

// SPDX-License-Identifier: Apache-2.0
// The operations of passes, as MFU and HFU count them.
#pragma once
#include "strategies/passes.hpp"

namespace strategies {

// Fills in the flops of a block's operators, and of those that run again: on one rank, for one
// microbatch, an equal share of the matrix products of the undivided model, vocabulary and routed
// tokens as the model has them, less those that experts drop, and of attention over the full score
// matrix, its gradients twice that (model::model_flops). Kernels can execute less (a causal mask
// halves attention) and more (padding, imbalance, what tensor-parallel ranks repeat).
void count_flops(BlockCost& cost, const Share& share, const Block& block);

// The operations of everything that runs again before the gradients of a block.
double flops_again(const Share& share, const Block& block);

// The operators of a block with this extent, as the software runs them.
model::Operators operators_of(const Share& share, const Block& block, const model::Extent& extent);

}  // namespace strategies

// SPDX-License-Identifier: Apache-2.0
// The GPUs that run passes together.
#pragma once
#include "strategies/lowering/cast.hpp"

namespace strategies {

// Finds the cells of every stage, their tensor-parallel groups, their writers, and the links inside
// nodes that they use. O(ranks looked at · tensor).
void add_cells(Cast& cast);

}  // namespace strategies

// SPDX-License-Identifier: Apache-2.0
// The groups that communicate, beside tensor-parallel groups (cells.hpp): context-parallel groups,
// ranks that hold the same parameters, and the ranks of a stage arranged anew for experts
// (Megatron-Core). Ranks of an expert-parallel group exchange tokens; ranks that hold the same
// experts sum their gradients and share their states, however the rest of the model is divided.
#pragma once
#include "strategies/lowering/cast.hpp"

namespace strategies {

// Each finds the groups of one kind in a cast that has its cells. O(ranks looked at · ranks of a
// group).
void add_context_groups(Cast& cast);
void add_expert_groups(Cast& cast);
// Groups of ranks that hold the same parameters: with the layer, and apart.
void add_sharers(Cast& cast);
void add_apart_sharers(Cast& cast);

}  // namespace strategies

// SPDX-License-Identifier: Apache-2.0
// The data loader as a stage in front of the first pass (DataLoader in software.hpp).
#pragma once
#include "strategies/lowering/emitter.hpp"

namespace strategies {

// Before a forward slot of the first virtual stage: its actors load a microbatch, and the slot
// waits for its own.
void load_data(Emitter& emitter, const Cast& cast, int stage, const Slot& slot);

}  // namespace strategies

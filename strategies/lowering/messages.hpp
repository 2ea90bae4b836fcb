// SPDX-License-Identifier: Apache-2.0
// Messages along the pipeline: the inputs of slots.
#pragma once
#include <cstddef>

#include "strategies/lowering/emitter.hpp"

namespace strategies {

// One message of a cell's actor (by its place in the cell) to its pipeline neighbour.
const Sent& message(Emitter& emitter, const Cast& cast, const Cell& cell, std::size_t index,
                    bool forward);

// The input of a slot: every actor of the stage waits for it in its clock's `arrival`. A
// microbatch of the first virtual stage is loaded, if the software has a data loader.
void await_input(Emitter& emitter, const Cast& cast, int stage, const Slot& slot);
// The output of a slot, sent to the device of the next virtual stage of its pass.
void send_onwards(Emitter& emitter, const Cast& cast, int stage, const Slot& slot);

}  // namespace strategies

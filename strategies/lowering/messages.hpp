// SPDX-License-Identifier: Apache-2.0
// Messages along the pipeline: the inputs of slots.
#pragma once
#include <cstddef>

#include "strategies/lowering/emitter.hpp"

namespace strategies {

// Returns the time and traffic of one message of a cell's actor to its pipeline neighbour;
// remembers them. `index`: the actor's place in the cell. `forward`: to the next stage, else to the
// previous one.
const Sent& message(Emitter& emitter, const Cast& cast, const Cell& cell, std::size_t index,
                    bool forward);

// Lets every actor of the stage wait for a slot's input, in its clock's `arrival`. Loads a
// microbatch for a forward slot of the first virtual stage, if the software has a data loader.
void await_input(Emitter& emitter, const Cast& cast, int stage, const Slot& slot);
// Sends a slot's output to the device of the next virtual stage of its pass, if there is one.
void send_onwards(Emitter& emitter, const Cast& cast, int stage, const Slot& slot);

}  // namespace strategies

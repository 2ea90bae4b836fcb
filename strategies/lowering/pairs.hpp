// SPDX-License-Identifier: Apache-2.0
// Slots as a stage's order has them: mirrored, and in pairs. DualPipe's stages s and p - 1 - s run
// the same passes of the same virtual stages in the same order, one for a microbatch that goes
// down, the other for one that goes up: their slots are written together, so that they meet in the
// collectives of the parameters that both hold.
// A pair is a forward and a backward pass whose pieces alternate: what one exchanges after a piece
// travels while the other computes. It begins when the inputs of both are there and sends when both
// have ended, as one pass of forward + backward would. Where collectives of data parallelism cut
// its passes, they run one after the other.
#pragma once
#include "strategies/lowering/emitter.hpp"

namespace strategies {

// Writes the next slot of a stage's order, on every cell of it: its passes, what they do besides,
// and what they send. The first of a pair waits for the next call, which brings the second.
void emit_slot(Emitter& emitter, const Cast& cast, int stage, const Slot& slot);

}  // namespace strategies

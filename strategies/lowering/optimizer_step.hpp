// SPDX-License-Identifier: Apache-2.0
// After the last gradient: scaling undone (fp16), the norm of all gradients, the update, and the
// parameters' way back.
#pragma once
#include "strategies/lowering/emitter.hpp"

namespace strategies {

// fp16 gradients were scaled to keep them from underflow: all are divided again, and every rank
// must know whether any of them overflowed before it may update anything. A host that updates
// divides them itself.
void unscale(Emitter& emitter, const Cast& cast);
// Clipping needs the norm of all gradients: every rank waits for every other.
void sum_gradient_norm(Emitter& emitter, const Cast& cast);
// Every actor updates its share of the states, here or on its host; parameters are gathered again.
void update_parameters(Emitter& emitter, const Cast& cast);

}  // namespace strategies

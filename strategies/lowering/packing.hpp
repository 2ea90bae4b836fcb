// SPDX-License-Identifier: Apache-2.0
// Copies on the computing stream beside the traffic between ranks that hold the same parameters.
#pragma once
#include "strategies/lowering/emitter.hpp"

namespace strategies {

// Copies gathered parameters of a stage's unit out of their buffer, where the software does that:
// once they and the input of the pass are there. The unit's part of the pass, forward or backward,
// follows.
void unpack_parameters(Emitter& emitter, const Cast& cast, int stage, const Parameters& parameters,
                       bool forward);
// Compresses gradients that travel compressed; copies others into the buffer that is reduced, where
// the software does that.
void pack_gradients(Emitter& emitter, const Cast& cast, int stage, const Parameters& parameters);

}  // namespace strategies

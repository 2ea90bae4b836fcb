// SPDX-License-Identifier: Apache-2.0
// Data parallelism: ranks that hold the same parameters sum their gradients.
#pragma once
#include "strategies/lowering/emitter.hpp"

namespace strategies {

// Reduces gradients of a stage after its last pass; packs them before (packing.hpp). Every actor
// finds the end in its clock's `reduced`.
void reduce(Emitter& emitter, const Cast& cast, int stage, const Parameters& parameters);

// After the last pass of the step: reduces what no pass reduced, and copies it to a host that
// updates.
void finish_gradients(Emitter& emitter, const Cast& cast);
// Sums the embedding's gradients, of which the first and the last stage hold a copy each; from
// ZeRO-2 on those that the reduction left to each rank.
void sum_tied_embedding(Emitter& emitter, const Cast& cast);

}  // namespace strategies

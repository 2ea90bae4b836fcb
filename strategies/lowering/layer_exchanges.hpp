// SPDX-License-Identifier: Apache-2.0
// Exchanges of layers behind a piece of a pass, each an op of its own: over tensor-, context- or
// expert-parallel groups.
#pragma once
#include <cstddef>

#include "strategies/lowering/emitter.hpp"

namespace strategies {

// Writes the exchange behind a piece, if there is one. Ops that follow the segment wait for its
// last exchange.
void emit_exchange(SegmentRun& run, Emitter& emitter, const Cast& cast, int stage, const Slot& slot,
                   std::size_t index);

// The exchanges of a segment, as they slow a pass beside it.
Interference exchanges_in(const SegmentRun& run, const Cast& cast, int stage);

}  // namespace strategies

// SPDX-License-Identifier: Apache-2.0
// Passes over segments, piece by piece, on every cell of a stage.
#pragma once
#include <cstddef>

#include "strategies/lowering/emitter.hpp"

namespace strategies {

// The segments of a pair of passes. begin_half() takes the pieces of one of the two, `ahead` for
// Emitter::running and `back` for Emitter::beside; the memory of both counts in the second, which
// is the backward one. Each writer's computation is stretched by what `beside` takes from it.
struct PairOfSegments {
  const Segment &ahead, &back;
};
void begin_half(Emitter& emitter, const Cast& cast, int stage, const PairOfSegments& pair,
                Pass half, const Interference& beside);
// Writes one piece of the pass; the first waits for the slot's input and for what was gathered.
void emit_piece(SegmentRun& run, Emitter& emitter, const Cast& cast, int stage, const Slot& slot,
                std::size_t index);
// Writes all pieces of a pass and the exchanges behind them; communication `beside` it slows the
// computation of each writer.
void emit_segment(Emitter& emitter, const Cast& cast, int stage, const Slot& slot,
                  const Segment& segment, const Interference& beside);

}  // namespace strategies

// SPDX-License-Identifier: Apache-2.0
// The passes of one slot, and what they do besides computing.
#pragma once
#include "strategies/lowering/emitter.hpp"

namespace strategies {

// The duties of a pass besides computing. `away`: activations are copied to the host, or back.
struct SlotDuties {
  bool gathers = false;        // parameters
  bool reduces = false;        // gradients, beside it
  bool reduces_after = false;  // gradients, behind it
  bool copies = false;         // gradients, to the host
  bool away = false;
  bool any() const { return gathers || reduces || reduces_after || copies || away; }
};
// Tells what a slot of a stage does besides computing.
SlotDuties duties_of(const Emitter& emitter, const Cast& cast, int stage, const Slot& slot);

// Writes a slot of a stage on every cell of it, from its input on, without sending its output.
void emit_passes(Emitter& emitter, const Cast& cast, int stage, const Slot& slot);

}  // namespace strategies

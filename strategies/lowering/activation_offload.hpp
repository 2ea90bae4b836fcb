// SPDX-License-Identifier: Apache-2.0
// Activations in host memory. The tensors that a layer keeps are copied out when its forward pass
// is over, on a lane of its own, and fetched, on another (PCIe and NVLink-C2C carry both ways at
// once), when the backward pass reaches the layer behind it: one layer ahead. At most two layers'
// worth are on the device besides the tensors that stay there: a layer waits with its forward pass
// until the last but one before it has been copied out (Transformer Engine's cpu_offload double
// buffer). Copies do not meet the traffic of NICs.
#pragma once
#include "strategies/lowering/emitter.hpp"

namespace strategies {

// After a forward pass over a segment: copies out what it keeps on the host.
void copy_out(Emitter& emitter, const Cast& cast, int stage, const Slot& slot,
              const Segment& segment);
// Fetches what the layer keeps that the backward pass reaches next, after `ready` of each actor's
// clock.
void fetch(Emitter& emitter, const Cast& cast, int stage, const Slot& slot,
           sim::EventId ActorClock::*ready);
// Before a pass over a segment: lets it wait for the copies that make room for it (forward), or
// that it reads (backward, where it also fetches for the next).
void before_segment(Emitter& emitter, const Cast& cast, int stage, const Slot& slot,
                    const Segment& segment);

}  // namespace strategies

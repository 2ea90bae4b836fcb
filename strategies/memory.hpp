// SPDX-License-Identifier: Apache-2.0
// What a rank holds through the whole step, besides activations.
#pragma once
#include "strategies/lower.hpp"
#include "units/quantity.hpp"

namespace strategies {

// Bytes of a rank with `parameters` parameters, `shards` data-parallel ranks sharing the states of
// those that are not experts apart.
struct StaticMemory {
  units::Bytes weights, gradients, optimizer;
  units::Bytes gathered;  // ZeRO-3: unsharded parameters and gradients of the units in use
};

// Bytes per parameter are those of the software in 16-bit training with Adam; in fp32 and tf32 the
// weights are the master copy, gradients are fp32. Other optimizers keep other moments besides the
// master copy: Adam, LAMB, Sophia and 1-bit Adam two in fp32, SGD and Muon one, Adafactor rows and
// columns only.
// In 8 and 4 bit the 16-bit weights stay, and both copies of them (`model/narrow.hpp`) beside them:
// of whole weights; ZeRO-3 has them of gathered units. Embedding, head, norms and biases have none.
// zero 0: everything whole. 1: optimizer states / shards. 2: gradients / shards too. 3: weights
// too, plus two gathered units and one unsharded gradient (Rajbhandari et al. 2020, section 5).
StaticMemory static_memory(const ActorFacts& actor, const Plan& plan, const Training& training,
                           const Software& software, int shards);

// Device memory traffic of one optimizer step, bytes per parameter: the software's figure is for
// Adam, whose two moments are read and written. In 8 and 4 bit the new weights are read once more
// and both copies written.
double optimizer_traffic(const Training& training, const Software& software);

}  // namespace strategies

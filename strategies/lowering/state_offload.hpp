// SPDX-License-Identifier: Apache-2.0
// Model states in host memory or on NVMe (ZeRO-Offload, Ren et al. 2021; ZeRO-Infinity, Rajbhandari
// et al. 2021). Each rank moves its share only:
//   gradients, 16 bit   to the host as soon as they are reduced, under the backward pass: after
//                       every microbatch if they live there, else once a step
//   the update          on the host's processors; states on NVMe are read and written meanwhile,
//                       and new parameters travel back behind them
//   parameters, 16 bit  on the host: read before each gather, forward and backward
#pragma once
#include "strategies/lowering/emitter.hpp"

namespace strategies {

// Every actor of the stage gets its share of parameters from the host after its event in `after`,
// and finds the end in its clock's `read`.
void read_parameters(Emitter& emitter, const Cast& cast, int stage, const Parameters& parameters,
                     const After& after);
// Every actor of the stage copies its share of gradients to the host once they are reduced, and
// finds the end in its clock's `copied`.
void copy_gradients(Emitter& emitter, const Cast& cast, int stage, const Parameters& parameters);

// Hosts update the states of all stages; the end is in clocks' `reduced`.
void update_on_hosts(Emitter& emitter, const Cast& cast);
// Parameters that devices have updated travel to the hosts that keep them.
void return_parameters(Emitter& emitter, const Cast& cast);

}  // namespace strategies

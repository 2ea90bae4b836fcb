// SPDX-License-Identifier: Apache-2.0
// The times of NCCL's algorithms over given paths; the fastest one counts.
#pragma once
#include "topology/collective.hpp"
#include "topology/paths.hpp"

namespace topology {

// The seconds of a collective in all, and those of them that the bytes take at the bandwidth of the
// algorithm: the rest is start-up, latency and the ramp. 0 ≤ transfer ≤ time.
struct Cost {
  double time = 0, transfer = 0;
};

// One collective of `size` bytes, as collective_time counts them. At least two ranks.
Cost fastest(Collective collective, double size, const Paths& paths);

// One message of `size` bytes between the two members of a pair.
Cost message(double size, const Paths& paths);

}  // namespace topology

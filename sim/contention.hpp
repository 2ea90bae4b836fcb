// SPDX-License-Identifier: Apache-2.0
// Ops whose traffic shares links.
//
// A collective or transfer with traffic takes its fixed duration and then as long as its bytes need
// at the max-min fair rate of its links (flows.hpp). Where no two ever ask a link for more than it
// has, every one runs as on an idle network and the engine's sweep is exact. Where they do, the
// program is played event by event: an op is played as soon as everything before it is, traffic
// begins and ends in order of time.
#pragma once
#include <vector>

#include "sim/engine.hpp"
#include "sim/program.hpp"

namespace sim {

// Duration of an op that is not a pass on an idle network.
Picoseconds idle_duration(const Program& program, const Op& op);

// True if in this run, which took the network for idle, no link was ever asked for more than it
// has. O(ops log ops) where there is traffic.
bool nothing_meets(const Program& program, const Trace& idle);

// Plays the program under contention. O((ops + traffic) log ops) besides what the flows take.
Trace run_contended(const Program& program, Detail detail);

// Bytes that crossed each link over what it could have carried until the finish.
std::vector<double> utilisation(const Program& program, const Trace& trace);

}  // namespace sim

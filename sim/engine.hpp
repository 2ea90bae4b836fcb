// SPDX-License-Identifier: Apache-2.0
// Plays a program. Nothing here knows that it is training.
#pragma once
#include <vector>

#include "sim/pass_matrix.hpp"
#include "sim/program.hpp"

namespace sim {

enum class Detail { templates, every_step };  // how passes are played; the instants are the same

struct Trace {
  std::vector<Picoseconds> start, end;  // per event
  Picoseconds finish = 0;               // latest end
  std::int64_t steps = 0;               // operators played, each on each actor
};

// An op begins when its actors' lanes are free and what they wait for has ended. Ops on a lane keep
// the program's order, so the run is one sweep over the program: no heap, O(events), or O(steps)
// with every step played. A program with traffic is played event by event (contention.hpp).
// Deterministic; the same instants with either detail.
Trace run(const Program& program, Detail detail = Detail::templates);

// Free instants of an actor's lanes.
using LaneTimes = std::array<Picoseconds, lanes>;

// Where the pass drains, its host waits for the device and the input.
inline void drain(const Template& body, LaneTimes& free, Picoseconds arrival);

// Plays one pass, drained if it drains, step by step. steps_of(i) are those that participant i
// runs, a span; lanes_of[i] its lanes, advanced in place; arrivals[i] when its input is there.
// Calls seen(participant, step index, start, end). `ends` is scratch.
template <class StepsOf, class Seen>
void play(StepsOf steps_of, std::span<LaneTimes* const> lanes_of,
          std::span<const Picoseconds> arrivals, std::vector<Picoseconds>& ends, Seen seen);

}  // namespace sim

#include "sim/play.hpp"

// SPDX-License-Identifier: Apache-2.0
// Plays a program. Nothing here knows that it is training.
#pragma once
#include <array>
#include <vector>

#include "sim/program.hpp"

namespace sim {

enum class Detail { templates, every_step };  // how passes are played; the instants are the same

// The instants at which the host, the compute lane and the tensor lane of an actor are free. Events
// do not show them.
using PassLanes = std::array<Picoseconds, 3>;

struct Trace {
  std::vector<Picoseconds> start, end;  // per event
  Picoseconds finish = 0;               // latest end
  std::int64_t steps = 0;               // operators played, each on each actor
  // The free instants of each actor's lanes before its first pass behind each mark [mark][actor].
  // These and host_behind are there only if the program leaves out periods, and begin at the first
  // of its last watched_marks marks.
  std::vector<std::vector<PassLanes>> lanes;
  // The last pass of each actor that its host may have made wait; no_event: none since then.
  std::vector<EventId> host_behind;
};

// An op begins when its actors' lanes are free and what they wait for has ended. Ops on a lane keep
// the program's order, so the run is one sweep over the program: no heap, O(events), or O(steps)
// with every step played. A program with traffic is played event by event (contention.hpp).
// Deterministic; the same instants with either detail.
Trace run(const Program& program, Detail detail = Detail::templates);

}  // namespace sim

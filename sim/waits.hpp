// SPDX-License-Identifier: Apache-2.0
// The waits of actors: idle intervals, and the ops that each event of a run had to wait for.
#pragma once
#include <cstdint>
#include <vector>

#include "sim/engine.hpp"
#include "sim/play.hpp"
#include "sim/program.hpp"
#include "sim/spent.hpp"

namespace sim {

// An interval that counts as Spent::idle of its actor. All intervals of an actor sum to it.
struct Idle {
  ActorId actor{};
  Picoseconds start = 0, end = 0;
  EventId until = no_event;  // the actor's next event; no_event: nothing more in this run
};

// A stretch of the critical path. `event`: what went on, its own share clipped to the path;
// no_event: a host, or a partner of a rendezvous, between two of them.
struct PathStretch {
  EventId event = no_event;
  Picoseconds start = 0, end = 0;
};

// The state in which a pass was entered, as far as it matters to what went on inside: lanes and
// arrivals, after the start of the pass, of its participants, or of one alone where they do not
// meet. A pass that drains has drained already.
struct EnteredPass {
  std::vector<LaneTimes> lanes;
  std::vector<Picoseconds> arrivals;
};

// Filled in by measure(), if asked for.
struct Waits {
  // The time of the critical path inside of passes, by the template that they ran. With the other
  // stretches it sums to the length.
  std::vector<Spent> in_passes;
  std::vector<Idle> idle;                  // by actor, in order of time
  std::vector<PathStretch> critical_path;  // backwards, without a gap: sums to the length
  std::vector<std::uint32_t> op_of;        // by event
  std::vector<EventId> lane_predecessor;   // by event: what occupied its actor's lane before it
  // By event of a pass: its place in `entered`. Events of one template and place went on alike.
  std::vector<std::uint32_t> entered_as;
  std::vector<EnteredPass> entered;
};

// Returns the event that kept `event` from beginning earlier and ended last: it waits for that
// itself, or that was on its lane before it; for a collective the same of every participant.
// no_event: nothing did. O(participants) of a collective, else O(1).
EventId held_back_by(const Program& program, const Trace& trace,
                     const std::vector<std::uint32_t>& op_of,
                     const std::vector<EventId>& lane_predecessor, EventId event);

}  // namespace sim

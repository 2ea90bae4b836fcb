// SPDX-License-Identifier: Apache-2.0
// The time from an actor's begin to its end. Private to the room.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/engine.hpp"
#include "sim/program.hpp"

namespace sim {

inline constexpr std::uint32_t none = 0xffffffffu;

// When actors begin and end, and which of them is measured.
struct Spans {
  std::vector<Picoseconds> begins_at, ends_at;  // by actor
  Picoseconds length = 0;                       // of the longest
  std::size_t longest = 0;                      // its actor, the lowest of them
  std::uint32_t last_event = none;              // its last
};

// The spans of all actors: from zero, or `from_first_work` from their first pass or collective, to
// the end of their last event. `played` is the trace in which the first events are where they were.
// O(events)
Spans spans_of(const Program& program, const Trace& played, const Trace& trace,
               bool from_first_work);

}  // namespace sim

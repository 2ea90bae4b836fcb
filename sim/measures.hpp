// SPDX-License-Identifier: Apache-2.0
// Measures of a run: where simulated time went.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/engine.hpp"
#include "sim/program.hpp"
#include "sim/recurrence.hpp"
#include "sim/spent.hpp"
#include "sim/waits.hpp"

namespace sim {

// The period of a program that is run over and over.
//   makespan: all actors begin together, when the last of them has ended. From zero to the
//     finish.
//   spans: each begins again when it has ended itself, so that runs overlap and follow each other
//     at the pace of the actor with the longest span, from the start of its first pass or
//     collective to the end of its last.
enum class Period { makespan, spans };

struct Measures {
  Picoseconds length = 0;         // the finish, or the longest span
  std::vector<Spent> of_actor;    // each from its beginning; sums to the length
  std::vector<Picoseconds> busy;  // by actor: inside passes
  Spent critical_path;  // of the last event of `last`, back to its beginning; sums to the length
  // The actor that ends last; if several end at once, the one that the last collective waited for,
  // or else the lowest. For spans, the lowest actor of those with the longest.
  ActorId last{};
};

// Measures a run, and writes what actors waited for into `waits` if it is given. O(events), plus
// the steps of each pass once per distinct state it was entered in.
Measures measure(const Program& program, const Trace& trace, Period period = Period::makespan,
                 Waits* waits = nullptr);

// Measures of the whole program, where `program` leaves out what recurs; nothing if actors spend
// the last two steady periods differently. O(events played + events of the critical path)
std::optional<Measures> measure(const Program& program, const Trace& trace,
                                const Recurrence& recurrence, Period period = Period::makespan);

// One pass on an actor that was idle before.
Spent spent_alone(const Template& body);

// Bytes held over a run in program order (as a caching allocator sees it: allocation follows issue,
// not time). `base` is what was allocated before. A program that leaves out periods holds as much
// as the whole one, because each period frees what it allocates.
struct HeldMemory {
  std::int64_t peak = 0;          // most at once beyond the base
  std::int64_t held_at_peak = 0;  // of it, left by earlier passes
  std::int64_t left = 0;          // at the end: zero for a whole step
};
std::vector<HeldMemory> memory_held(const Program& program);  // by actor

}  // namespace sim

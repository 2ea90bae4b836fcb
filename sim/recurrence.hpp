// SPDX-License-Identifier: Apache-2.0
// Jumping over what repeats: a program that leaves out periods, played as if it had them.
//
// In the steady phase of a pipeline every period does what the one before it did, a constant time
// later. Once that is so it stays so: the engine only compares and adds instants, so that the same
// state, later by a constant, leads to the same events, later by that constant. A program may thus
// leave out periods (Program::leave_out); whether its own periods have become steady is proved here
// from its trace, exactly.
#pragma once
#include <cstdint>
#include <optional>

#include "sim/engine.hpp"
#include "sim/program.hpp"

namespace sim {

// The most periods of the program that a period of time may take.
inline constexpr std::size_t longest_period = 4;
// The number of marks at which a run keeps the lanes of actors: those around two such periods.
inline constexpr std::size_t watched_marks = 2 * longest_period + 1;

// The steady phase of a program, which begins and ends at marks. The last period of it stands for
// the periods that are left out.
struct Recurrence {
  Position begin, last, end;  // of the steady phase; `last`: where its last period begins
  std::int64_t times = 0;     // periods that are left out
  Picoseconds period = 0;     // how much later each of them is
  // Every event of the whole program in this interval is one of the steady phase, and none of those
  // is missing. Where ops have traffic, it is longer than a period by at least the longest of
  // these.
  Picoseconds window_begin = 0, window_end = 0;
  // Events of the whole program: those before `begin` as they were played, and from there on those
  // behind what is left out, later by left_out(). The periods left out lie between.
  Trace whole;

  std::uint32_t events() const { return end.event - last.event; }  // of a period
  Picoseconds left_out() const { return times * period; }
  // The number of times that the whole program has this op.
  std::int64_t times_of(std::uint32_t op) const {
    return op >= last.op && op < end.op ? 1 + times : 1;
  }
};

// The number of times that the whole program has this op, and the time at which it is finished.
// `recurrence` is that of the periods that the program leaves out; null: there are none.
inline std::int64_t times_of(std::uint32_t op, const Recurrence* recurrence) {
  return recurrence == nullptr ? 1 : recurrence->times_of(op);
}
inline Picoseconds finish_of(const Trace& played, const Recurrence* recurrence) {
  return recurrence == nullptr ? played.finish : recurrence->whole.finish;
}

// Returns the recurrence that the trace of a program proves, nothing if it proves none:
// - periods of the steady phase are the same ops, that wait for the same events relative to them;
// - all their events, and the lanes of actors between them, are later by one constant. A host may
//   also be so far ahead that it makes no pass wait;
// - in the last of them every actor frees as much memory as it allocates;
// - neither the last period nor what is behind it waits for what was before the phase, and when the
//   first op behind it begins, all that was before the phase has ended;
// - where messages share links, that leaves a window longer than a period by the longest message.
// A program that leaves out nothing has no recurrence. O(events · longest period)
std::optional<Recurrence> find_recurrence(const Program& program, const Trace& trace);

}  // namespace sim

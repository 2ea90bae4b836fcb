// SPDX-License-Identifier: Apache-2.0
// The time of actors between their passes. Private to the room.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/measures.hpp"
#include "sim/waits.hpp"

namespace sim {

// The account of one actor while its time is summed.
struct Account {
  Picoseconds done = 0;                // everything before is accounted for
  std::vector<std::uint32_t> pending;  // collectives not yet accounted for
};

class Gaps {
 public:
  // `op_of`: the op of each event, known for all that began before the events asked about. `idle`:
  // idle intervals are written there; null: nowhere.
  Gaps(const Program& program, const Trace& trace, const std::vector<std::uint32_t>& op_of,
       std::vector<Idle>* idle)
      : program_(program), trace_(&trace), op_of_(op_of), idle_(idle) {}
  // Takes the times of events from this trace from here on.
  void follow(const Trace& trace) { trace_ = &trace; }

  // The time at which all is there that the event waits for.
  Picoseconds arrival(std::uint32_t event) const {
    Picoseconds latest = 0;
    for (EventId earlier : program_.participants()[event].after)
      if (earlier != no_event)
        latest = std::max(latest, trace_->end[static_cast<std::uint32_t>(earlier)]);
    return latest;
  }
  // Accounts for the time from `done` to the start of `event`, in which the actor waits for it.
  void before(std::uint32_t event, Picoseconds start, Account& account, Spent& spent);
  // Accounts for the collectives after the last pass, and up to `end`, when the run is over.
  void close(ActorId actor, Picoseconds end, Account& account, Spent& spent) const;

 private:
  struct Interval {
    Picoseconds start, end;
  };
  // Accounts for the time up to `ready`: collectives that are waited for, then messages.
  void collectives(Account& account, Picoseconds ready, Spent& spent);
  void messages(const Account& account, Picoseconds ready, Spent& spent);
  // Adds an interval to `covered_`, by start; returns the time in it that was not covered before.
  Picoseconds cover(Interval by);
  // Accounts for an actor's time from `from` to `to` without `covered_`.
  void rest(ActorId actor, Picoseconds from, Picoseconds to, EventId until, Spent& spent) const;
  void add_idle(ActorId actor, Picoseconds start, Picoseconds end, EventId until,
                Spent& spent) const;
  // Finds the ops that an event waits for. With `beyond` also the ops behind those that only join
  // several into one or are the host's.
  void find_awaited(std::uint32_t event, bool beyond);
  // Whether a collective is waited for, or has its turn on a lane before one that is.
  bool is_awaited(std::uint32_t earlier) const;
  // The time at which all is there that is awaited, but for work of the host's side.
  Picoseconds last_but_host_side() const;
  // Sorts ops by the time at which they began.
  void sort(std::vector<std::uint32_t>& pending) const;

  const Program& program_;
  const Trace* trace_;
  const std::vector<std::uint32_t>& op_of_;
  std::vector<Idle>* idle_;
  std::vector<std::uint32_t> awaited_;  // by the event being accounted for
  std::vector<Interval> covered_;       // of the gap before it; disjoint, in order
};

}  // namespace sim

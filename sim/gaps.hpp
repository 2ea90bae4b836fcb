// SPDX-License-Identifier: Apache-2.0
// What an actor did between its passes. Private to the room.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/measures.hpp"

namespace sim {

// Of one actor, while its time is accounted for.
struct Account {
  Picoseconds done = 0;                // everything before is accounted for
  std::vector<std::uint32_t> pending;  // collectives not yet accounted for
};

class Gaps {
 public:
  // `op_of`: by event, known of all that began before what is asked about.
  Gaps(const Program& program, const Trace& trace, const std::vector<std::uint32_t>& op_of)
      : program_(program), trace_(trace), op_of_(op_of) {}

  // When all is there that the event waits for.
  Picoseconds arrival(std::uint32_t event) const {
    Picoseconds latest = 0;
    for (EventId earlier : program_.participants()[event].after)
      if (earlier != no_event)
        latest = std::max(latest, trace_.end[static_cast<std::uint32_t>(earlier)]);
    return latest;
  }
  // Accounts for the time from `done` to the start of `event`: waiting for what it waits for.
  void before(std::uint32_t event, Picoseconds start, Account& account, Spent& spent);
  // Accounts for the collectives after the last pass.
  void close(Account& account, Spent& spent) const;

 private:
  // Time up to `ready` that collectives take which are waited for.
  Picoseconds collectives(Account& account, Picoseconds ready, Spent& spent) const;
  // What an event waits for, and, `beyond`, what those of them wait for that only join several into
  // one or are the host's.
  void find_awaited(std::uint32_t event, bool beyond);
  // A collective that is waited for, or has its turn on a lane before one that is.
  bool is_awaited(std::uint32_t earlier) const;
  // When all is there that is awaited of others than the host.
  Picoseconds last_but_host_side() const;
  // By when they began.
  void sort(std::vector<std::uint32_t>& pending) const;
  Picoseconds overlap(std::uint32_t event, Picoseconds from, Picoseconds to) const {
    return std::max<Picoseconds>(
        0, std::min(trace_.end[event], to) - std::max(trace_.start[event], from));
  }

  const Program& program_;
  const Trace& trace_;
  const std::vector<std::uint32_t>& op_of_;
  std::vector<std::uint32_t> awaited_;  // by the event being accounted for
};

}  // namespace sim

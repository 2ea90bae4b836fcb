// SPDX-License-Identifier: Apache-2.0
// The use of an interval of simulated time.
#pragma once
#include <array>
#include <cstdint>

#include "sim/program.hpp"

namespace sim {

// Every picosecond of an interval once: computing; else a collective or transfer that the actor
// waits for (of work on the host's side, what a pass waits for after all else is there); else
// `host`: the device was ready and the host (or a partner of a rendezvous) was not; else `idle`.
struct Spent {
  std::array<Picoseconds, activities> on{};
  Picoseconds host = 0, idle = 0;
  Picoseconds total() const;
  Spent& operator+=(const Spent& other) { return add(other, 1); }
  Spent& add(const Spent& other, std::int64_t times);
  friend bool operator==(const Spent&, const Spent&) = default;
};

}  // namespace sim

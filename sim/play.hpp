// SPDX-License-Identifier: Apache-2.0
// Plays a pass step by step: the rule that all else of this room must agree with.
#pragma once
#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "sim/program.hpp"

namespace sim {

inline constexpr Picoseconds never = INT64_MIN / 4;  // an instant that makes nobody wait

// Free instants of an actor's lanes.
using LaneTimes = std::array<Picoseconds, lanes>;

// At a drain of the pass, its host waits for the device and the input.
inline void drain(const Template& body, LaneTimes& free, Picoseconds arrival) {
  if (!body.drains) return;
  const auto at = [&](Lane lane) -> Picoseconds& { return free[static_cast<std::size_t>(lane)]; };
  at(Lane::host) = std::max({at(Lane::host), at(Lane::compute), at(Lane::tensor), arrival});
}

// Plays one pass, drained if it drains, step by step. steps_of(i) are those that participant i
// runs, a span; lanes_of[i] its lanes, advanced in place; arrivals[i] when its input is there.
// Calls seen(participant, step index, start, end). `ends` is scratch.
template <class StepsOf, class Seen>
void play(StepsOf steps_of, std::span<LaneTimes* const> lanes_of,
          std::span<const Picoseconds> arrivals, std::vector<Picoseconds>& ends, Seen seen) {
  const auto actors = lanes_of.size();
  const auto at = [](Lane lane) { return static_cast<std::size_t>(lane); };
  const std::span<const Step> steps = steps_of(0);
  ends.resize(steps.size() * actors);
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const auto& shape = steps[s];
    const auto ready = [&](std::size_t a) {
      auto& free = *lanes_of[a];
      auto start = std::max(free[at(Lane::host)] += steps_of(a)[s].issue, free[at(shape.lane)]);
      if (s == 0) start = std::max(start, arrivals[a]);
      if (shape.joins >= 0)
        start = std::max(start, ends[static_cast<std::size_t>(shape.joins) * actors + a]);
      return start;
    };
    const auto settle = [&](std::size_t a, Picoseconds start, Picoseconds end) {
      (*lanes_of[a])[at(shape.lane)] = end;
      ends[s * actors + a] = end;
      seen(a, s, start, end);
    };
    if (shape.rendezvous) {
      Picoseconds start = never, longest = 0;
      for (std::size_t a = 0; a < actors; ++a) {
        start = std::max(start, ready(a));
        longest = std::max(longest, steps_of(a)[s].duration);
      }
      for (std::size_t a = 0; a < actors; ++a) settle(a, start, start + longest);
    } else {
      for (std::size_t a = 0; a < actors; ++a) {
        const auto start = ready(a);
        settle(a, start, start + steps_of(a)[s].duration);
      }
    }
  }
}

// Lanes that make nobody wait, but for compute's, free at `compute`, and the host's, at `host`.
LaneTimes lanes_from(Picoseconds compute, Picoseconds host = never);

// The lanes of an actor once it has run the pass on its own, at rendezvous too. O(steps)
LaneTimes after(const Template& body, LaneTimes free);

// The longest path of the pass from the compute lane to itself, across rendezvous or not; not
// below 0. O(steps)
Picoseconds on_compute_lane(const Template& body);

}  // namespace sim

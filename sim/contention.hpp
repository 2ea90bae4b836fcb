// SPDX-License-Identifier: Apache-2.0
// Ops whose traffic shares links.
//
// A collective or transfer with traffic takes its fixed duration and then as long as its bytes need
// at the max-min fair rate of its links (flows.hpp). As long as no two are on one link at once, a
// sweep over the program is exact. Where they are, it is played event by event: an op is played as
// soon as everything before it is, traffic begins and ends in order of time.
#pragma once
#include <vector>

#include "sim/engine.hpp"
#include "sim/program.hpp"
#include "sim/recurrence.hpp"

namespace sim {

// Rate of this traffic, bytes/s, when it has its links to itself.
double idle_rate(const Program& program, const Traffic& traffic);

// Duration of an op that is not a pass on an idle network.
Picoseconds idle_duration(const Program& program, const Op& op);

// Plays the program under contention. O((ops + traffic) log ops) besides what the flows take.
Trace run_contended(const Program& program, Detail detail);

// Time that ops of kind `of` (Label::kind) lost to the traffic of ops of kind `by`: the most that
// any one actor lost, and the link where it lost most of it.
struct Slowed {
  std::uint8_t of, by;
  LinkId where;
  Picoseconds lost;
  friend bool operator==(const Slowed&, const Slowed&) = default;
};

// The time that sharing links cost, the largest first. An op loses the time that it takes beyond
// its duration and its bytes at their cap. It lost that time on the link that was most in demand
// while it sent (flows over capacity), to each kind in proportion to its traffic there: the time
// for which both sent, times the other's `times`. Where a link is loaded more than once by an op,
// the op's kind slows itself down; a link that is narrower than the cap, and crossed by nothing
// else, slows down nobody. This function and the next count for the whole program where `program`
// leaves out what recurs. O(uses (log uses + kinds)).
std::vector<Slowed> slowed(const Program& program, const Trace& trace,
                           const Recurrence* recurrence = nullptr);

// Bytes that crossed each link over what it could have carried until the finish.
std::vector<double> utilisation(const Program& program, const Trace& trace,
                                const Recurrence* recurrence = nullptr);

}  // namespace sim

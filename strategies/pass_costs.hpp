// SPDX-License-Identifier: Apache-2.0
// The time that whole passes take of a device on an idle network, alone and beside each other,
// before any program is written. No time here exceeds that of a simulated step.
#pragma once
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "strategies/least_costs.hpp"

namespace strategies {

// A time that is asked for again is only looked up. All arguments must outlive it; one thread at a
// time.
class PassCosts {
 public:
  // The costs of the fastest of these kinds of ranks, for segments of `blocks`.
  PassCosts(const Job& job, const std::vector<RankKind>& kinds, const Costs& costs,
            const Segment& blocks);

  // The time from the moment when the device is free and all inputs are there until it is free
  // again. O(operators)
  sim::Picoseconds time_alone(const Segment& segment, Pass pass);
  // The time of a forward and a backward pass beside each other, whose pieces alternate: the
  // exchange after a piece of one travels while the other computes.
  sim::Picoseconds pair(const Segment& forward, const Segment& backward);

 private:
  const Software& software_;
  std::vector<std::unique_ptr<PassWriter>> writers_;
  std::map<std::pair<Segment, Pass>, sim::Picoseconds> alone_;
  std::map<std::pair<Segment, Segment>, sim::Picoseconds> pairs_;
};

}  // namespace strategies

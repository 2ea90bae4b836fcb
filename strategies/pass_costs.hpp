// SPDX-License-Identifier: Apache-2.0
// How long a device is taken by whole passes on an idle network, alone and beside each other,
// before any program is written. Nothing here is more than what a simulated step makes of it.
#pragma once
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "strategies/least_costs.hpp"

namespace strategies {

// Asked for again, a time is only looked up. All arguments must outlive it; one thread at a time.
class PassCosts {
 public:
  using Segment = std::vector<Block>;  // in model order
  // Of ranks of these kinds, the fastest; of segments of `blocks`.
  PassCosts(const Job& job, const std::vector<RankKind>& kinds, const Costs& costs,
            const Segment& blocks);

  // From when the device is free and all is there to when it is free again. O(operators)
  sim::Picoseconds alone(const Segment& segment, Pass pass);
  // Of a forward and a backward pass beside each other, whose pieces alternate: what one exchanges
  // after a piece travels while the other computes.
  sim::Picoseconds pair(const Segment& forward, const Segment& backward);

 private:
  const Software& software_;
  std::vector<std::unique_ptr<PassWriter>> writers_;
  std::map<std::pair<Segment, Pass>, sim::Picoseconds> alone_;
  std::map<std::pair<Segment, Segment>, sim::Picoseconds> pairs_;
};

}  // namespace strategies

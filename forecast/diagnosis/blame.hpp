// SPDX-License-Identifier: Apache-2.0
// Private to the sub-room: the chain of work that a step waited for, from its end back to its
// beginning, across ranks.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "forecast/diagnosis/seen_step.hpp"

namespace forecast {

// The seconds that a rank spent on the chain, by activity.
struct OnChain {
  std::array<double, kernel_classes> computing{};
  std::array<double, step_parts.size()> communicating{};
  double copying = 0;
  double before_first = 0, gaps = 0, after_last = 0;  // idle
  double waiting = 0;  // part of `communicating`: for other ranks, perhaps (without their traces)
  double total() const;
};

// Follows the chain back from the end of a rank. If a rank waits in a meeting for the one that came
// last, the chain goes on there, with the work of that rank before it came, so clocks do not
// matter. Returns, by rank of the step, the chain that waits least for other ranks, traced or not,
// among those from the ends of all ranks. Its times sum to the step's time, as far as the ranks
// agree when it began. O(ranks · stretches)
std::vector<OnChain> chain_of(const SeenStep& step);

}  // namespace forecast

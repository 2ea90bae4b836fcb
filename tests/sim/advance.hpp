// SPDX-License-Identifier: Apache-2.0
// A network of shared links moved on over several completions.
#pragma once
#include <vector>

#include "sim/flows/flows.hpp"

namespace tests {

// Moves a network on to `to` >= now(), and returns the flows that left by then, in order of time
// and id.
inline std::vector<sim::SharedNetwork::Completion> advance(sim::SharedNetwork& network,
                                                           sim::SharedNetwork::Ticks to) {
  std::vector<sim::SharedNetwork::Completion> left;
  do {
    const auto now = network.advance_to_completion(to);
    left.insert(left.end(), now.begin(), now.end());
  } while (network.now() < to);
  return left;
}

}  // namespace tests

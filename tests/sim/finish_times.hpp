// SPDX-License-Identifier: Apache-2.0
// Finish times of flows that are known in advance.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "sim/flows/flows.hpp"

namespace tests {

struct NetworkFlow {
  std::vector<std::uint32_t> links;
  double bytes = 0;
  double start = 0;            // seconds; latency included
  double cap = sim::uncapped;  // bytes/s, of each flow
  std::int64_t count = 1;
};

// The seconds at which each flow has left, to a relative 1e-12 unless rates are below 1e-6 of the
// largest capacity. Throws std::invalid_argument as sim::SharedNetwork does, and on starts before
// zero.
std::vector<double> finish_times(std::span<const double> capacities,
                                 std::span<const NetworkFlow> flows);

}  // namespace tests

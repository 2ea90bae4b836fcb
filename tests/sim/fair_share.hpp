// SPDX-License-Identifier: Apache-2.0
// Max-min fair rates by progressive filling: slow and obvious, the oracle of sim/flows/flows.hpp.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace oracle {

// The rate of each flow. capacity[l] > 0 is that of link l; routes[f] lists the links that flow f
// crosses, at least one, as often as the flow loads it. caps[f] > 0 is the most rate of flow f;
// weights[f] > 0 is the number of identical flows that it stands for (each gets the rate). Without
// caps rates have no limit, without weights a flow stands for one. Guarantees: no link carries more
// than its capacity, and every flow is at its cap or crosses a full link on which no other flow is
// faster. Throws std::invalid_argument on other input. O(flows * hops) per level, at most links +
// flows levels (Bertsekas and Gallager, Data Networks, 2nd edition, section 6.5.2).
std::vector<double> fair_share(std::span<const double> capacity,
                               std::span<const std::vector<std::size_t>> routes,
                               std::span<const double> caps = {},
                               std::span<const std::int64_t> weights = {});

}  // namespace oracle

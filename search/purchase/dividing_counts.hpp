// SPDX-License-Identifier: Apache-2.0
// Private to the room: the numbers of nodes for which degrees of a plan exist at all.
#pragma once
#include <cstdint>
#include <vector>

#include "search/purchase/purchase.hpp"

namespace search {

// The option on this number of nodes.
PurchaseOption with_nodes(PurchaseOption option, std::int64_t nodes);

struct DividingCount {
  std::int64_t nodes = 0;
  // The greatest common divisor of GPUs and sequences of the batch, as a share of the GPUs: the
  // larger, the more choices of degrees there are, and the fewer of them leave a remainder. The
  // least of all workloads, with the largest batch that each may have.
  double evenness = 0;
  friend bool operator==(const DividingCount&, const DividingCount&) = default;
};

// Returns the numbers of nodes between two, both included, on which every workload has degrees that
// multiply to the GPUs and divide model and batch, ascending. Nothing is searched or simulated.
// Looks at every number up to 256, at every second one to 512, at every fourth to 1,024 and so on,
// and at both ends.
std::vector<DividingCount> dividing_counts(const Purchase& purchase, const PurchaseOption& option,
                                           std::int64_t least, std::int64_t most);

}  // namespace search

// SPDX-License-Identifier: Apache-2.0
// A strategy for each layer where layers may differ and changing costs resharding (Miao et al.
// 2022, Galvatron), exact and in bytes.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "search/solvers/frontier.hpp"

namespace search {

// One layer under each of S strategies.
struct StrategyLayer {
  std::vector<ByteCount> memory;       // S, ≥ 0
  std::vector<Picoseconds> time;       // S
  std::vector<Picoseconds> switching;  // from the strategy of the layer before: S · that +
                                       // strategy; empty: free; not read for the first layer
};

struct StrategyChoice {
  Picoseconds time = 0;
  ByteCount memory = 0;
  std::vector<int> strategies;  // by layer
};

// The choice with the least time of all layers and switches whose memory is at most `capacity`;
// nothing if no choice fits. Labels (memory, time) by layer and strategy are kept where no smaller
// label is faster and where the Lagrangian bound on the rest, time + λ·memory minimised without the
// limit, stays below the best known. O(layers · S² · labels). Throws std::invalid_argument if
// layers differ in their number of strategies.
std::optional<StrategyChoice> layer_strategies(std::span<const StrategyLayer> layers,
                                               ByteCount capacity);

}  // namespace search

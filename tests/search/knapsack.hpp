// SPDX-License-Identifier: Apache-2.0
// The choice of activations to save under a budget: the 0/1 knapsack, exact.
#pragma once
#include <span>
#include <vector>

#include "search/solvers/frontier.hpp"

namespace search {

struct Item {
  ByteCount size = 0;
  Picoseconds value = 0;  // recomputation that saving it avoids
};

struct Saved {
  Picoseconds value = 0;
  ByteCount size = 0;
  std::vector<int> items;  // places in the list, ascending
};

// The most valuable items of at most `budget` bytes together. Sizes and values are ≥ 0; a budget <
// 0 saves nothing. Sizes are not rounded to steps. Labels (size, value) are kept where no smaller
// label is worth as much and where the rest, cut at the budget (Dantzig 1957), could beat the best
// known: O(items · labels) with few labels in practice, 2^items at worst.
Saved knapsack(std::span<const Item> items, ByteCount budget);

}  // namespace search

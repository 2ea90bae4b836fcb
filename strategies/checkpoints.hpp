// SPDX-License-Identifier: Apache-2.0
// Layers that are recomputed whole, with fewer checkpoints than layers: a row of them keeps the
// input of its first layer alone (Chen et al. 2016). The backward pass runs the row forward once
// more, keeping all that it makes, and then backwards. Where rows are nested, running the longer
// one again keeps the inputs of the shorter ones inside, each of which is then treated the same,
// the last first: with n layers and rows of K and k, n / K + K / k inputs and k layers are held at
// once, and layers that are not in the last row of k of their K run forward three times.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "strategies/passes.hpp"

namespace strategies {

// Block::checkpoint of a layer that follows `layers` layers recomputed the same way.
std::uint8_t checkpoint_of(const std::vector<std::int64_t>& every, std::int64_t layers);

// Whether layers that run again so do it in rows, of which the input of the first alone is kept.
inline bool in_rows(const Recompute& choice) { return !choice.every.empty(); }
// Whether the plan recomputes some layers in rows.
bool has_rows(const Plan& plan);

// The number of times that each block, or its dropped part, runs again in a backward pass over all
// blocks.
std::vector<std::int64_t> runs_again(const std::vector<Block>& blocks);

// Visits the parts of a backward pass over blocks [first, last), of which the first has its input,
// in the order in which they run. `visit.again(first, last, level)`: forward once more, keeping the
// inputs of those whose checkpoint is `level`, that of `last` included; `visit.back(first, last)`:
// forward once more, keeping all, and backwards. O(blocks · levels)
template <class Visit>
void walk_back(const std::vector<Block>& blocks, std::size_t first, std::size_t last,
               Visit& visit) {
  if (first == last) return;
  auto level = Block::inside;
  for (auto i = first + 1; i < last; ++i) level = std::min(level, blocks[i].checkpoint);
  if (level == Block::inside) return visit.back(first, last);
  const auto begins = [&](std::size_t i) { return i == first || blocks[i].checkpoint == level; };
  for (auto end = last; end > first;) {
    auto begin = end - 1;
    while (!begins(begin)) --begin;
    if (level > 0 && end == last) visit.again(first, begin, level);
    walk_back(blocks, begin, end, visit);
    end = begin;
  }
}

}  // namespace strategies

// SPDX-License-Identifier: Apache-2.0
#include "strategies/checkpoints.hpp"

namespace strategies {

std::uint8_t checkpoint_of(const std::vector<std::int64_t>& every, std::int64_t layers) {
  for (std::size_t level = 0; level < every.size(); ++level)
    if (layers % every[level] == 0) return static_cast<std::uint8_t>(level);
  return every.empty() ? 0 : Block::inside;
}

bool has_rows(const Plan& plan) {
  return in_rows(plan.recompute) || std::ranges::any_of(plan.recompute_of_stage, in_rows) ||
         std::ranges::any_of(plan.layers, [&](const LayerStrategy& range) {
           return range.recompute && in_rows(*range.recompute);
         });
}

std::vector<std::int64_t> runs_again(const std::vector<Block>& blocks) {
  struct Count {
    std::vector<std::int64_t> runs;
    void add(std::size_t first, std::size_t last) {
      for (auto i = first; i < last; ++i) ++runs[i];
    }
    void again(std::size_t first, std::size_t last, std::uint8_t) { add(first, last); }
    void back(std::size_t first, std::size_t last) { add(first, last); }
  };
  Count count{std::vector<std::int64_t>(blocks.size(), 0)};
  walk_back(blocks, 0, blocks.size(), count);
  return std::move(count.runs);
}

}  // namespace strategies

// SPDX-License-Identifier: Apache-2.0
// Private to the room: building blocks, the periodic middle of a V schedule.
#pragma once
#include <array>
#include <vector>

#include "plans/schedules/zero_bubble_line.hpp"

namespace strategies {

// A building block (Qi et al. 2024): the times of one microbatch's passes on every stage, repeated
// every six units, where every pass takes one unit. `spacing`: units between neighbouring stages,
// for the passes F0, F1, B1, B0 of the two chunks; `turn`: idle units before F1, B1 and B0 begin. A
// pass that meets another one of the period is moved back. Weight passes take what is left.
struct BuildingBlock {
  std::array<int, 4> spacing{};
  std::array<int, 3> turn{};
};

// The spacings of ZB-V, V-Half and V-Min, and of two more blocks with the memory of ZB-V. A block
// of less memory leaves less time for a result to be on the way.
inline constexpr std::array<std::array<int, 4>, 5> spacings{
    {{4, 2, 4, 2}, {2, 2, 4, 4}, {1, 2, 4, 3}, {2, 1, 2, 1}, {1, 1, 1, 1}}};

// The blocks in which no pass meets another one and that hold at most `limit` chunks on every
// stage: those with the largest spacing that has any; with up to four stages, with every spacing.
// O(blocks · stages).
std::vector<BuildingBlock> blocks_within(int limit, int stages);

// The order of the repeated block. O(passes).
Order repeat(const LineInput& input, const BuildingBlock& block);

}  // namespace strategies

// SPDX-License-Identifier: Apache-2.0
// Private to the room: the blocks of a rank's virtual stages, and the passes over them.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "forecast/scenario.hpp"
#include "plans/schedules/schedule.hpp"
#include "sim/program.hpp"
#include "strategies/lowered.hpp"

namespace forecast {

// A virtual stage of a rank; `first_layer`: how many layers of the model come before it.
struct RankChunk {
  std::vector<strategies::Block> blocks;
  std::int64_t first_layer = 0;
};
// Returns the virtual stages of a pipeline stage, by chunk.
std::vector<RankChunk> chunks_of(const Scenario& scenario, int stage);

// The pass that an op's label names, if it names one.
std::optional<strategies::Pass> pass_of(std::uint8_t label);
// The index of the actor among the op's participants, if it is one.
std::optional<std::uint32_t> part_of(const sim::Program& program, const sim::Op& op,
                                     std::uint32_t actor);

// Divides bytes in proportion to weights, so that the parts sum up to the whole. Without a weight
// above 0, all parts are 0.
std::vector<std::int64_t> in_proportion(std::int64_t bytes, const std::vector<double>& weights);

// Divides bytes among the blocks of all chunks in proportion to their parameters. A rank without
// parameters has none.
using BytesByBlock = std::vector<std::vector<std::int64_t>>;
BytesByBlock spread_by_parameters(units::Bytes bytes, const std::vector<RankChunk>& chunks,
                                  const strategies::PassWriter& writer);

}  // namespace forecast

// SPDX-License-Identifier: Apache-2.0
#include "forecast/rank_chunks.hpp"

#include <algorithm>

#include "plans/schedules/schedule_layout.hpp"
#include "strategies/activity.hpp"
#include "strategies/blocks.hpp"
#include "strategies/passes.hpp"

namespace forecast {

using strategies::Block;

std::vector<RankChunk> chunks_of(const Scenario& scenario, int stage) {
  const auto& plan = scenario.plan;
  const auto layout = strategies::layout_of(plan.schedule, static_cast<int>(plan.pipeline),
                                            static_cast<int>(plan.virtual_stages));
  auto all = strategies::blocks_of(scenario.model, scenario.training, plan,
                                   scenario.software.keep_sent_outputs);
  std::vector<std::int64_t> first(all.size(), 0);  // layer of each virtual stage
  for (std::size_t v = 1; v < all.size(); ++v)
    first[v] = first[v - 1] + std::ranges::count(all[v - 1], Block::Kind::layer, &Block::kind);
  std::vector<RankChunk> chunks;
  for (int chunk = 0; chunk < layout.chunks; ++chunk) {
    const auto v = static_cast<std::size_t>(strategies::virtual_stage_of(stage, chunk, layout));
    chunks.push_back({std::move(all[v]), first[v]});
  }
  return chunks;
}

std::optional<strategies::Pass> pass_of(std::uint8_t label) {
  switch (label) {
    case strategies::label_forward:
      return strategies::Pass::forward;
    case strategies::label_backward:
      return strategies::Pass::backward;
    case strategies::label_backward_input:
      return strategies::Pass::backward_input;
    case strategies::label_backward_weight:
      return strategies::Pass::backward_weight;
    default:
      return {};
  }
}

std::optional<std::uint32_t> part_of(const sim::Program& program, const sim::Op& op,
                                     std::uint32_t actor) {
  const auto& all = program.participants();
  for (std::uint32_t i = 0; i < op.count; ++i)
    if (all[op.first + i].actor == sim::ActorId{actor}) return i;
  return {};
}

BytesByBlock spread_by_parameters(units::Bytes bytes, const std::vector<RankChunk>& chunks,
                                  const strategies::PassWriter& writer) {
  double sum = 0;
  std::int64_t* last = nullptr;  // of the blocks that have parameters: it takes what is left
  BytesByBlock spread;
  for (const auto& chunk : chunks) {
    spread.emplace_back(chunk.blocks.size(), 0);
    for (std::size_t b = 0; b < chunk.blocks.size(); ++b) {
      const auto parameters = writer.cost(chunk.blocks[b]).parameters.all();
      sum += std::max(0.0, parameters);
      if (parameters > 0) last = &spread.back()[b];
    }
  }
  auto left = static_cast<std::int64_t>(bytes.value);
  for (std::size_t c = 0; c < chunks.size(); ++c)
    for (std::size_t b = 0; b < chunks[c].blocks.size(); ++b) {
      const auto parameters = writer.cost(chunks[c].blocks[b]).parameters.all();
      auto& own = spread[c][b];
      if (parameters <= 0) continue;
      own = &own == last
                ? left
                : std::min(left, static_cast<std::int64_t>(bytes.value * parameters / sum));
      left -= own;
    }
  return spread;
}

}  // namespace forecast

// SPDX-License-Identifier: Apache-2.0
#include "forecast/rank_chunks.hpp"

#include <algorithm>
#include <cstddef>

#include "plans/schedules/schedule_layout.hpp"
#include "strategies/activity.hpp"
#include "strategies/blocks.hpp"
#include "strategies/passes.hpp"

namespace forecast {

using strategies::Block;

std::vector<RankChunk> chunks_of(const Scenario& scenario, int stage) {
  const auto& plan = scenario.plan;
  const auto layout = strategies::layout_of(plan);
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

std::vector<std::int64_t> in_proportion(std::int64_t bytes, const std::vector<double>& weights) {
  double sum = 0;
  std::size_t last = weights.size();  // the last part takes what is left
  for (std::size_t i = 0; i < weights.size(); ++i) {
    sum += std::max(0.0, weights[i]);
    if (weights[i] > 0) last = i;
  }
  std::vector<std::int64_t> parts(weights.size(), 0);
  auto left = bytes;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] <= 0) continue;
    const auto share = static_cast<double>(bytes) * weights[i] / sum;
    parts[i] = i == last ? left : std::min(left, static_cast<std::int64_t>(share));
    left -= parts[i];
  }
  return parts;
}

BytesByBlock spread_by_parameters(units::Bytes bytes, const std::vector<RankChunk>& chunks,
                                  const strategies::PassWriter& writer) {
  std::vector<double> parameters;
  for (const auto& chunk : chunks)
    for (const auto& block : chunk.blocks)
      parameters.push_back(writer.cost(block).parameters.all());
  const auto parts = in_proportion(static_cast<std::int64_t>(bytes.value), parameters);
  BytesByBlock spread;
  auto next = parts.begin();
  for (const auto& chunk : chunks) {
    const auto end = next + static_cast<std::ptrdiff_t>(chunk.blocks.size());
    spread.emplace_back(next, end);
    next = end;
  }
  return spread;
}

}  // namespace forecast

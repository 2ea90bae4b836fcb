// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "forecast/costs.hpp"
#include "forecast/memory.hpp"
#include "forecast/memory_replay.hpp"
#include "forecast/memory_timeline.hpp"
#include "strategies/lowering/lower.hpp"

namespace forecast {

MemoryHistory memory_history(const Scenario& scenario, int stage) {
  const auto costs = costs_on(scenario.cluster);
  const auto lowered = strategies::lower(
      {scenario.model, scenario.training, scenario.plan, scenario.software, scenario.cluster},
      costs, strategies::Ranks::folded);
  const auto found = std::ranges::find(lowered.actors, stage, &strategies::ActorFacts::stage);
  auto tensors = tensor_timeline(scenario, lowered,
                                 static_cast<std::uint32_t>(found - lowered.actors.begin()));
  const auto room = capacity_of(scenario, *found) - outside_of(scenario, *found);
  const allocator::Limits limits{
      .device = std::max<std::int64_t>(0, static_cast<std::int64_t>(room.value))};
  MemoryHistory history;
  allocator::CachingAllocator memory(history.settings, limits, &history.trace);
  allocator::replay(memory, tensors.events, steps_in_history, 0);
  history.segments = memory.segments();
  history.tensors = std::move(tensors.tensors);
  return history;
}

}  // namespace forecast

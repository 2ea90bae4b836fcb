// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "forecast/allocator_use.hpp"
#include "forecast/costs.hpp"
#include "forecast/memory_replay.hpp"
#include "forecast/memory_timeline.hpp"
#include "strategies/lowering/lower.hpp"

namespace forecast {

std::string NamedTensor::name() const {
  std::string text;
  if (!block.empty()) text += block + ": ";
  if (!op.empty()) text += op + ", ";
  return text + what;
}

MemoryHistory memory_history(const Scenario& scenario, int stage) {
  const auto costs = costs_on(scenario.cluster);
  const auto lowered = strategies::lower(
      {scenario.model, scenario.training, scenario.plan, scenario.software, scenario.cluster},
      costs, strategies::Ranks::folded);
  const auto found = std::ranges::find(lowered.actors, stage, &strategies::ActorFacts::stage);
  const auto tensors = tensor_timeline(scenario, lowered,
                                       static_cast<std::uint32_t>(found - lowered.actors.begin()));
  const auto limits = limits_of(scenario, *found);
  MemoryHistory history;
  history.settings = settings_of(scenario.software.allocator);
  allocator::CachingAllocator memory(history.settings, limits, &history.trace);
  allocator::replay(memory, tensors.events, steps_in_history, 0);
  history.segments = memory.segments();
  for (const auto name : tensors.name_of) history.tensors.push_back(tensors.names[name]);
  return history;
}

}  // namespace forecast

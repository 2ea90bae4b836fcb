// SPDX-License-Identifier: Apache-2.0
#include "forecast/memory.hpp"

#include <algorithm>
#include <optional>

#include "forecast/allocator_use.hpp"
#include "forecast/host_memory.hpp"
#include "forecast/late_gradients.hpp"
#include "plans/memory.hpp"
#include "sim/measures.hpp"

namespace forecast {

using units::Bytes;

Bytes room_of(const Scenario& scenario, Bytes usable, Bytes outside) {
  const auto room = scenario.cluster.memory_fraction * usable;
  const auto pool = scenario.software.allocator.preallocated;
  return pool ? std::min(room, *pool * room + outside) : room;
}

Bytes capacity_of(const Scenario& scenario, const strategies::ActorFacts& actor) {
  return room_of(scenario, scenario.cluster.kind(actor.gpu.kind).device.usable_memory,
                 outside_of(scenario, actor));
}

Bytes outside_of(const Scenario& scenario, const strategies::ActorFacts& actor) {
  return actor.communicators * scenario.software.communicator_memory +
         scenario.software.framework_memory;
}

namespace {

// Returns the memory of an actor, as that of its stage. Memory that the allocator caches does not
// count as needed: before the allocator fails, it gives that back and asks again, so it reserves at
// most `room` if the tensors fit.
StageMemory stage_memory(const Scenario& scenario, const strategies::ActorFacts& actor,
                         const strategies::StaticMemory& fixed, const HeldWithGradients& most,
                         std::int64_t most_in_passes, Bytes room) {
  const auto& software = scenario.software;
  const auto& held = most.passes;
  StageMemory stage;
  stage.weights = fixed.weights;
  stage.gradients = most.gradients;
  stage.optimizer = fixed.optimizer;
  stage.activations = {static_cast<double>(held.held_at_peak)};
  stage.buffers = fixed.gathered + software.workspace;
  if (scenario.model.moe) stage.buffers += software.expert_workspace;
  stage.temporary = Bytes{static_cast<double>(held.peak - held.held_at_peak)} + stage.buffers;
  stage.communication = actor.communicators * software.communicator_memory;
  stage.framework = software.framework_memory;
  const auto states = stage.weights + stage.gradients + stage.optimizer;
  const auto in_passes = states + stage.activations + stage.temporary;
  const auto after_passes = fixed.reduction + fixed.stepping;
  const auto yet_to_come = fixed.gradients - stage.gradients;
  stage.peak_allocated =
      std::max(in_passes, states + yet_to_come + after_passes + software.workspace);
  const auto outside = stage.communication + stage.framework;
  // Under ZeRO-3, late gradients are allocated on the stream that reduces them, whose blocks no
  // other stream of PyTorch may use: all of them are cached beside the most that passes need.
  const bool own_stream = scenario.plan.zero == 3 && !software.allocator.preallocated;
  const auto tensors = own_stream ? fixed.weights + fixed.gradients + fixed.optimizer +
                                        stage.buffers + Bytes{static_cast<double>(most_in_passes)}
                                  : in_passes;
  const auto cached = tensors * software.reserved_over_allocated + after_passes + outside;
  const auto needed = stage.peak_allocated + outside;
  if (stage.peak_allocated > in_passes) {
    stage.gradients = fixed.gradients;
    stage.activations = {};
    stage.temporary = after_passes + software.workspace;
  }
  stage.peak = std::max(needed, std::min(cached, room));
  stage.peak_reserved = stage.peak - outside;
  stage.capacity = room;
  return stage;
}

// Whether stage `a` takes a larger share of its device than `b`; if the allocator fills both
// devices, whether its tensors do.
bool is_fuller(const StageMemory& a, const StageMemory& b) {
  const auto filled = [](const StageMemory& stage) {
    const auto tensors = stage.needed();
    return std::pair(stage.peak / stage.capacity, tensors / stage.capacity);
  };
  return filled(a) > filled(b);
}

// Returns these bytes of the stage where they are the largest share of its device.
Bytes worst(const std::vector<StageMemory>& stages, Bytes StageMemory::*bytes) {
  return *std::ranges::max_element(stages, {}, [&](const StageMemory& stage) {
    return stage.*bytes / stage.capacity;
  }).*bytes;
}

// The share of a device up to which tensors leave so much of it free that no published run's replay
// fails.
constexpr double fragments_matter = 0.8;

}  // namespace

Memory memory_of(const Scenario& scenario, const strategies::Lowered& lowered,
                 const std::function<const strategies::Lowered*()>& whole, bool replayed) {
  const auto held = sim::memory_held(lowered.program);
  std::vector<strategies::StaticMemory> fixed;  // by actor
  std::vector<Bytes> gradients;
  for (const auto& facts : lowered.actors) {
    fixed.push_back(strategies::static_memory(facts.held, lowered.shards, scenario.plan,
                                              scenario.training, scenario.software));
    gradients.push_back(fixed.back().gradients);
  }
  const bool late = strategies::gradients_come_late(scenario.software, lowered.microbatches);
  std::vector<HeldWithGradients> most;
  if (late) most = held_with_gradients(scenario, lowered, gradients);
  Memory memory;
  memory.stages.resize(static_cast<std::size_t>(scenario.plan.pipeline));
  std::vector<std::uint32_t> fullest_actor(memory.stages.size(), 0);
  for (std::size_t actor = 0; actor < lowered.actors.size(); ++actor) {
    const auto& facts = lowered.actors[actor];
    auto& stage = memory.stages[static_cast<std::size_t>(facts.stage)];
    const auto here =
        stage_memory(scenario, facts, fixed[actor],
                     late ? most[actor] : HeldWithGradients{held[actor], gradients[actor]},
                     held[actor].peak, capacity_of(scenario, facts));
    if (stage.capacity.value > 0 && !is_fuller(here, stage)) continue;
    stage = here;
    fullest_actor[static_cast<std::size_t>(facts.stage)] = static_cast<std::uint32_t>(actor);
  }
  std::size_t fullest = 0;
  for (std::size_t s = 1; s < memory.stages.size(); ++s)
    if (is_fuller(memory.stages[s], memory.stages[fullest])) fullest = s;
  const auto& stage = memory.stages[fullest];
  memory.peak = stage.peak;
  memory.capacity = stage.capacity;
  memory.peak_allocated = worst(memory.stages, &StageMemory::peak_allocated);
  memory.peak_reserved = worst(memory.stages, &StageMemory::peak_reserved);
  memory.peak_stage = static_cast<int>(fullest);
  memory.fits = memory.peak <= memory.capacity;
  add_host_memory(memory, scenario, lowered);
  const auto tensors = stage.needed();
  if (replayed || (memory.fits && tensors > fragments_matter * memory.capacity))
    if (const auto* step = whole())
      memory.allocator = allocator_use(scenario, *step, fullest_actor[fullest]);
  if (fails_by_fragments(memory)) {
    const auto room = stage.capacity - stage.communication - stage.framework;
    memory.fits = memory.fits && memory.allocator->least_room <= (1 + unknown_room) * room;
  } else if (!replayed) {
    memory.allocator.reset();
  }
  return memory;
}

}  // namespace forecast

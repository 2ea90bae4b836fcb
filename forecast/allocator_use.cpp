// SPDX-License-Identifier: Apache-2.0
#include "forecast/allocator_use.hpp"

#include <algorithm>
#include <vector>

#include "allocator/replay.hpp"
#include "forecast/memory.hpp"
#include "forecast/memory_timeline.hpp"

namespace forecast {

using units::Bytes;

allocator::Settings settings_of(const strategies::AllocatorSettings& settings) {
  allocator::Settings made;
  made.expandable_segments = settings.expandable_segments;
  if (settings.max_split_size_mb)
    made.max_split_size = *settings.max_split_size_mb * allocator::mib;
  made.roundup_power2_divisions.fill(static_cast<int>(settings.roundup_power2_divisions));
  made.garbage_collection_threshold = settings.garbage_collection_threshold;
  return made;
}

allocator::Limits limits_of(const Scenario& scenario, const strategies::ActorFacts& actor) {
  const auto room = capacity_of(scenario, actor) - outside_of(scenario, actor);
  const auto bytes = std::max<allocator::Size>(0, static_cast<allocator::Size>(room.value));
  // A share of the device is what set_per_process_memory_fraction sets.
  if (scenario.cluster.memory_fraction < 1) return {.device = bytes, .allowed = bytes};
  return {.device = bytes};
}

namespace {

Bytes bytes_of(std::int64_t size) { return {static_cast<double>(size)}; }

// Before the first step and in it, up to where most is alive for the first time.
std::vector<HeldTensors> largest_at_peak(const TensorTimeline& timeline, std::size_t most_listed) {
  struct Held {
    std::uint32_t name = 0;
    std::int64_t count = 0, bytes = 0;
  };
  const auto peak = peak_of(timeline.events);
  std::vector<Held> held(timeline.names.size());
  for (std::size_t i = 0; i < held.size(); ++i) held[i].name = static_cast<std::uint32_t>(i);
  for (const auto tensor : peak.alive) {
    auto& one = held[timeline.name_of[tensor.id]];
    ++one.count;
    one.bytes += tensor.size;
  }
  std::ranges::stable_sort(held, std::greater<>(), &Held::bytes);
  std::vector<HeldTensors> largest;
  for (const auto& one : held) {
    if (one.bytes == 0 || largest.size() == most_listed) break;
    const auto& named = timeline.names[one.name];
    largest.push_back(
        {named.block, named.op, named.what, named.category, one.count, bytes_of(one.bytes)});
  }
  return largest;
}

void add_failure(AllocatorUse& use, const allocator::Failure& failure,
                 const TensorTimeline& timeline) {
  use.failure = {.by_fragments = failure.cause == allocator::Failure::Cause::fragments,
                 .step = failure.step,
                 .tensor = timeline.named(failure.tensor).name(),
                 .requested = bytes_of(failure.requested),
                 .allocated = bytes_of(failure.allocated),
                 .reserved = bytes_of(failure.reserved),
                 .largest_free = bytes_of(failure.largest_free)};
}

}  // namespace

AllocatorUse allocator_use(const Scenario& scenario, const strategies::Lowered& lowered,
                           std::uint32_t actor) {
  constexpr std::size_t most_listed = 10;
  const auto timeline = tensor_timeline(scenario, lowered, actor);
  const auto outside = outside_of(scenario, lowered.actors[actor]);
  AllocatorUse use;
  use.stage = lowered.actors[actor].stage;
  use.largest = largest_at_peak(timeline, most_listed);
  if (const auto share = scenario.software.allocator.preallocated) {
    const auto taken = *share * capacity_of(scenario, lowered.actors[actor]);
    const auto allocated = bytes_of(peak_of(timeline.events).bytes);
    use.first = use.steady = {allocated, taken, taken + outside};
    use.unused_at_peak = taken - allocated;
    return use;
  }
  allocator::CachingAllocator memory(settings_of(scenario.software.allocator),
                                     limits_of(scenario, lowered.actors[actor]));
  const auto replayed = allocator::replay(memory, timeline.events, allocator::most_states);
  const auto peaks = [&](const allocator::Counts& counts) {
    const auto reserved = bytes_of(counts.reserved.peak);
    return AllocatorPeaks{bytes_of(counts.allocated.peak), reserved, reserved + outside};
  };
  use.first = peaks(replayed.first);
  use.steady = peaks(replayed.steady);
  use.unused_at_peak = bytes_of(replayed.steady.unused_at_peak);
  use.retries = replayed.all.retries;
  if (replayed.recurrence) use.period = replayed.recurrence->period;
  use.played = replayed.played;
  if (replayed.failure) add_failure(use, *replayed.failure, timeline);
  return use;
}

}  // namespace forecast

// SPDX-License-Identifier: Apache-2.0
#include "forecast/allocator_use.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
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

// The largest of the tensors that are alive at the peak; alike tensors of several blocks count as
// one.
class Largest {
 public:
  Largest(const TensorTimeline& timeline, const AliveAtPeak& peak) {
    for (const auto tensor : peak.alive) add(timeline.named(tensor.id), tensor.size);
  }

  std::vector<HeldTensors> take(std::size_t most_listed) {
    std::vector<HeldTensors> all;
    for (auto& [alike, held] : held_) {
      if (const auto more = held.blocks.size() - 1; more > 0)
        held.tensors.block += " and " + std::to_string(more) + " more";
      all.push_back(std::move(held.tensors));
    }
    std::ranges::stable_sort(all, std::greater<>(), &HeldTensors::bytes);
    if (all.size() > most_listed) all.resize(most_listed);
    return all;
  }

 private:
  struct Listed {
    HeldTensors tensors;
    std::set<std::string_view> blocks;
  };

  void add(const NamedTensor& named, std::int64_t size) {
    // One update makes all that the optimizer has.
    const std::string_view op = named.category == "optimizer" ? "" : std::string_view(named.op);
    auto [at, is_new] = held_.try_emplace({op, named.what, named.category});
    auto& [tensors, blocks] = at->second;
    if (is_new) tensors = {named.block, std::string(op), named.what, named.category, 0, {}};
    blocks.insert(named.block);
    ++tensors.count;
    tensors.bytes += bytes_of(size);
  }

  std::map<std::array<std::string_view, 3>, Listed> held_;
};

bool fails(const allocator::Settings& settings, const allocator::Timeline& events,
           allocator::Limits limits) {
  allocator::CachingAllocator memory(settings, limits);
  return allocator::replay(memory, events, allocator::most_states).failure.has_value();
}

// Returns the least room in which the replay does not fail, to a 64th of what lies between a room
// in which it fails and the one that it reserves without a limit. Found by halving, as if more room
// did no harm.
allocator::Size least_room(const allocator::Settings& settings, const allocator::Timeline& events,
                           allocator::Size too_small) {
  constexpr auto unlimited = allocator::Limits{std::numeric_limits<allocator::Size>::max() / 4, {}};
  allocator::CachingAllocator free(settings, unlimited);
  auto enough = allocator::replay(free, events, allocator::most_states).all.reserved.peak;
  for (int halving = 0; halving < 6; ++halving) {
    const auto middle = too_small + (enough - too_small) / 2;
    (fails(settings, events, {middle, {}}) ? too_small : enough) = middle;
  }
  return enough;
}

// Adds a failure. It counts as one by fragments only if the step's whole peak would fit, too.
void add_failure(AllocatorUse& use, const allocator::Failure& failure,
                 const TensorTimeline& timeline, std::int64_t peak_bytes) {
  const bool fit = peak_bytes <= failure.limit;
  use.failure = {.by_fragments = fit && failure.cause == allocator::Failure::Cause::fragments,
                 .step = failure.step,
                 .tensor = timeline.named(failure.tensor).name(),
                 .requested = bytes_of(failure.requested),
                 .allocated = bytes_of(failure.allocated),
                 .reserved = bytes_of(failure.reserved),
                 .largest_free = bytes_of(failure.largest_free),
                 .limit = bytes_of(failure.limit)};
}

}  // namespace

bool fails_by_fragments(const Memory& memory) {
  return memory.allocator && memory.allocator->failure && memory.allocator->failure->by_fragments;
}

AllocatorUse allocator_use(const Scenario& scenario, const strategies::Lowered& lowered,
                           std::uint32_t actor) {
  constexpr std::size_t most_listed = 10;
  const auto timeline = tensor_timeline(scenario, lowered, actor);
  const auto outside = outside_of(scenario, lowered.actors[actor]);
  AllocatorUse use;
  use.stage = lowered.actors[actor].stage;
  const auto peak = peak_of(timeline.events);
  use.largest = Largest(timeline, peak).take(most_listed);
  const auto allocated = bytes_of(peak.bytes);
  const auto room = capacity_of(scenario, lowered.actors[actor]) - outside;
  const bool pooled = scenario.software.allocator.preallocated.has_value();
  if (pooled && allocated <= room) {
    use.first = use.steady = {allocated, room, room + outside};
    use.unused_at_peak = room - allocated;
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
  if (replayed.failure) add_failure(use, *replayed.failure, timeline, peak.bytes);
  if (use.failure)
    use.least_room =
        pooled ? allocated
               : bytes_of(least_room(settings_of(scenario.software.allocator), timeline.events,
                                     std::max(replayed.failure->limit, peak.bytes)));
  return use;
}

}  // namespace forecast

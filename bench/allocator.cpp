// SPDX-License-Identifier: Apache-2.0
// Replays of the caching allocator.
#include <benchmark/benchmark.h>

#include "allocator/replay.hpp"

namespace {

using allocator::Event;

// A step forward through layers, of whose tensors every second is saved, and back.
allocator::Timeline steps(allocator::TensorId layers) {
  constexpr allocator::TensorId tensors = 20;
  allocator::Timeline timeline;
  auto& step = timeline.step;
  for (allocator::TensorId id = 0; id < layers * tensors; ++id) {
    step.push_back({Event::Kind::allocate, id, 0, (id % tensors * 7 + 1) * allocator::mib});
    if (id % 2 == 1) step.push_back({Event::Kind::free, id});
  }
  for (auto id = layers * tensors; id-- > 0;)
    if (id % 2 == 0) step.push_back({Event::Kind::free, id});
  return timeline;
}

void replay_all(benchmark::State& state) {
  const auto timeline = steps(60);
  const allocator::Settings settings{.expandable_segments = state.range(0) == 1};
  constexpr std::int64_t count = 100;
  for (auto _ : state) {
    allocator::CachingAllocator memory(settings, {.device = 1000 * allocator::gib});
    benchmark::DoNotOptimize(allocator::replay(memory, timeline, count, 0));
  }
  state.SetItemsProcessed(state.iterations() * count *
                          static_cast<std::int64_t>(timeline.step.size()));
}
BENCHMARK(replay_all)->Arg(0)->Arg(1)->ArgName("expandable");

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Pipelines to partition, and the slow and obvious ways to time and to partition them.
#pragma once
#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <tuple>
#include <utility>

#include "plans/schedules/schedule.hpp"
#include "search/solvers/partition.hpp"

namespace pipelines {

using namespace search;
using strategies::Order, strategies::Layout, strategies::Slot, strategies::ScheduleKind;

// The makespan of an order, by sweeping over all passes until no end moves any more.
inline Picoseconds slow_makespan(const Order& order, const Layout& layout,
                                 const std::vector<StageTimes>& stages, Picoseconds latency) {
  using Key = std::tuple<bool, int, int>;           // forward, virtual stage, microbatch
  std::map<Key, std::pair<Picoseconds, int>> done;  // end of a pass, and its device
  const auto arrival = [&](int device, const Slot& slot) {
    const int v = strategies::virtual_stage_of(device, slot.chunk, layout);
    const bool forward = slot.pass == strategies::Pass::forward;
    const int neighbour = forward ? v - 1 : v + 1;
    if (slot.pass == strategies::Pass::backward_weight) return Picoseconds{0};
    const auto found = done.find({forward, neighbour, slot.microbatch});
    if (found == done.end()) return Picoseconds{0};
    return found->second.first + (found->second.second == device ? 0 : latency);
  };
  const auto duration = [&](int device, const Slot& slot) {
    const auto& t =
        stages[static_cast<std::size_t>(strategies::virtual_stage_of(device, slot.chunk, layout))];
    switch (slot.pass) {
      case strategies::Pass::forward:
        return t.forward;
      case strategies::Pass::backward:
        return t.backward + t.weight;
      case strategies::Pass::backward_input:
        return t.backward;
      default:
        return t.weight;
    }
  };
  Picoseconds makespan = 0;
  for (bool moved = true; moved;) {
    moved = false;
    for (int device = 0; device < static_cast<int>(order.size()); ++device) {
      Picoseconds clock = 0;
      const auto& slots = order[static_cast<std::size_t>(device)];
      for (std::size_t i = 0; i < slots.size(); ++i) {
        const auto first = i;
        Picoseconds start = clock, time = 0;
        while (true) {
          start = std::max(start, arrival(device, slots[i]));
          time += duration(device, slots[i]);
          if (!slots[i].paired) break;
          ++i;
        }
        clock = start + time;
        for (auto k = first; k <= i; ++k) {
          if (slots[k].pass == strategies::Pass::backward_weight) continue;
          const int v = strategies::virtual_stage_of(device, slots[k].chunk, layout);
          const std::pair value{clock, device};
          auto& known = done[{slots[k].pass == strategies::Pass::forward, v, slots[k].microbatch}];
          moved |= known != value;
          known = value;
        }
      }
      makespan = std::max(makespan, clock);
    }
  }
  return makespan;
}

inline PipelineProblem pipeline(Chain chain, const strategies::OrderInput& input,
                                Picoseconds latency, ByteCount capacity) {
  return {std::move(chain),
          strategies::order_of(input),
          strategies::layout_of(input.schedule, input.stages, input.chunks),
          input.microbatches,
          latency,
          std::vector<ByteCount>(static_cast<std::size_t>(input.stages), capacity)};
}

// A virtual stage of a partition, with one price for all its layers.
struct Stage {
  StageTimes times;
  ByteCount fixed = 0, kept = 0, transient = 0;
  void add(const Price& price) {
    times.forward += price.forward;
    times.backward += price.backward;
    times.weight += price.weight;
    kept += price.kept;
    transient = std::max(transient, price.transient);
  }
};

// Whether a partition fits: replays the slots of every device and sums the bytes that it holds.
inline bool fits(const PipelineProblem& problem, const std::vector<Stage>& stages) {
  for (int device = 0; device < static_cast<int>(problem.order.size()); ++device) {
    ByteCount fixed = 0, transient = 0, held = 0, peak = 0;
    const auto stage_of = [&](int chunk) -> const Stage& {
      return stages[static_cast<std::size_t>(
          strategies::virtual_stage_of(device, chunk, problem.layout))];
    };
    for (int chunk = 0; chunk < problem.layout.chunks; ++chunk) {
      fixed += stage_of(chunk).fixed;
      transient = std::max(transient, stage_of(chunk).transient);
    }
    // Passes of a pair take turns, one filling memory while the other frees it, so a pair counts
    // when both are done.
    ByteCount freed = 0;
    bool in_pair = false;
    for (const auto& slot : problem.order[static_cast<std::size_t>(device)]) {
      if (slot.pass == strategies::Pass::forward) held += stage_of(slot.chunk).kept;
      if (slot.pass == strategies::Pass::backward || slot.pass == strategies::Pass::backward_weight)
        freed += stage_of(slot.chunk).kept;
      if (!slot.paired && !in_pair) peak = std::max(peak, held);
      in_pair = slot.paired;
      if (slot.paired) continue;
      held -= std::exchange(freed, 0);
      peak = std::max(peak, held);
    }
    if (fixed + peak + transient > problem.capacity[static_cast<std::size_t>(device)]) return false;
  }
  return true;
}

// The least makespan of every partition with every combination of options, timed one by one: no
// decomposition at all.
template <class Timing>
std::optional<Picoseconds> brute_force(const PipelineProblem& problem, Timing timing) {
  const auto& chain = problem.chain;
  const int layers = static_cast<int>(chain.layers.size());
  const int stages = problem.layout.virtual_stages();
  std::optional<Picoseconds> best;
  std::vector<Stage> placed(static_cast<std::size_t>(stages));
  // Places layers from `layer` on; the layer before is on `stage`.
  const std::function<void(int, int)> place = [&](int layer, int stage) {
    if (layers - layer < stages - 1 - stage) return;
    if (layer == layers) {
      if (!fits(problem, placed)) return;
      std::vector<StageTimes> times;
      for (const auto& s : placed) times.push_back(s.times);
      const Picoseconds makespan = timing(times);
      if (!best || makespan < *best) best = makespan;
      return;
    }
    for (int on = stage; on <= std::min(stage + 1, stages - 1); ++on) {
      if (on < 0) continue;
      auto& here = placed[static_cast<std::size_t>(on)];
      const auto before = here;
      if (on > stage) here = {};
      const auto empty = here;
      const auto row = [&](int count, const std::vector<Price>& options) {
        for (const auto& option : options) {
          here = empty;
          for (int i = 0; i < count; ++i)
            here.fixed += chain.layers[static_cast<std::size_t>(layer + i)].fixed;
          here.add(option);
          place(layer + count, on);
        }
      };
      row(1, chain.layers[static_cast<std::size_t>(layer)].options);
      for (const auto& segment : chain.runs)
        if (segment.first == layer) row(segment.layers, segment.options);
      here = before;
    }
  };
  place(0, -1);
  return best;
}
inline std::optional<Picoseconds> brute_force(const PipelineProblem& problem) {
  return brute_force(problem, [&](const std::vector<StageTimes>& times) {
    return slow_makespan(problem.order, problem.layout, times, problem.latency);
  });
}

}  // namespace pipelines

// SPDX-License-Identifier: Apache-2.0
#include "report/traces/tracks.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <utility>

namespace report {
namespace {

using forecast::Slice;
using forecast::Timeline;

void check(const Timeline& timeline) {
  for (const Slice& slice : timeline.slices)
    if (slice.start_ps < 0 || slice.end_ps < slice.start_ps)
      throw std::invalid_argument("slice '" + slice.name + "' runs backwards or before zero");
  for (const auto& sample : timeline.memory)
    if (sample.time_ps < 0) throw std::invalid_argument("a memory sample is before zero");
  for (const auto& sample : timeline.links)
    if (sample.time_ps < 0 || sample.link >= timeline.link_names.size())
      throw std::invalid_argument("a sample of a link is before zero or of no link");
  for (const auto& arrow : timeline.arrows)
    if (arrow.from >= timeline.slices.size() || arrow.to >= timeline.slices.size())
      throw std::invalid_argument("an arrow joins slices that do not exist");
}

// Slices of one lane of one process, in drawing order.
struct Lane {
  std::string_view name;
  std::vector<std::size_t> slices;
};

struct Lanes {
  TraceProcess process;
  std::vector<Lane> lanes;
};

// Lanes and processes in order of appearance. Neighbouring slices mostly share their lane, so the
// map is asked only where it changes.
std::vector<Lanes> lanes_of(const std::vector<Slice>& slices) {
  std::vector<Lanes> processes;
  std::map<std::pair<int, std::int64_t>, std::size_t> process_index;
  std::map<std::pair<std::size_t, std::string_view>, std::size_t> lane_index;
  const Slice* previous = nullptr;
  std::size_t process = 0, lane = 0;
  for (std::size_t i = 0; i < slices.size(); ++i) {
    const Slice& slice = slices[i];
    const bool same = previous && previous->stage == slice.stage && previous->rank == slice.rank &&
                      previous->lane == slice.lane;
    if (!same) {
      const auto found =
          process_index.try_emplace({slice.stage, slice.rank}, processes.size()).first;
      process = found->second;
      if (process == processes.size()) processes.push_back({{slice.stage, slice.rank}, {}});
      auto& lanes = processes[process].lanes;
      lane = lane_index.try_emplace({process, slice.lane}, lanes.size()).first->second;
      if (lane == lanes.size()) lanes.push_back({slice.lane, {}});
    }
    processes[process].lanes[lane].slices.push_back(i);
    previous = &slice;
  }
  return processes;
}

void sort_by_time(std::vector<std::size_t>& order, const std::vector<Slice>& slices) {
  const auto before = [&](std::size_t a, std::size_t b) {
    return std::tuple(slices[a].start_ps, -slices[a].end_ps) <
           std::tuple(slices[b].start_ps, -slices[b].end_ps);
  };
  if (!std::ranges::is_sorted(order, before)) std::ranges::stable_sort(order, before);
}

// One thread under construction, with the ends of its slices that are still open.
struct Thread {
  std::vector<std::size_t> slices;
  std::vector<std::int64_t> open;

  bool accepts(const Slice& slice) {
    while (!open.empty() && open.back() <= slice.start_ps) open.pop_back();
    return open.empty() || slice.end_ps <= open.back();
  }
};

std::vector<Thread> threads_of(Lane& lane, const std::vector<Slice>& slices) {
  sort_by_time(lane.slices, slices);
  std::vector<Thread> threads(1);
  for (const std::size_t i : lane.slices) {
    auto thread = std::ranges::find_if(threads, [&](Thread& t) { return t.accepts(slices[i]); });
    if (thread == threads.end()) thread = threads.insert(threads.end(), Thread{});
    thread->slices.push_back(i);
    thread->open.push_back(slices[i].end_ps);
  }
  return threads;
}

}  // namespace

Tracks tracks_of(const Timeline& timeline) {
  check(timeline);
  Tracks result;
  result.track_of.resize(timeline.slices.size());
  for (Lanes& process : lanes_of(timeline.slices)) {
    int number = 0;
    for (Lane& lane : process.lanes) {
      auto threads = threads_of(lane, timeline.slices);
      for (std::size_t i = 0; i < threads.size(); ++i) {
        for (const std::size_t slice : threads[i].slices)
          result.track_of[slice] = result.tracks.size();
        std::string name(lane.name);
        if (i > 0) name += " (" + std::to_string(i + 1) + ')';
        result.tracks.push_back(
            {result.processes.size(), number++, std::move(name), std::move(threads[i].slices)});
      }
    }
    result.processes.push_back(process.process);
  }
  for (std::size_t i = 0; i < result.processes.size(); ++i)
    result.process_of_stage.try_emplace(result.processes[i].stage, i);
  // A stage may have samples but no slice.
  for (const auto& sample : timeline.memory)
    if (result.process_of_stage.try_emplace(sample.stage, result.processes.size()).second)
      result.processes.push_back({sample.stage, sample.stage});
  return result;
}

}  // namespace report

// SPDX-License-Identifier: Apache-2.0
#include "search/timetable.hpp"

#include <algorithm>

#include "strategies/walk.hpp"

namespace search {

Picoseconds length(const Path& path, std::span<const StageTimes> stages, Picoseconds latency) {
  Picoseconds sum = 0;
  for (std::size_t v = 0; v < path.size(); ++v) sum += path[v].time(stages[v], latency);
  return sum;
}

// Adds passes as they are visited; a pair is one pass of two parts.
struct Timetable::Builder {
  Timetable& table;
  strategies::Layout layout;
  std::size_t microbatches;
  std::vector<Index> forward, backward;  // by virtual stage and microbatch
  strategies::Slot first_of_pair{strategies::Pass::forward, 0, 0};

  int virtual_stage(int stage, const strategies::Slot& slot) const {
    return strategies::virtual_stage_of(stage, slot.chunk, layout);
  }
  Index& done(strategies::ChunkPlace place, const strategies::Slot& slot) {
    const auto v = strategies::virtual_stage_of(place.stage, place.chunk, layout);
    auto& by_kind = slot.pass == strategies::Pass::forward ? forward : backward;
    return by_kind[static_cast<std::size_t>(v) * microbatches +
                   static_cast<std::size_t>(slot.microbatch)];
  }
  std::uint32_t part(int stage, const strategies::Slot& slot) const {
    return static_cast<std::uint32_t>(4 * virtual_stage(stage, slot) + static_cast<int>(slot.pass));
  }
  void arrive(int stage, const strategies::Slot& slot, Index& from, Picoseconds& wait) {
    if (slot.pass == strategies::Pass::backward_weight) return;
    const strategies::ChunkPlace here{stage, slot.chunk};
    const auto sender =
        slot.pass == strategies::Pass::forward ? before(here, layout) : behind(here, layout);
    if (!sender) return;
    from = done(*sender, slot);
    wait = sender->stage == stage ? 0 : table.latency_;
  }
  void finish(int stage, const strategies::Slot& slot, Index pass) {
    if (slot.pass != strategies::Pass::backward_weight) done({stage, slot.chunk}, slot) = pass;
  }
  void add(int stage, const strategies::Slot& slot) {
    if (slot.paired) {
      first_of_pair = slot;
      return;
    }
    auto& device = table.devices_[static_cast<std::size_t>(stage)];
    const auto index = static_cast<Index>(table.passes_.size());
    Pass pass{.device_before = device.empty() ? none : device.back(),
              .part = part(stage, slot),
              .second_part = static_cast<std::uint32_t>(4 * table.virtual_stages_)};
    arrive(stage, slot, pass.arrival, pass.wait);
    if (first_of_pair.paired) {
      arrive(stage, first_of_pair, pass.second_arrival, pass.second_wait);
      pass.second_part = part(stage, first_of_pair);
      finish(stage, first_of_pair, index);
    }
    finish(stage, slot, index);
    first_of_pair.paired = false;
    device.push_back(index);
    table.passes_.push_back(pass);
  }
};

Timetable::Timetable(const strategies::Order& order, const strategies::Layout& layout,
                     int microbatches, Picoseconds latency)
    : virtual_stages_(layout.virtual_stages()), latency_(latency), devices_(order.size()) {
  const auto count =
      static_cast<std::size_t>(virtual_stages_) * static_cast<std::size_t>(microbatches);
  Builder builder{*this, layout, static_cast<std::size_t>(microbatches),
                  std::vector<Index>(count, none), std::vector<Index>(count, none)};
  strategies::walk(order, layout, microbatches,
                   [&](int stage, const strategies::Slot& slot) { builder.add(stage, slot); });
}

Timetable::Durations Timetable::durations(std::span<const StageTimes> stages) const {
  Durations result;
  for (const auto& stage : stages)
    for (const auto time :
         {stage.forward, stage.backward + stage.weight, stage.backward, stage.weight})
      result.push_back(time);
  result.push_back(0);
  return result;
}

std::vector<Picoseconds> Timetable::ends(const Durations& durations) const {
  std::vector<Picoseconds> ends(passes_.size());
  for (std::size_t i = 0; i < passes_.size(); ++i) {
    const auto& pass = passes_[i];
    Picoseconds start = 0;
    if (pass.device_before != none) start = ends[pass.device_before];
    if (pass.arrival != none) start = std::max(start, ends[pass.arrival] + pass.wait);
    if (pass.second_arrival != none)
      start = std::max(start, ends[pass.second_arrival] + pass.second_wait);
    ends[i] = start + durations[pass.part] + durations[pass.second_part];
  }
  return ends;
}

Picoseconds Timetable::makespan(std::span<const StageTimes> stages) const {
  const auto end = ends(durations(stages));
  return end.empty() ? 0 : *std::ranges::max_element(end);
}

Timetable::Index Timetable::latest_before(Index index, const std::vector<Picoseconds>& ends) const {
  const auto& pass = passes_[index];
  Index latest = pass.device_before;
  Picoseconds start = latest == none ? 0 : ends[latest];
  const auto consider = [&](Index arrival, Picoseconds wait) {
    if (arrival == none || (latest != none && ends[arrival] + wait <= start)) return;
    latest = arrival;
    start = ends[arrival] + wait;
  };
  consider(pass.arrival, pass.wait);
  consider(pass.second_arrival, pass.second_wait);
  return latest;
}

Timetable::Remaining Timetable::remaining(const Durations& durations) const {
  Remaining result{std::vector<Picoseconds>(passes_.size(), 0),
                   std::vector<Index>(passes_.size(), none)};
  for (auto i = passes_.size(); i-- > 0;) {
    const auto& pass = passes_[i];
    const auto here = static_cast<Index>(i);
    result.time[i] += durations[pass.part] + durations[pass.second_part];
    const auto tell = [&](Index earlier, Picoseconds wait) {
      if (earlier == none) return;
      const auto time = result.time[i] + wait;
      if (result.next[earlier] != none && time <= result.time[earlier]) return;
      result.time[earlier] = time;
      result.next[earlier] = here;
    };
    tell(pass.device_before, 0);
    tell(pass.arrival, pass.wait);
    tell(pass.second_arrival, pass.second_wait);
  }
  return result;
}

void Timetable::visit(Path& path, Index index) const {
  const auto count = [&](std::uint32_t part) {
    if (part / 4 >= path.size()) return;
    auto& visits = path[part / 4];
    const auto pass = static_cast<strategies::Pass>(part % 4);
    visits.forward += pass == strategies::Pass::forward;
    visits.backward +=
        pass == strategies::Pass::backward || pass == strategies::Pass::backward_input;
    visits.weight +=
        pass == strategies::Pass::backward || pass == strategies::Pass::backward_weight;
  };
  count(passes_[index].part);
  count(passes_[index].second_part);
}

// The message from one pass to the next, if it crosses devices. Which of two arrivals it is, the
// part says whose neighbour sent it.
void Timetable::travel(Path& path, Index from, Index to) const {
  const auto& pass = passes_[to];
  const auto message = [&](Index arrival, Picoseconds wait, std::uint32_t part) {
    if (arrival != from || wait == 0) return false;
    const auto receiver = part / 4;
    const bool forward = static_cast<strategies::Pass>(part % 4) == strategies::Pass::forward;
    ++path[forward ? receiver : receiver + 1].messages;
    return true;
  };
  if (pass.device_before == from) return;
  if (!message(pass.arrival, pass.wait, pass.part))
    message(pass.second_arrival, pass.second_wait, pass.second_part);
}

Path Timetable::critical_path(std::span<const StageTimes> stages) const {
  Path path(static_cast<std::size_t>(virtual_stages_));
  const auto end = ends(durations(stages));
  if (end.empty()) return path;
  auto at = static_cast<Index>(std::ranges::max_element(end) - end.begin());
  for (;;) {
    visit(path, at);
    const auto earlier = latest_before(at, end);
    if (earlier == none) return path;
    travel(path, earlier, at);
    at = earlier;
  }
}

std::vector<Path> Timetable::device_paths(std::span<const StageTimes> stages) const {
  const auto duration = durations(stages);
  const auto end = ends(duration);
  const auto rest = remaining(duration);
  const auto through = [&](const std::vector<Index>& passes, std::size_t first, std::size_t last) {
    Path path(static_cast<std::size_t>(virtual_stages_));
    for (auto i = first; i <= last; ++i) visit(path, passes[i]);
    for (auto at = passes[first]; at != none;) {
      const auto earlier = latest_before(at, end);
      if (earlier != none) {
        travel(path, earlier, at);
        visit(path, earlier);
      }
      at = earlier;
    }
    for (auto at = passes[last]; rest.next[at] != none; at = rest.next[at]) {
      travel(path, at, rest.next[at]);
      visit(path, rest.next[at]);
    }
    return path;
  };
  std::vector<Path> paths;
  for (const auto& passes : devices_) {
    if (passes.empty()) continue;
    const auto forward = [&](Index index) {
      return static_cast<strategies::Pass>(passes_[index].part % 4) == strategies::Pass::forward;
    };
    std::size_t last_forward = 0, first_backward = passes.size() - 1;
    for (std::size_t i = 0; i < passes.size(); ++i) {
      if (forward(passes[i])) last_forward = i;
      if (!forward(passes[i])) first_backward = std::min(first_backward, i);
    }
    paths.push_back(through(passes, 0, passes.size() - 1));
    paths.push_back(through(passes, 0, last_forward));
    paths.push_back(through(passes, first_backward, passes.size() - 1));
  }
  return paths;
}

}  // namespace search

// SPDX-License-Identifier: Apache-2.0
#include "search/solvers/timetable.hpp"

#include <algorithm>

#include "plans/schedules/walk.hpp"

namespace search {

Picoseconds length(const Path& path, std::span<const StageTimes> stages, Picoseconds latency) {
  Picoseconds sum = 0;
  for (std::size_t v = 0; v < path.size(); ++v) sum += time_of(path[v], stages[v], latency);
  return sum;
}

// Adds passes as they are visited; a pair is one pass of two parts.
struct Timetable::Builder {
  Timetable& table;
  strategies::Layout layout;
  std::size_t microbatches;
  DataLane lane;
  std::vector<Index> forward, backward;  // by virtual stage and microbatch
  std::vector<Index> on_lane;            // by device: the last node of its data lane
  std::vector<std::vector<strategies::Slot>> last_of_chunk;  // by device and chunk
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
    return part_of(virtual_stage(stage, slot), static_cast<std::uint32_t>(slot.pass));
  }
  static std::uint32_t part_of(int v, std::uint32_t kind) {
    return kinds * static_cast<std::uint32_t>(v) + kind;
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
  Index add_node(const Pass& node) {
    table.passes_.push_back(node);
    return static_cast<Index>(table.passes_.size() - 1);
  }
  Index no_second() const { return kinds * static_cast<std::uint32_t>(table.virtual_stages_); }

  // Whether a slot gathers. Parameters that are gathered once are those of the first microbatch
  // that a device sees, in a mirrored layout of either direction's.
  bool gathers(const strategies::Slot& slot) const {
    if (slot.pass == strategies::Pass::backward_weight) return false;
    if (slot.pass != strategies::Pass::forward) return lane.gathers_again;
    const bool first = slot.microbatch == 0;
    return lane.gathers == DataLane::When::always ||
           (lane.gathers == DataLane::When::once && first);
  }
  bool reduces(int stage, const strategies::Slot& slot) const {
    const bool completes =
        slot.pass == strategies::Pass::backward || slot.pass == strategies::Pass::backward_weight;
    if (!completes || lane.reduces == DataLane::When::never) return false;
    return lane.reduces == DataLane::When::always ||
           slot ==
               last_of_chunk[static_cast<std::size_t>(stage)][static_cast<std::size_t>(slot.chunk)];
  }
  void gather(int stage, const strategies::Slot& slot, Pass& pass) {
    if (!gathers(slot)) return;
    auto& before = on_lane[static_cast<std::size_t>(stage)];
    before = add_node({.device_before = before,
                       .part = part_of(virtual_stage(stage, slot), gathering),
                       .second_part = no_second()});
    pass.gathered = before;
  }
  // Slows a pass that only sometimes runs beside communication: others are priced so.
  void slow_down(int stage, const strategies::Slot& slot, Pass& pass) const {
    if (pass.second_part != no_second()) return;
    const int v = virtual_stage(stage, slot);
    if (slot.pass == strategies::Pass::forward && lane.gathers == DataLane::When::once &&
        gathers(slot))
      pass.second_part = part_of(v, slowed_forward);
    if (lane.reduces == DataLane::When::once && lane.beside && reduces(stage, slot))
      pass.second_part = part_of(v, slowed_backward);
  }
  // Adds a reduction. Gradients leave from the first unit on, which begins when the pass does.
  void reduce(int stage, const strategies::Slot& slot, const Pass& pass, Index index) {
    if (!reduces(stage, slot)) return;
    const int v = virtual_stage(stage, slot);
    auto& before = on_lane[static_cast<std::size_t>(stage)];
    Pass node{.device_before = before, .part = part_of(v, reduction), .second_part = no_second()};
    if (!lane.beside || lane.reduces == DataLane::When::always) {
      node.arrival = lane.beside ? pass.device_before : index;
    } else {
      node.arrival = add_node({.device_before = pass.device_before,
                               .arrival = pass.arrival,
                               .second_arrival = pass.second_arrival,
                               .wait = pass.wait,
                               .second_wait = pass.second_wait,
                               .part = part_of(v, first_unit),
                               .second_part = no_second()});
      add_node({.device_before = index, .part = part_of(v, last_unit), .second_part = no_second()});
    }
    before = add_node(node);
  }

  // Adds the contention of a backward pass whose device waits for nothing but the forward pass
  // before it.
  void add_message_contention(int stage, const strategies::Slot& slot) {
    auto& device = table.devices_[static_cast<std::size_t>(stage)];
    const bool alone = lane.message_contends && !first_of_pair.paired && !device.empty();
    if (!alone || slot.pass != strategies::Pass::backward) return;
    const int v = virtual_stage(stage, slot);
    constexpr auto ahead = static_cast<std::uint32_t>(strategies::Pass::forward);
    if (table.passes_[device.back()].part != part_of(v, ahead)) return;
    device.push_back(add_node({.device_before = device.back(),
                               .part = part_of(v, message_contention),
                               .second_part = no_second()}));
  }

  void add(int stage, const strategies::Slot& slot) {
    if (slot.paired) {
      first_of_pair = slot;
      return;
    }
    auto& device = table.devices_[static_cast<std::size_t>(stage)];
    add_message_contention(stage, slot);
    Pass pass{.device_before = device.empty() ? none : device.back(),
              .part = part(stage, slot),
              .second_part = no_second()};
    arrive(stage, slot, pass.arrival, pass.wait);
    const bool pair = first_of_pair.paired;
    if (pair) {
      arrive(stage, first_of_pair, pass.second_arrival, pass.second_wait);
      pass.second_part = part(stage, first_of_pair);
      gather(stage, first_of_pair, pass);
    }
    gather(stage, slot, pass);
    slow_down(stage, slot, pass);
    const auto index = add_node(pass);
    if (pair) finish(stage, first_of_pair, index);
    finish(stage, slot, index);
    device.push_back(index);
    if (lane.beside && pair) reduce(stage, first_of_pair, pass, index);
    if (lane.beside) reduce(stage, slot, pass, index);
    // A reduction behind a pass makes the device's next pass wait, unless a pair may hide it.
    if (!lane.beside && lane.reduces == DataLane::When::always) {
      if (pair) reduce(stage, first_of_pair, pass, index);
      reduce(stage, slot, pass, index);
      const auto reduced = on_lane[static_cast<std::size_t>(stage)];
      if (!pair && reduces(stage, slot)) device.push_back(reduced);
    }
    first_of_pair.paired = false;
  }
  // Adds the reductions after all passes of a device, where they happen once and not beside passes.
  void add_reductions() {
    if (lane.beside || lane.reduces != DataLane::When::once) return;
    for (std::size_t d = 0; d < last_of_chunk.size(); ++d)
      for (const auto& slot : last_of_chunk[d])
        if (!table.devices_[d].empty())
          reduce(static_cast<int>(d), slot, {}, table.devices_[d].back());
  }
  void find_last(const strategies::Order& order) {
    for (const auto& slots : order) {
      auto& last = last_of_chunk.emplace_back(static_cast<std::size_t>(layout.chunks),
                                              strategies::Slot{strategies::Pass::backward, 0, 0});
      for (const auto& slot : slots)
        if (slot.pass == strategies::Pass::backward ||
            slot.pass == strategies::Pass::backward_weight)
          last[static_cast<std::size_t>(slot.chunk)] = slot;
    }
  }
};

Timetable::Timetable(const strategies::Order& order, const strategies::Layout& layout,
                     int microbatches, Picoseconds latency, const DataLane& lane)
    : virtual_stages_(layout.virtual_stages()), latency_(latency), devices_(order.size()) {
  const auto count =
      static_cast<std::size_t>(virtual_stages_) * static_cast<std::size_t>(microbatches);
  Builder builder{*this,
                  layout,
                  static_cast<std::size_t>(microbatches),
                  lane,
                  std::vector<Index>(count, none),
                  std::vector<Index>(count, none),
                  std::vector<Index>(order.size(), none),
                  {}};
  builder.find_last(order);
  strategies::walk(order, layout, microbatches,
                   [&](int stage, const strategies::Slot& slot) { builder.add(stage, slot); });
  builder.add_reductions();
  for (int device = 0; device < static_cast<int>(order.size()); ++device) {
    auto& stages = stages_of_.emplace_back();
    for (int chunk = 0; chunk < layout.chunks; ++chunk)
      stages.push_back(strategies::virtual_stage_of(device, chunk, layout));
  }
}

Timetable::Durations Timetable::durations(std::span<const StageTimes> stages) const {
  Durations result;
  result.reserve(kinds * stages.size() + 1);
  for (const auto& stage : stages)
    for (const auto time :
         {stage.forward, stage.backward + stage.weight, stage.backward, stage.weight,
          stage.reduction, stage.gathering, stage.first_unit, stage.last_unit, stage.slowed_forward,
          stage.slowed_backward, stage.message_contention})
      result.push_back(time);
  result.push_back(0);
  return result;
}

Picoseconds Timetable::update(std::span<const StageTimes> stages, std::size_t device) const {
  Picoseconds sum = 0;
  for (const auto v : stages_of_[device]) sum += stages[static_cast<std::size_t>(v)].update;
  return sum;
}

std::size_t Timetable::last_to_update(std::span<const StageTimes> stages) const {
  std::size_t last = 0;
  for (std::size_t device = 1; device < stages_of_.size(); ++device)
    if (update(stages, device) > update(stages, last)) last = device;
  return last;
}

void Timetable::visit_update(Path& path, std::size_t device) const {
  for (const auto v : stages_of_[device]) ++path[static_cast<std::size_t>(v)].update;
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
    if (pass.gathered != none) ends[i] = std::max(ends[i], ends[pass.gathered]);
  }
  return ends;
}

Picoseconds Timetable::makespan(std::span<const StageTimes> stages) const {
  const auto end = ends(durations(stages));
  if (end.empty()) return 0;
  return *std::ranges::max_element(end) + update(stages, last_to_update(stages));
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
    if (pass.gathered != none) {
      const auto own = durations[pass.part] + durations[pass.second_part];
      tell(pass.gathered, -own);
    }
  }
  return result;
}

void Timetable::visit(Path& path, Index index) const {
  const auto count = [&](std::uint32_t part) {
    if (part / kinds >= path.size()) return;
    auto& visits = path[part / kinds];
    visits.reduction += part % kinds == reduction;
    visits.gathering += part % kinds == gathering;
    visits.first_unit += part % kinds == first_unit;
    visits.last_unit += part % kinds == last_unit;
    visits.slowed_forward += part % kinds == slowed_forward;
    visits.slowed_backward += part % kinds == slowed_backward;
    visits.message_contention += part % kinds == message_contention;
    if (part % kinds >= reduction) return;
    const auto pass = static_cast<strategies::Pass>(part % kinds);
    visits.forward += pass == strategies::Pass::forward;
    visits.backward +=
        pass == strategies::Pass::backward || pass == strategies::Pass::backward_input;
    visits.weight +=
        pass == strategies::Pass::backward || pass == strategies::Pass::backward_weight;
  };
  count(passes_[index].part);
  count(passes_[index].second_part);
}

// Counts the message from one pass to the next, if it crosses devices. Of two arrivals, it is the
// one whose part has the sender as its neighbour.
void Timetable::travel(Path& path, Index from, Index to) const {
  const auto& pass = passes_[to];
  const auto message = [&](Index arrival, Picoseconds wait, std::uint32_t part) {
    if (arrival != from || wait == 0) return false;
    const auto receiver = part / kinds;
    const bool forward = part % kinds == static_cast<std::uint32_t>(strategies::Pass::forward);
    ++path[forward ? receiver : receiver + 1].messages;
    return true;
  };
  if (pass.device_before == from) return;
  if (!message(pass.arrival, pass.wait, pass.part))
    message(pass.second_arrival, pass.second_wait, pass.second_part);
}

// The node that decides when a pass ends: the pass itself, or parameters that come late.
Timetable::Index Timetable::last_of(Index index, const std::vector<Picoseconds>& ends,
                                    const Durations& durations) const {
  const auto& pass = passes_[index];
  if (pass.gathered == none) return index;
  const auto earlier = latest_before(index, ends);
  Picoseconds start = earlier == none ? 0 : ends[earlier];
  if (earlier != none && earlier != pass.device_before)
    start += earlier == pass.arrival ? pass.wait : pass.second_wait;
  const auto own = durations[pass.part] + durations[pass.second_part];
  return start + own < ends[index] ? pass.gathered : index;
}

Path Timetable::critical_path(std::span<const StageTimes> stages) const {
  Path path(static_cast<std::size_t>(virtual_stages_));
  const auto duration = durations(stages);
  const auto end = ends(duration);
  if (end.empty()) return path;
  visit_update(path, last_to_update(stages));
  auto at = static_cast<Index>(std::ranges::max_element(end) - end.begin());
  for (at = last_of(at, end, duration);;) {
    visit(path, at);
    const auto earlier = latest_before(at, end);
    if (earlier == none) return path;
    travel(path, earlier, at);
    at = last_of(earlier, end, duration);
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
      auto earlier = latest_before(at, end);
      if (earlier != none) {
        travel(path, earlier, at);
        earlier = last_of(earlier, end, duration);
        visit(path, earlier);
      }
      at = earlier;
    }
    for (auto at = passes[last]; rest.next[at] != none; at = rest.next[at]) {
      travel(path, at, rest.next[at]);
      if (passes_[rest.next[at]].gathered != at) visit(path, rest.next[at]);
    }
    return path;
  };
  std::vector<Path> paths;
  for (std::size_t device = 0; device < devices_.size(); ++device) {
    const auto& passes = devices_[device];
    if (passes.empty()) continue;
    const auto kind_of = [&](Index index) { return passes_[index].part % kinds; };
    constexpr auto forward = static_cast<std::uint32_t>(strategies::Pass::forward);
    std::size_t last_forward = 0, first_backward = passes.size() - 1;
    for (std::size_t i = 0; i < passes.size(); ++i) {
      if (kind_of(passes[i]) == forward) last_forward = i;
      if (kind_of(passes[i]) != forward && kind_of(passes[i]) != message_contention)
        first_backward = std::min(first_backward, i);
    }
    paths.push_back(through(passes, 0, passes.size() - 1));
    paths.push_back(through(passes, 0, last_forward));
    paths.push_back(through(passes, first_backward, passes.size() - 1));
    for (auto& path : std::span(paths).last(3)) visit_update(path, device);
  }
  return paths;
}

}  // namespace search

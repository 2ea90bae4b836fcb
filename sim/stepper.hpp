// SPDX-License-Identifier: Apache-2.0
// Private to the room: one op at a time.
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "sim/engine.hpp"
#include "sim/pass_matrix.hpp"
#include "sim/play.hpp"
#include "sim/recurrence.hpp"

namespace sim {

// Plays ops one at a time, in any order in which each comes after what it waits for.
class Stepper {
 public:
  Stepper(const Program& program, Detail detail)
      : program_(program), detail_(detail), free_(program.actors(), LaneTimes{}) {
    trace_.start.resize(program.participants().size());
    trace_.end.resize(program.participants().size());
    if (detail == Detail::templates)
      for (const auto& body : program.templates()) matrices_.push_back(matrix_of(body));
    if (program.left_out() == 0) return;
    const auto marks = program.marks().size();
    watched_ = marks - std::min(marks, watched_marks);
    trace_.lanes.assign(marks - watched_, std::vector<PassLanes>(program.actors(), PassLanes{}));
    trace_.host_behind.assign(program.actors(), no_event);
    seen_.assign(program.actors(), 0);
  }

  // Passes whose bodies differ are rare: no matrix.
  void pass(const Op& op) {
    const bool watched = is_watched(op);
    if (watched) look_before(op);
    detail_ == Detail::templates&& op.bodies == one_body ? apply(op) : expand(op);
    if (watched) look_behind(op);
  }

  // The time at which a collective or transfer can begin.
  Picoseconds ready(const Op& op) {
    if (op.kind == Op::Kind::collective) {
      Picoseconds start = 0;
      for (auto event = op.first; event < op.first + op.count; ++event)
        start = std::max({start, arrival(event), lane(free_of(event), op.lane)});
      return start;
    }
    auto start = arrival(op.first);
    auto& sender = free_of(op.first);
    if (op.kind != Op::Kind::latency) start = std::max(start, lane(sender, Lane::send));
    if (op.kind == Op::Kind::blocking) start = std::max(start, lane(sender, Lane::compute));
    return start;
  }

  // Lets a collective or transfer take from start to end, on its lanes.
  void settle(const Op& op, Picoseconds start, Picoseconds end) {
    for (auto event = op.first; event < op.first + op.count; ++event) {
      trace_.start[event] = start;
      trace_.end[event] = end;
      if (op.kind == Op::Kind::collective) lane(free_of(event), op.lane) = end;
    }
    auto& sender = free_of(op.first);
    if (op.kind == Op::Kind::transfer || op.kind == Op::Kind::blocking)
      lane(sender, Lane::send) = end;
    if (op.kind == Op::Kind::blocking) lane(sender, Lane::compute) = end;
    trace_.steps += op.kind == Op::Kind::collective ? op.count : 1;
  }

  Trace take() {
    for (auto end : trace_.end) trace_.finish = std::max(trace_.finish, end);
    return std::move(trace_);
  }

 private:
  bool is_watched(const Op& op) const {
    return !trace_.lanes.empty() && op.first >= program_.marks()[watched_].event;
  }
  const Template& body_of(const Op& op, std::uint32_t event) const {
    return program_.body(program_.body_of(op, event - op.first));
  }
  void look_before(const Op& op) {
    without_host_.clear();
    for (auto event = op.first; event < op.first + op.count; ++event) {
      const auto actor = static_cast<std::uint32_t>(participant(event).actor);
      for (auto& mark = seen_[actor];
           mark < trace_.lanes.size() && event >= program_.marks()[watched_ + mark].event; ++mark)
        trace_.lanes[mark][actor] = {lane(free_[actor], Lane::host),
                                     lane(free_[actor], Lane::compute),
                                     lane(free_[actor], Lane::tensor)};
      auto& free = free_[actor];
      const auto& body = body_of(op, event);
      auto there = std::max(arrival(event), lane(free, body.steps.front().lane));
      if (body.drains)
        there = std::max({there, lane(free, Lane::compute), lane(free, Lane::tensor)});
      without_host_.push_back({lane(free, Lane::host), there});
    }
  }
  // Notes the passes that the host makes wait: it does if it is not done before all else is there,
  // or, before a pass that drains, if it comes to the pass after that.
  void look_behind(const Op& op) {
    for (auto event = op.first; event < op.first + op.count; ++event) {
      const auto [host, else_there] = without_host_[event - op.first];
      const auto done = body_of(op, event).drains ? host : lane(free_of(event), Lane::host);
      if (done > else_there)
        trace_.host_behind[static_cast<std::uint32_t>(participant(event).actor)] = EventId{event};
    }
  }

  const Participant& participant(std::uint32_t event) const {
    return program_.participants()[event];
  }
  LaneTimes& free_of(std::uint32_t event) {
    return free_[static_cast<std::uint32_t>(participant(event).actor)];
  }
  static Picoseconds& lane(LaneTimes& free, Lane which) {
    return free[static_cast<std::size_t>(which)];
  }
  Picoseconds arrival(std::uint32_t event) const {
    Picoseconds latest = 0;
    for (EventId earlier : participant(event).after)
      if (earlier != no_event)
        latest = std::max(latest, trace_.end[static_cast<std::uint32_t>(earlier)]);
    return latest;
  }

  static Exit times(const std::array<std::array<Picoseconds, inputs>, outputs>& paths,
                    const Entry& entry) {
    Exit out;
    for (std::size_t o = 0; o < outputs; ++o) {
      out[o] = never;
      for (std::size_t i = 0; i < inputs; ++i) out[o] = std::max(out[o], entry[i] + paths[o][i]);
    }
    return out;
  }

  Entry entry_of(std::uint32_t event) {
    auto& free = free_of(event);
    return {lane(free, Lane::host), lane(free, Lane::compute), lane(free, Lane::tensor),
            arrival(event)};
  }

  void leave(std::uint32_t event, const PassMatrix& matrix, const Entry& entry, const Exit& exit) {
    auto& free = free_of(event);
    lane(free, Lane::host) = exit[to_host];
    lane(free, Lane::compute) = exit[to_compute];
    lane(free, Lane::tensor) = exit[to_tensor];
    trace_.start[event] = first_start(matrix, entry);
    trace_.end[event] = std::max(exit[to_compute], exit[to_tensor]);
  }

  void apply(const Op& op) {
    const auto& matrix = matrices_[op.body];
    trace_.steps += op.count;
    const auto join = [](Exit a, const Exit& b) {
      for (std::size_t o = 0; o < outputs; ++o) a[o] = std::max(a[o], b[o]);
      return a;
    };
    if (op.count == 1 || !matrix.meets) {
      for (auto event = op.first; event < op.first + op.count; ++event) {
        const auto entry = entry_of(event);
        auto exit = times(matrix.alone, entry);
        if (matrix.meets) exit = join(exit, times(matrix.joined, entry));
        leave(event, matrix, entry, exit);
      }
      return;
    }
    entries_.clear();
    Exit together{never, never, never};
    for (auto event = op.first; event < op.first + op.count; ++event) {
      entries_.push_back(entry_of(event));
      together = join(together, times(matrix.joined, entries_.back()));
    }
    for (std::uint32_t i = 0; i < op.count; ++i)
      leave(op.first + i, matrix, entries_[i], join(times(matrix.alone, entries_[i]), together));
  }

  void expand(const Op& op) {
    const auto body_of = [&](std::size_t i) -> const Template& {
      return program_.body(program_.body_of(op, static_cast<std::uint32_t>(i)));
    };
    lanes_of_.clear();
    arrivals_.clear();
    for (std::uint32_t i = 0; i < op.count; ++i) {
      const auto event = op.first + i;
      const auto& body = body_of(i);
      // The start is that of the first step as if alone, as the matrix gives it.
      trace_.start[event] = first_start(body, entry_of(event));
      lanes_of_.push_back(&free_of(event));
      arrivals_.push_back(arrival(event));
      drain(body, *lanes_of_.back(), arrivals_.back());
      trace_.steps += std::ssize(body.steps);
    }
    const auto unseen = [](std::size_t, std::size_t, Picoseconds, Picoseconds) {};
    if (op.bodies == one_body) {
      const std::span<const Step> steps = program_.templates()[op.body].steps;
      play([steps](std::size_t) { return steps; }, lanes_of_, arrivals_, ends_, unseen);
    } else {
      play([&](std::size_t i) { return std::span(body_of(i).steps); }, lanes_of_, arrivals_, ends_,
           unseen);
    }
    for (std::uint32_t i = 0; i < op.count; ++i) {
      auto& free = *lanes_of_[i];
      trace_.end[op.first + i] = std::max(lane(free, Lane::compute), lane(free, Lane::tensor));
    }
  }

  const Program& program_;
  Detail detail_;
  std::vector<LaneTimes> free_;
  std::vector<PassMatrix> matrices_;
  Trace trace_;
  std::size_t watched_ = 0;        // the first mark at which lanes are kept
  std::vector<std::size_t> seen_;  // by actor: number of these marks that it has come to
  // By participant of the pass that is played: the times at which its host, and all else, was
  // ready.
  std::vector<std::pair<Picoseconds, Picoseconds>> without_host_;
  std::vector<Entry> entries_;
  std::vector<LaneTimes*> lanes_of_;
  std::vector<Picoseconds> arrivals_, ends_;
};

}  // namespace sim

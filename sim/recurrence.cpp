// SPDX-License-Identifier: Apache-2.0
#include "sim/recurrence.hpp"

#include <algorithm>
#include <span>
#include <vector>

namespace sim {

namespace {

std::uint32_t number(EventId event) { return static_cast<std::uint32_t>(event); }

class Search {
 public:
  // `stride`: the number of the program's periods that make one period of time.
  Search(const Program& program, const Trace& trace, std::size_t stride)
      : program_(program), trace_(trace), marks_(program.marks()), stride_(stride) {}

  std::optional<Recurrence> run() {
    const auto periods = static_cast<std::int64_t>(stride_);
    if (marks_.size() < 2 * stride_ + 1 || program_.left_out() % periods != 0) return {};
    const auto end = marks_.size() - 1;
    found_.last = marks_[end - stride_];
    found_.end = marks_[end];
    if (found_.end.event == trace_.start.size()) return {};
    found_.times = program_.left_out() / periods;
    found_.period = trace_.start[found_.end.event] - trace_.start[found_.last.event];
    if (found_.period <= 0) return {};
    auto begin = end - stride_;
    while (begin >= stride_ &&
           recurs(marks_[begin - stride_], marks_[begin], marks_[begin + stride_]))
      begin -= stride_;
    if (begin + 2 * stride_ > end) return {};
    found_.begin = marks_[begin];
    if (!stays_inside() || !frees_all() || !lanes_recur() || !find_window()) return {};
    found_.whole = whole();
    return std::move(found_);
  }

 private:
  // Whether the period from `a` to `b` is like that from `b` to `c`, and earlier by one period of
  // time.
  bool recurs(Position a, Position b, Position c) const {
    const auto events = found_.events();
    if (b.op - a.op != c.op - b.op || b.event - a.event != events || c.event - b.event != events)
      return false;
    for (auto op = a.op; op < b.op; ++op)
      if (!alike(program_.ops()[op], program_.ops()[op + (b.op - a.op)])) return false;
    for (auto event = a.event; event < b.event; ++event) {
      if (trace_.start[event + events] - trace_.start[event] != found_.period ||
          trace_.end[event + events] - trace_.end[event] != found_.period)
        return false;
      const auto &here = program_.participants()[event],
                 &later = program_.participants()[event + events];
      if (here.actor != later.actor) return false;
      for (std::size_t i = 0; i < here.after.size(); ++i)
        if (here.after[i] == no_event ? later.after[i] != no_event
                                      : number(later.after[i]) != number(here.after[i]) + events)
          return false;
    }
    return true;
  }
  bool alike(const Op& a, const Op& b) const {
    if (a.kind != b.kind || a.lane != b.lane || a.activity != b.activity || a.body != b.body ||
        a.count != b.count || a.duration != b.duration || a.traffic != b.traffic)
      return false;
    if (a.bodies == b.bodies) return true;
    for (std::uint32_t i = 0; i < a.count; ++i)
      if (program_.body_of(a, i) != program_.body_of(b, i)) return false;
    return true;
  }

  // Whether the last period, and what is behind it, waits for nothing that was before the steady
  // phase.
  bool stays_inside() const {
    const auto rest = std::span(program_.participants()).subspan(found_.last.event);
    return std::ranges::all_of(rest, [&](const Participant& participant) {
      return std::ranges::all_of(participant.after, [&](EventId earlier) {
        return earlier == no_event || number(earlier) >= found_.begin.event;
      });
    });
  }

  // Whether each actor frees in the last period as much memory as it allocates.
  bool frees_all() const {
    std::vector<std::int64_t> held(program_.actors(), 0);
    for (auto index = found_.last.op; index < found_.end.op; ++index) {
      const auto& op = program_.ops()[index];
      if (op.kind != Op::Kind::pass) continue;
      for (std::uint32_t i = 0; i < op.count; ++i)
        held[static_cast<std::size_t>(program_.participants()[op.first + i].actor)] +=
            program_.body(program_.body_of(op, i)).held;
    }
    return std::ranges::all_of(held, [](std::int64_t bytes) { return bytes == 0; });
  }

  bool lanes_recur() const {
    const auto& lanes = trace_.lanes;
    const bool tensor_joins = std::ranges::all_of(program_.templates(), [](const Template& body) {
      return std::ranges::all_of(body.steps, [](const Step& step) {
        return step.lane != Lane::tensor || step.joins >= 0;
      });
    });
    const auto at_end = lanes.size() - 1, at_last = at_end - stride_, before = at_last - stride_;
    const auto watched_from = marks_[marks_.size() - 1 - 2 * stride_].event;
    for (std::size_t actor = 0; actor < program_.actors(); ++actor)
      for (std::size_t lane = 0; lane < PassLanes{}.size(); ++lane) {
        const auto first = lanes[at_last][actor][lane] - lanes[before][actor][lane];
        const auto second = lanes[at_end][actor][lane] - lanes[at_last][actor][lane];
        const bool recurs = first == found_.period && second == found_.period;
        const bool ahead = lane == 0 && tensor_joins && is_ahead(actor, watched_from) &&
                           first <= found_.period && second <= found_.period;
        const bool unused = lane != 0 && first == 0 && second == 0;
        if (!recurs && !ahead && !unused) return false;
      }
    return true;
  }

  // Whether the host has issued every pass before it began, from this event on.
  bool is_ahead(std::size_t actor, std::uint32_t from) const {
    const auto behind = trace_.host_behind[actor];
    return behind == no_event || number(behind) < from;
  }

  bool find_window() {
    const auto &begin = found_.begin, &last = found_.last, &end = found_.end;
    const auto period = found_.period;
    Picoseconds before = 0, of_last = 0, from_last = unreached, behind = unreached;
    for (std::uint32_t event = 0; event < begin.event; ++event)
      before = std::max(before, trace_.end[event]);
    for (auto event = last.event; event < end.event; ++event) {
      of_last = std::max(of_last, trace_.end[event]);
      from_last = std::min(from_last, trace_.start[event]);
    }
    for (auto event = end.event; event < trace_.start.size(); ++event)
      behind = std::min(behind, trace_.start[event]);
    // A period before the steady phase would end, and one behind it would begin, at the second of
    // these times.
    const auto periods = static_cast<std::int64_t>((end.event - begin.event) / found_.events());
    found_.window_begin = std::max(before, of_last - periods * period);
    found_.window_end = std::min(behind, from_last + period);
    return found_.window_end - found_.window_begin >= least_window();
  }
  Picoseconds least_window() const {
    if (program_.traffic().empty()) return 1;
    Picoseconds longest = 0;
    for (auto op = found_.last.op; op < found_.end.op; ++op) {
      const auto& of = program_.ops()[op];
      if (of.traffic == no_traffic) continue;
      longest = std::max(longest, trace_.end[of.first] - trace_.start[of.first]);
    }
    return found_.period + longest;
  }

  Trace whole() const {
    Trace trace = trace_;
    const auto later = found_.left_out();
    trace.finish = 0;
    for (std::uint32_t event = 0; event < trace.start.size(); ++event) {
      if (event >= found_.begin.event) {
        trace.start[event] += later;
        trace.end[event] += later;
      }
      trace.finish = std::max(trace.finish, trace.end[event]);
    }
    return trace;
  }

  const Program& program_;
  const Trace& trace_;
  const std::vector<Position>& marks_;
  const std::size_t stride_;
  Recurrence found_;
};

}  // namespace

std::optional<Recurrence> find_recurrence(const Program& program, const Trace& trace) {
  if (program.left_out() == 0) return {};
  for (std::size_t stride = 1; stride <= longest_period; ++stride)
    if (auto found = Search(program, trace, stride).run()) return found;
  return {};
}

}  // namespace sim

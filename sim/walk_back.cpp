// SPDX-License-Identifier: Apache-2.0
#include "sim/walk_back.hpp"

#include <algorithm>
#include <utility>

namespace sim {

void shorten(Spent& spent, Picoseconds by) {
  const auto take = [&](Picoseconds& from) {
    const auto taken = std::min(from, by);
    from -= taken;
    by -= taken;
  };
  take(spent.host);
  for (auto& on : spent.on) take(on);
}

namespace {

// Events of the whole program, seen from its end: while periods are left that `recurrence` leaves
// out, an event of a steady period stands for the like one of an earlier period.
class Backwards {
 public:
  Backwards(const Trace& played, const Recurrence* recurrence)
      : trace_(recurrence ? &recurrence->whole : &played),
        played_(played),
        recurrence_(recurrence),
        left_(recurrence ? recurrence->times : 0) {}

  const Trace& trace() const { return *trace_; }
  Picoseconds start(std::uint32_t event) const { return trace_->start[event] - earlier_; }
  Picoseconds end(std::uint32_t event) const { return trace_->end[event] - earlier_; }

  // Moves the path on to `event`; returns the event as which it is seen from now on.
  std::uint32_t go_to(std::uint32_t event) {
    while (left_ > 0 && event < recurrence_->last.event) {
      event += recurrence_->events();
      earlier_ += recurrence_->period;
      if (--left_ > 0) continue;
      trace_ = &played_;
      earlier_ = 0;
    }
    return event;
  }

 private:
  const Trace* trace_;
  const Trace& played_;
  const Recurrence* recurrence_;
  std::int64_t left_;
  Picoseconds earlier_ = 0;  // than the trace has it
};

}  // namespace

void walk_back(const Run& run, const Spans& spans, const Replayed& events, Waits* waits,
               Measures& result) {
  const auto& program = run.program;
  Backwards events_at(run.played, run.recurrence);
  auto& path = result.critical_path;
  if (spans.last_event == none) return;
  const auto beginning = spans.begins_at[spans.longest];
  const auto stretch = [&](EventId event, Picoseconds start, Picoseconds end) {
    if (waits && end > start) waits->critical_path.push_back({event, start, end});
  };
  if (waits) waits->in_passes.resize(program.templates().size());
  const auto finish = finish_of(run.played, run.recurrence);
  bool settled = false;  // which actor ends last
  auto now = beginning + spans.length;
  for (auto event = events_at.go_to(spans.last_event); now > beginning;) {
    const auto& op = program.ops()[events.op_of[event]];
    const auto start = std::clamp(events_at.start(event), beginning, now);
    if (op.kind == Op::Kind::pass) {
      auto inside = *events.inside[event];
      shorten(inside, inside.total() - std::min(inside.total(), now - start));
      inside.host += now - start - inside.total();
      path += inside;
      if (waits)
        waits->in_passes[static_cast<std::size_t>(program.body_of(op, event - op.first))] += inside;
    } else {
      path.on[op.activity] += now - start;
    }
    stretch(EventId{event}, start, now);
    now = start;
    const auto best =
        held_back_by(program, events_at.trace(), events.op_of, events.before, EventId{event});
    if (best == no_event) break;
    event = static_cast<std::uint32_t>(best);
    if (op.kind == Op::Kind::collective && !std::exchange(settled, true)) {
      // The last collective may let everyone end at once: then the actor that it waited for ends
      // last.
      const auto actor = program.participants()[event].actor;
      if (run.period == Period::makespan &&
          spans.ends_at[static_cast<std::uint32_t>(actor)] == finish)
        result.last = actor;
    }
    event = events_at.go_to(event);
    const auto ended = std::clamp(events_at.end(event), beginning, now);
    path.host += now - ended;
    stretch(no_event, ended, now);
    now = ended;
  }
  path.host += now - beginning;
  stretch(no_event, beginning, now);
}

}  // namespace sim

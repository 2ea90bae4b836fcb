// SPDX-License-Identifier: Apache-2.0
#include "sim/measures.hpp"

#include <algorithm>
#include <deque>
#include <numeric>
#include <utility>

#include "sim/gaps.hpp"
#include "sim/spending.hpp"
#include "sim/walk_back.hpp"
#include "sim/window.hpp"

namespace sim {

Picoseconds Spent::total() const { return std::accumulate(on.begin(), on.end(), host + idle); }

Spent& Spent::add(const Spent& other, std::int64_t times) {
  for (std::size_t i = 0; i < activities; ++i) on[i] += times * other.on[i];
  host += times * other.host;
  idle += times * other.idle;
  return *this;
}

namespace {

class Replay {
 public:
  Replay(const Program& program, const Trace& trace, const Recurrence* recurrence, Period period,
         Waits* waits)
      : program_(program),
        trace_(&trace),
        played_(trace),
        left_out_{recurrence},
        period_(period),
        waits_(waits),
        windows_(program, waits != nullptr),
        actors_(program.actors()),
        spans_(spans_of(program, trace, recurrence ? recurrence->whole : trace,
                        period == Period::spans)),
        events_{std::vector<std::uint32_t>(program.participants().size()),
                std::vector<EventId>(program.participants().size(), no_event),
                std::vector<const Spent*>(program.participants().size(), nullptr)},
        gaps_(program, trace, events_.op_of, waits ? &waits->idle : nullptr) {
    for (std::size_t actor = 0; actor < actors_.size(); ++actor) {
      actors_[actor].latest_collective.fill(no_event);
      actors_[actor].account.done = spans_.begins_at[actor];
    }
    result_.length = spans_.length;
    result_.last = ActorId(spans_.longest);
    result_.of_actor.resize(actors_.size());
    result_.busy.resize(actors_.size());
    if (waits_) waits_->entered_as.assign(program.participants().size(), 0);
  }

  // Returns nothing if actors spend alike periods differently.
  std::optional<Measures> run() {
    std::uint32_t index = 0;
    for (const auto& op : program_.ops()) {
      if (!at_mark(index)) return {};
      for (auto event = op.first; event < op.first + op.count; ++event)
        events_.op_of[event] = index;
      switch (op.kind) {
        case Op::Kind::pass:
          pass(op);
          break;
        case Op::Kind::collective:
          collective(op);
          break;
        default:
          transfer(op);
      }
      ++index;
    }
    if (left_out_.recurrence && left_out_.spending.size() < 3) return {};
    for (std::uint32_t actor = 0; actor < actors_.size(); ++actor) finish(actor);
    walk_back({program_, played_, left_out_.recurrence, period_}, spans_, events_, waits_, result_);
    if (waits_) {
      const auto by_actor = [](const Idle& idle) { return idle.actor; };
      std::ranges::stable_sort(waits_->idle, {}, by_actor);
      waits_->op_of = std::move(events_.op_of);
      waits_->entered = windows_.take_entered();
      waits_->lane_predecessor = std::move(events_.before);
    }
    return std::move(result_);
  }

 private:
  struct State {
    LaneTimes free{};
    Account account;
    EventId latest = no_event;                       // last event that occupied the compute lane
    EventId sent = no_event;                         // last message on the send lane
    std::array<EventId, lanes> latest_collective{};  // last one: of the host's side by lane
  };

  // Notes what was spent before each of the last two steady periods and behind them. Behind them it
  // adds what the last one took, once for each period that is left out. Returns false if the two
  // were spent differently.
  bool at_mark(std::uint32_t op) {
    if (!left_out_.is_mark(op)) return true;
    auto& now = left_out_.spending.emplace_back();
    now.of_actor = result_.of_actor;
    now.busy = result_.busy;
    for (const auto& actor : actors_) {
      now.done.push_back(actor.account.done);
      now.free.push_back(actor.free);
    }
    if (left_out_.spending.size() < 3) return true;
    if (!left_out_.spent_alike()) return false;
    jump();
    return true;
  }
  void jump() {
    const auto& recurrence = *left_out_.recurrence;
    const auto &before = left_out_.spending[1], &after = left_out_.spending[2];
    for (std::size_t actor = 0; actor < actors_.size(); ++actor) {
      result_.of_actor[actor].add(spent_between(before, after, actor), recurrence.times);
      result_.busy[actor] += recurrence.times * (after.busy[actor] - before.busy[actor]);
      actors_[actor].account.done += recurrence.left_out();
      for (std::size_t lane = 0; lane < lanes; ++lane)
        if (after.free[actor][lane] != before.free[actor][lane])
          actors_[actor].free[lane] += recurrence.left_out();
    }
    trace_ = &recurrence.whole;
    gaps_.follow(*trace_);
  }

  State& state_of(std::uint32_t event) {
    return actors_[static_cast<std::uint32_t>(program_.participants()[event].actor)];
  }
  Spent& spent_of(std::uint32_t event) {
    return result_.of_actor[static_cast<std::uint32_t>(program_.participants()[event].actor)];
  }
  Picoseconds& lane(State& state, Lane which) {
    return state.free[static_cast<std::size_t>(which)];
  }

  void pass(const Op& op) {
    entered_.clear();
    for (auto event = op.first; event < op.first + op.count; ++event) {
      const auto& free = state_of(event).free;
      entered_.push_back({free[0], free[1], free[2], gaps_.arrival(event)});
    }
    for (std::uint32_t i = 0; i < op.count; ++i) {
      const auto event = op.first + i;
      auto& state = state_of(event);
      const auto start = trace_->start[event], end = trace_->end[event];
      gaps_.before(event, start, state.account, spent_of(event));
      const auto& window = windows_.window(op, entered_, i, start);
      const auto* inside = &window.spent;
      if (waits_) waits_->entered_as[event] = window.number;
      if (state.account.done > start) {
        inside = &shortened_.emplace_back(*inside);
        shorten(shortened_.back(), state.account.done - start);
      }
      result_.busy[static_cast<std::uint32_t>(program_.participants()[event].actor)] +=
          inside->total();
      spent_of(event) += *inside;
      events_.inside[event] = inside;
      state.account.done = std::max(state.account.done, end);
      events_.before[event] = state.latest;
      state.latest = EventId{event};
    }
    advance(op);
  }

  // Moves the lanes on to the end of the pass, as the engine left them.
  void advance(const Op& op) {
    if (op.bodies != one_body) return advance_each(op);
    const auto& matrix = matrix_at(op.body);
    Exit together{never, never, never};
    const auto times = [](const auto& paths, const Entry& at) {
      Exit out{never, never, never};
      for (std::size_t o = 0; o < outputs; ++o)
        for (std::size_t i = 0; i < inputs; ++i) out[o] = std::max(out[o], at[i] + paths[o][i]);
      return out;
    };
    for (const auto& at : entered_) {
      const auto joined = times(matrix.joined, at);
      for (std::size_t o = 0; o < outputs; ++o) together[o] = std::max(together[o], joined[o]);
    }
    for (std::uint32_t i = 0; i < op.count; ++i) {
      const auto mine = times(matrix.alone, entered_[i]);
      auto& free = state_of(op.first + i).free;
      for (std::size_t o = 0; o < outputs; ++o) free[o] = std::max(mine[o], together[o]);
    }
  }
  void advance_each(const Op& op) {
    const auto body_of = [&](std::size_t i) -> const Template& {
      return program_.body(program_.body_of(op, static_cast<std::uint32_t>(i)));
    };
    std::vector<LaneTimes*> lanes_of;
    std::vector<Picoseconds> arrivals, ends;
    for (std::uint32_t i = 0; i < op.count; ++i) {
      lanes_of.push_back(&state_of(op.first + i).free);
      arrivals.push_back(entered_[i][from_arrival]);
      drain(body_of(i), *lanes_of.back(), arrivals.back());
    }
    play([&](std::size_t i) { return std::span(body_of(i).steps); }, lanes_of, arrivals, ends,
         [](std::size_t, std::size_t, Picoseconds, Picoseconds) {});
  }
  const PassMatrix& matrix_at(std::uint32_t body) {
    while (matrices_.size() <= body)
      matrices_.push_back(matrix_of(program_.templates()[matrices_.size()]));
    return matrices_[body];
  }

  void collective(const Op& op) {
    for (auto event = op.first; event < op.first + op.count; ++event) {
      auto& state = state_of(event);
      lane(state, op.lane) = trace_->end[event];
      state.account.pending.push_back(event);
      const auto on = is_host_side(op.lane) ? op.lane : Lane::data;
      auto& latest = state.latest_collective[static_cast<std::size_t>(on)];
      events_.before[event] = latest;
      latest = EventId{event};
    }
  }

  void transfer(const Op& op) {
    auto& sender = state_of(op.first);
    if (op.kind == Op::Kind::latency) return;
    auto before = std::exchange(sender.sent, EventId{op.first});
    if (op.kind == Op::Kind::blocking && ends_later(sender.latest, before)) before = sender.latest;
    events_.before[op.first] = events_.before[op.first + 1] = before;
    lane(sender, Lane::send) = trace_->end[op.first];
    if (op.kind != Op::Kind::blocking) return;
    lane(sender, Lane::compute) = trace_->end[op.first];
    gaps_.before(op.first, trace_->start[op.first], sender.account, spent_of(op.first));
    spent_of(op.first).on[op.activity] +=
        std::max<Picoseconds>(0, trace_->end[op.first] - sender.account.done);
    sender.account.done = std::max(sender.account.done, trace_->end[op.first]);
    sender.latest = EventId{op.first};
  }
  bool ends_later(EventId a, EventId b) const {
    const auto end = [&](EventId e) { return trace_->end[static_cast<std::uint32_t>(e)]; };
    return a != no_event && (b == no_event || end(a) > end(b));
  }

  void finish(std::uint32_t actor) {
    gaps_.close(ActorId{actor}, spans_.begins_at[actor] + result_.length, actors_[actor].account,
                result_.of_actor[actor]);
  }

  const Program& program_;
  const Trace* trace_;  // times of the events that are being replayed
  const Trace& played_;
  LeftOut left_out_;
  const Period period_;
  Waits* const waits_;
  Windows windows_;
  std::vector<State> actors_;
  std::vector<PassMatrix> matrices_;
  std::vector<Entry> entered_;
  std::deque<Spent> shortened_;
  const Spans spans_;
  Replayed events_;
  Gaps gaps_;
  Measures result_;
};

}  // namespace

Measures measure(const Program& program, const Trace& trace, Period period, Waits* waits) {
  return *Replay(program, trace, nullptr, period, waits).run();
}

std::optional<Measures> measure(const Program& program, const Trace& trace,
                                const Recurrence& recurrence, Period period) {
  return Replay(program, trace, &recurrence, period, nullptr).run();
}

std::vector<HeldMemory> memory_held(const Program& program) {
  std::vector<HeldMemory> held(program.actors());
  for (const auto& op : program.ops()) {
    if (op.kind != Op::Kind::pass) continue;
    for (std::uint32_t i = 0; i < op.count; ++i) {
      const auto& body = program.body(program.body_of(op, i));
      auto& here = held[static_cast<std::uint32_t>(program.participants()[op.first + i].actor)];
      const auto peak = here.left + std::max<std::int64_t>(body.peak, body.held);
      if (peak > here.peak) {
        here.peak = peak;
        here.held_at_peak = here.left + std::max<std::int64_t>(0, body.held);
      }
      here.left += body.held;
    }
  }
  return held;
}

}  // namespace sim

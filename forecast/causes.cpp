// SPDX-License-Identifier: Apache-2.0
#include "forecast/causes.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "strategies/activity.hpp"

namespace forecast {

using sim::EventId;
using sim::Picoseconds;

std::string_view to_text(IdleCause cause) {
  constexpr std::array<std::string_view, idle_causes> texts{
      "warm-up", "drain", "imbalance", "straggler", "communication", "host", "expert imbalance"};
  return texts[static_cast<std::size_t>(cause)];
}

namespace {

std::uint32_t number(EventId event) { return static_cast<std::uint32_t>(event); }

bool is_forward(std::uint8_t label) { return label == strategies::label_forward; }
bool is_backward(std::uint8_t label) {
  return label == strategies::label_backward || label == strategies::label_backward_input;
}
bool is_pipeline_pass(std::uint8_t label) {
  return is_forward(label) || is_backward(label) || label == strategies::label_backward_weight;
}
constexpr std::size_t pass_labels = strategies::label_backward_weight + 1;

// Returns the event of the sender for a message, and any other event itself.
EventId sender_of(const sim::Program& program, const sim::Waits& waits, EventId event) {
  const auto& op = program.ops()[waits.op_of[number(event)]];
  const bool shared = op.kind == sim::Op::Kind::pass || op.kind == sim::Op::Kind::collective;
  return shared ? event : EventId{op.first};
}

// Describes links of a chain, whether they are drawn or not.
class Describe {
 public:
  explicit Describe(const Played& played) : played_(played) {}

  Awaited event(EventId of, Picoseconds start, Picoseconds end) const {
    const auto& [program, actors, trace, waits, period, stages, chunks, slice_of] = played_;
    const auto event = sender_of(program, waits, of);
    const auto index = waits.op_of[number(event)];
    const auto& label = program.labels()[index];
    const auto& facts =
        actors[static_cast<std::size_t>(program.participants()[number(event)].actor)];
    return {
        (*slice_of)[number(event)], facts.stage, facts.rank, lane_of(program.ops()[index], label),
        name_of(label, chunks),     start,       end};
  }
  static Awaited host(const strategies::ActorFacts& of, Picoseconds start, Picoseconds end) {
    return {no_slice, of.stage, of.rank, "host", "", start, end};
  }

 private:
  const Played& played_;
};

class Causes {
 public:
  explicit Causes(const Played& played)
      : program_(played.program),
        actors_(played.actors),
        trace_(played.trace),
        waits_(played.waits),
        period_(played.period),
        slice_of_(played.slice_of) {
    if (slice_of_) describe_.emplace(played);
    find_representatives(played.stages);
    look_at_passes();
  }

  std::vector<Idle> run() {
    std::vector<Idle> found;
    for (const auto& interval : waits_.idle) {
      const auto actor = static_cast<std::size_t>(interval.actor);
      if (representative_[stage_of(actor)] != actor) continue;
      found.push_back(explain(interval));
    }
    std::ranges::stable_sort(found, [](const Idle& a, const Idle& b) {
      return std::tie(a.stage, a.start_ps) < std::tie(b.stage, b.start_ps);
    });
    return found;
  }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  struct Phases {
    Picoseconds first_backward = std::numeric_limits<Picoseconds>::max();
    Picoseconds last_forward = 0;
  };

  std::size_t stage_of(std::size_t actor) const {
    return static_cast<std::size_t>(actors_[actor].stage);
  }
  std::size_t actor_of(EventId event) const {
    return static_cast<std::size_t>(program_.participants()[number(event)].actor);
  }

  void find_representatives(std::size_t stages) {
    representative_.assign(stages, none);
    for (std::size_t actor = 0; actor < actors_.size(); ++actor)
      if (auto& first = representative_[stage_of(actor)]; first == none) first = actor;
  }

  // Finds the phases of the representatives, and the factor by which each stage's passes take
  // longer than those of the mean stage.
  void look_at_passes() {
    phases_.resize(representative_.size());
    std::vector<std::array<double, pass_labels>> spent(representative_.size());
    std::array<double, pass_labels> mean{};
    for (std::size_t i = 0; i < program_.ops().size(); ++i) {
      const auto& op = program_.ops()[i];
      const auto label = program_.labels()[i].kind;
      if (op.kind != sim::Op::Kind::pass || !is_pipeline_pass(label)) continue;
      for (auto event = op.first; event < op.first + op.count; ++event) {
        const auto actor = actor_of(EventId{event});
        const auto stage = stage_of(actor);
        if (representative_[stage] != actor) continue;
        const auto start = trace_.start[event], end = trace_.end[event];
        auto& phases = phases_[stage];
        if (is_backward(label)) phases.first_backward = std::min(phases.first_backward, start);
        if (is_forward(label)) phases.last_forward = std::max(phases.last_forward, end);
        const auto time = static_cast<double>(end - start) / slowdown_of(op);
        spent[stage][label] += time;
        mean[label] += time / static_cast<double>(representative_.size());
      }
    }
    excess_ = std::move(spent);
    for (auto& of_stage : excess_)
      for (std::size_t label = 0; label < pass_labels; ++label)
        of_stage[label] = mean[label] > 0 ? std::max(1.0, of_stage[label] / mean[label]) : 1.0;
  }

  // Returns the slowdown of the slowest GPU that runs the pass.
  double slowdown_of(const sim::Op& op) const {
    double slowdown = 1;
    for (auto event = op.first; event < op.first + op.count; ++event)
      slowdown = std::max(slowdown, actors_[actor_of(EventId{event})].gpu.slowdown);
    return slowdown;
  }

  // An idle interval, and how far its chain has been followed.
  struct Walk {
    const sim::Idle& interval;
    std::size_t stage;
    Idle& out;
    bool left_stage = false;   // a pass of another stage was on the chain
    bool behind_peer = false;  // a rank of its own stage was, before that
    Picoseconds steady = 0;    // charged to the origin
    Picoseconds behind = 0;    // charged to what made the rank of its own stage late
    std::optional<IdleCause> origin;
  };

  Idle explain(const sim::Idle& interval) {
    const auto actor = static_cast<std::size_t>(interval.actor);
    const auto& facts = actors_[actor];
    Idle idle{.stage = facts.stage,
              .rank = facts.rank,
              .start_ps = interval.start,
              .end_ps = interval.end};
    if (slice_of_ && interval.until != sim::no_event)
      idle.until = (*slice_of_)[number(interval.until)];
    Walk walk{interval, stage_of(actor), idle};
    if (interval.until != sim::no_event)
      follow(walk, held_back_by(interval.until), trace_.start[number(interval.until)]);
    else if (period_ == sim::Period::makespan)
      follow(walk, last_event(), interval.end);
    else
      add(walk, IdleCause::imbalance, interval.start, interval.end);
    charge(walk, walk.origin.value_or(IdleCause::imbalance), walk.steady);
    const bool link = walk.origin == IdleCause::communication;  // a link that is never free
    settle(walk, link ? IdleCause::communication : IdleCause::straggler);
    const auto most = std::ranges::max_element(idle.by_cause) - idle.by_cause.begin();
    idle.cause = static_cast<IdleCause>(most);
    return idle;
  }

  // Returns the event with which the critical path, and so the step, ends.
  EventId last_event() const {
    return waits_.critical_path.empty() ? sim::no_event : waits_.critical_path.front().event;
  }
  EventId held_back_by(EventId event) const {
    return sim::held_back_by(program_, trace_, waits_.op_of, waits_.lane_predecessor, event);
  }

  // Follows the chain back from `now`; `event` is the last that ended before it.
  void follow(Walk& walk, EventId event, Picoseconds now) {
    auto waiting = static_cast<std::size_t>(walk.interval.actor);
    const auto looks_further = [&] { return !walk.origin && (walk.steady > 0 || walk.behind > 0); };
    while (now > walk.interval.start || looks_further()) {
      const bool begun = event == sim::no_event;
      const auto end = begun ? 0 : std::min(trace_.end[number(event)], now);
      if (end < now) {
        add(walk, IdleCause::host, end, now);
        if (describe_) walk.out.chain.push_back(Describe::host(actors_[waiting], end, now));
      }
      if (begun || (end <= walk.interval.start && !looks_further())) return;
      event = sender_of(program_, waits_, event);
      link(walk, event, end);
      if (!walk.origin && was_busy_before(event)) walk.origin = cause_at(event);
      now = trace_.start[number(event)];
      waiting = actor_of(event);
      event = held_back_by(event);
    }
  }

  // Whether the event waited only for its own lane, which was busy with work of the same kind, or
  // for nothing.
  bool was_busy_before(EventId event) const {
    const auto cause = held_back_by(event), before = waits_.lane_predecessor[number(event)];
    if (cause == sim::no_event) return true;
    if (before == sim::no_event || trace_.end[number(before)] > trace_.start[number(event)])
      return false;
    const bool same_kind = is_pass(event) || !is_pass(before);
    return same_kind && trace_.end[number(before)] >= trace_.end[number(cause)];
  }
  bool is_pass(EventId event) const {
    return program_.ops()[waits_.op_of[number(event)]].kind == sim::Op::Kind::pass;
  }
  IdleCause cause_at(EventId event) const {
    const auto& op = program_.ops()[waits_.op_of[number(event)]];
    if (op.kind == sim::Op::Kind::pass)
      return slowdown_of(op) > 1 ? IdleCause::straggler : IdleCause::imbalance;
    const bool host = op.kind == sim::Op::Kind::collective && sim::is_host_side(op.lane);
    return host ? IdleCause::host : IdleCause::communication;
  }

  void link(Walk& walk, EventId event, Picoseconds end) {
    const auto start = trace_.start[number(event)];
    const auto index = waits_.op_of[number(event)];
    const auto& op = program_.ops()[index];
    const auto label = program_.labels()[index].kind;
    const auto stage = stage_of(actor_of(event));
    if (stage == walk.stage && actor_of(event) != static_cast<std::size_t>(walk.interval.actor) &&
        !walk.left_stage)
      walk.behind_peer = true;
    if (op.kind == sim::Op::Kind::pass && stage != walk.stage) walk.left_stage = true;
    if (describe_ && end > start) walk.out.chain.push_back(describe_->event(event, start, end));
    if (op.kind == sim::Op::Kind::pass) return pass(walk, event, label, stage, end);
    if (walk.behind > 0) make_late(walk, op, start, end);
    add(walk, cause_at(event), start, end);
  }

  // Charges the time for which a rank that is waited for waited for this op itself; if the idle
  // rank takes part in the op, the peer was a straggler.
  void make_late(Walk& walk, const sim::Op& op, Picoseconds start, Picoseconds end) {
    const auto of_op = std::span(program_.participants()).subspan(op.first, op.count);
    if (std::ranges::find(of_op, walk.interval.actor, &sim::Participant::actor) != of_op.end())
      return settle(walk, IdleCause::straggler);
    const auto share = std::min(walk.behind, end - start - inside(walk, start, end));
    charge(walk, cause_at(sim::EventId{op.first}), share);
    walk.behind -= share;
  }
  static void settle(Walk& walk, IdleCause cause) {
    charge(walk, cause, std::exchange(walk.behind, 0));
  }

  void pass(Walk& walk, EventId event, std::uint8_t label, std::size_t stage, Picoseconds end) {
    const auto start = trace_.start[number(event)];
    if (walk.behind_peer) {
      walk.behind += inside(walk, start, end);
      if (slowdown_of(program_.ops()[waits_.op_of[number(event)]]) > 1)
        settle(walk, IdleCause::straggler);
      return;
    }
    if (!is_pipeline_pass(label)) return add(walk, cause_at(event), start, end);
    const auto& phases = phases_[walk.stage];
    const bool warm_up = walk.interval.start < phases.first_backward;
    if (!warm_up && walk.interval.start < phases.last_forward) {
      walk.steady += inside(walk, start, end);
      return;
    }
    auto rest = inside(walk, start, end);
    const auto take = [&](IdleCause cause, double stretched) {
      const auto share = rest - static_cast<Picoseconds>(static_cast<double>(rest) / stretched);
      if (stretched > 1) charge(walk, cause, share);
      if (stretched > 1) rest -= share;
    };
    take(IdleCause::straggler, slowdown_of(program_.ops()[waits_.op_of[number(event)]]));
    take(IdleCause::imbalance, excess_[stage][label]);
    charge(walk, warm_up ? IdleCause::warm_up : IdleCause::drain, rest);
  }

  static Picoseconds inside(const Walk& walk, Picoseconds start, Picoseconds end) {
    return std::max<Picoseconds>(
        0, std::min(end, walk.interval.end) - std::max(start, walk.interval.start));
  }
  static void charge(Walk& walk, IdleCause cause, Picoseconds time) {
    walk.out.by_cause[static_cast<std::size_t>(cause)] += time;
  }
  static void add(Walk& walk, IdleCause cause, Picoseconds start, Picoseconds end) {
    charge(walk, cause, inside(walk, start, end));
  }

  const sim::Program& program_;
  const std::vector<strategies::ActorFacts>& actors_;
  const sim::Trace& trace_;
  const sim::Waits& waits_;
  const sim::Period period_;
  const std::vector<std::size_t>* slice_of_;
  std::optional<Describe> describe_;
  std::vector<std::size_t> representative_;              // by stage: the actor that stands for it
  std::vector<Phases> phases_;                           // by stage
  std::vector<std::array<double, pass_labels>> excess_;  // by stage and label: over the mean, or 1
};

}  // namespace

std::vector<Idle> idle_of(const Played& played) { return Causes(played).run(); }

std::vector<Awaited> critical_path_of(const Played& played) {
  const Describe describe(played);
  const auto& stretches = played.waits.critical_path;
  std::vector<Awaited> path;
  for (auto at = stretches.size(); at-- > 0;) {
    const auto& [event, start, end] = stretches[at];
    if (event != sim::no_event) {
      path.push_back(describe.event(event, start, end));
      continue;
    }
    // The host's time belongs to the rank whose work comes next on the path.
    const auto& next = stretches[at > 0 ? at - 1 : 0].event;
    const auto actor =
        next == sim::no_event
            ? 0
            : static_cast<std::size_t>(played.program.participants()[number(next)].actor);
    path.push_back(Describe::host(played.actors[actor], start, end));
  }
  return path;
}

}  // namespace forecast

// SPDX-License-Identifier: Apache-2.0
// The engine under contention beside a slow and obvious one.
#include <cmath>
#include <limits>
#include <random>

#include "sim/contention.hpp"
#include "sim/measures.hpp"
#include "tests/catch.hpp"
#include "tests/sim/fair_share.hpp"

namespace contended_run_spec {

using namespace sim;

namespace {

constexpr double forever = std::numeric_limits<double>::infinity();

// Plays passes of one actor and one step, collectives and transfers: it looks at every op again and
// again, and computes all rates anew at every change. Times are picoseconds with fractions.
class Reference {
 public:
  explicit Reference(const Program& program) : program_(program), ops_(program.ops().size()) {}

  struct Times {
    double start, end;
  };
  // The times of all ops, by op.
  std::vector<Times> run() {
    for (double now = 0; now < forever; now = next(now)) {
      while (settle(now)) continue;
      fill();
    }
    std::vector<Times> times;
    for (const auto& op : ops_) times.push_back({op.start, op.end});
    return times;
  }

 private:
  struct State {
    double start = forever, sends = forever, end = forever;
    double left = 0, rate = 0;  // bytes; bytes per second
  };

  const Op& op(std::size_t i) const { return program_.ops()[i]; }
  std::uint32_t actor(std::uint32_t event) const {
    return static_cast<std::uint32_t>(program_.participants()[event].actor);
  }
  // The lanes of an actor that an op occupies, as bits.
  unsigned held(std::size_t i, std::uint32_t who) const {
    unsigned lanes_held = 0;
    for (auto event = op(i).first; event < op(i).first + op(i).count; ++event) {
      if (actor(event) != who) continue;
      const auto bit = [](Lane lane) { return 1u << static_cast<unsigned>(lane); };
      const bool sends = event == op(i).first;
      if (op(i).kind == Op::Kind::pass) lanes_held |= bit(Lane::compute);
      if (op(i).kind == Op::Kind::collective) lanes_held |= bit(op(i).lane);
      if (sends && op(i).kind == Op::Kind::transfer) lanes_held |= bit(Lane::send);
      if (sends && op(i).kind == Op::Kind::blocking)
        lanes_held |= bit(Lane::send) | bit(Lane::compute);
    }
    return lanes_held;
  }
  bool waits_for(std::size_t i, std::size_t earlier) const {
    for (auto event = op(i).first; event < op(i).first + op(i).count; ++event) {
      for (auto after : program_.participants()[event].after)
        if (after != no_event && static_cast<std::uint32_t>(after) >= op(earlier).first &&
            static_cast<std::uint32_t>(after) < op(earlier).first + op(earlier).count)
          return true;
      if ((held(i, actor(event)) & held(earlier, actor(event))) != 0) return true;
    }
    return false;
  }

  // Begins an op that can begin; false if there is none.
  bool settle(double now) {
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      if (ops_[i].start < forever) continue;
      double start = 0;
      for (std::size_t earlier = 0; earlier < i; ++earlier)
        if (waits_for(i, earlier)) start = std::max(start, ops_[earlier].end);
      if (start > now) continue;
      begin(i, start);
      return true;
    }
    return false;
  }
  void begin(std::size_t i, double start) {
    auto& state = ops_[i];
    state.start = start;
    const auto fixed = op(i).kind == Op::Kind::pass
                           ? program_.templates()[op(i).body].steps.front().duration
                           : op(i).duration;
    if (op(i).traffic == no_traffic) {
      state.end = start + static_cast<double>(fixed);
    } else {
      state.sends = start + static_cast<double>(fixed);
      state.left = program_.traffic()[op(i).traffic].bytes;
    }
  }

  bool sending(std::size_t i) const { return ops_[i].sends <= now_ && ops_[i].end == forever; }
  void fill() {
    std::vector<std::vector<std::size_t>> routes;
    std::vector<double> caps;
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      if (!sending(i)) continue;
      const auto& traffic = program_.traffic()[op(i).traffic];
      caps.push_back(traffic.cap);
      auto& route = routes.emplace_back();
      for (const auto& [link, times] : traffic.links)
        route.insert(route.end(), times, static_cast<std::size_t>(link));
    }
    const auto rates = oracle::fair_share(program_.links(), routes, caps,
                                          std::vector<std::int64_t>(routes.size(), 1));
    auto rate = rates.begin();
    for (std::size_t i = 0; i < ops_.size(); ++i)
      if (sending(i)) ops_[i].rate = *rate++;
  }

  // Moves on to the next change, and lets bytes flow until then.
  double next(double now) {
    double soonest = forever;
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      const auto& state = ops_[i];
      for (auto when : {state.sends, state.end})
        if (when > now) soonest = std::min(soonest, when);
      if (sending(i)) soonest = std::min(soonest, now + state.left / state.rate * 1e12);
    }
    if (soonest == forever) return forever;
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      if (!sending(i)) continue;
      auto& state = ops_[i];
      if (now + state.left / state.rate * 1e12 <= soonest)
        state.end = soonest;
      else
        state.left -= state.rate * (soonest - now) * 1e-12;
    }
    return now_ = soonest;
  }

  const Program& program_;
  std::vector<State> ops_;
  double now_ = 0;
};

// A program of passes, collectives and transfers of a few actors, most with traffic over a few
// links.
Program random_program(unsigned seed) {
  std::mt19937 random(seed);
  const auto pick = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); };
  Program program;
  for (int i = 0; i < 4; ++i) program.add_link(1e9 * (1 + pick(8)));
  const auto body = program.add_template({.steps = {{.duration = 1'000'000'000}}});
  for (int i = 0; i < 6; ++i) {
    Traffic traffic{.bytes = 1e6 * (1 + pick(9)), .cap = 1e9 * (1 + pick(6))};
    for (auto uses = 1 + pick(3); uses > 0; --uses)
      traffic.links.push_back(
          {LinkId{static_cast<std::uint32_t>(pick(4))}, 1 + static_cast<std::uint32_t>(pick(3))});
    program.add_traffic(std::move(traffic));
  }
  std::vector<EventId> events{no_event};
  const auto some = [&] {
    return events[static_cast<std::size_t>(pick(static_cast<int>(events.size())))];
  };
  for (int i = 0; i < 25; ++i) {
    const auto actor = static_cast<std::uint32_t>(pick(3));
    const Participant who{ActorId{actor}, {some(), some()}};
    const auto kind = pick(5);
    const Picoseconds fixed = pick(3) * 100'000'000;
    OpId op{};
    if (kind == 0) {
      op = program.add_pass(body, {&who, 1});
    } else if (kind == 1) {
      const std::vector both{who, Participant{ActorId{(actor + 1) % 3}, {some(), no_event}}};
      op = program.add_collective(Lane::data, fixed, 1, both);
    } else {
      const auto kinds = {Op::Kind::transfer, Op::Kind::blocking, Op::Kind::latency};
      op = program.add_transfer(*(kinds.begin() + (kind - 2)), fixed, 2, who,
                                ActorId{(actor + 1) % 3});
    }
    if (kind > 0 && pick(4) > 0) program.send_over_links(op, static_cast<std::uint32_t>(pick(6)));
    events.push_back(program.event(op, program.ops().back().count - 1));
  }
  return program;
}

}  // namespace

TEST_CASE("ops start and end at the times of an engine that looks at all of them at every change") {
  const auto seed = GENERATE(range(0u, 200u));
  const auto program = random_program(seed);
  const auto trace = run(program);
  const auto times = Reference(program).run();
  for (std::size_t i = 0; i < times.size(); ++i) {
    const auto event = program.ops()[i].first;
    // Each completion before may be rounded up by a picosecond.
    CHECK(std::abs(static_cast<double>(trace.start[event]) - times[i].start) <= 30);
    CHECK(std::abs(static_cast<double>(trace.end[event]) - times[i].end) <= 30);
  }
}

TEST_CASE("under contention too no op starts before its predecessors end, and times add up") {
  const auto seed = GENERATE(range(0u, 100u));
  const auto program = random_program(seed);
  const auto trace = run(program), again = run(program, Detail::every_step);
  CHECK(trace.start == again.start);
  CHECK(trace.end == again.end);
  for (std::uint32_t event = 0; event < trace.end.size(); ++event)
    for (auto earlier : program.participants()[event].after)
      if (earlier != no_event)
        CHECK(trace.start[event] >= trace.end[static_cast<std::uint32_t>(earlier)]);
  const auto measures = measure(program, trace);
  for (const auto& spent : measures.of_actor) CHECK(spent.total() == trace.finish);
  CHECK(measures.critical_path.total() == trace.finish);
}

}  // namespace contended_run_spec

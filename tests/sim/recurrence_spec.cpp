// SPDX-License-Identifier: Apache-2.0
// Programs that leave out periods, beside the same programs with all of them.
#include <algorithm>
#include <functional>
#include <random>
#include <utility>

#include "sim/contention.hpp"
#include "sim/measures.hpp"
#include "sim/recurrence.hpp"
#include "tests/catch.hpp"
#include "tests/fewer.hpp"

namespace recurrence_spec {

using namespace sim;

namespace {

constexpr Activity forward = 1, message = 2;

Template pass_of(Picoseconds duration, Picoseconds issue = 0) {
  return {.steps = {{Lane::compute, false, forward, -1, issue, duration}}};
}

// A program of two stages: the first computes each microbatch for `first` and sends it in 10, and
// the second computes it for `second`.
Program two_stages(std::int64_t microbatches, Picoseconds first, Picoseconds second,
                   Picoseconds issue = 0) {
  Program program;
  const auto one = program.add_template(pass_of(first, issue));
  const auto two = program.add_template(pass_of(second, issue));
  for (std::int64_t m = 0; m < microbatches; ++m) {
    program.mark();
    const std::array<Participant, 1> begins{{{ActorId{0}}}};
    const auto computed = program.event(program.add_pass(one, begins));
    const auto sent = program.add_transfer(Op::Kind::transfer, 10, message,
                                           {ActorId{0}, {computed, no_event}}, ActorId{1});
    const std::array<Participant, 1> ends{{{ActorId{1}, {program.event(sent, 1), no_event}}}};
    program.add_pass(two, ends);
  }
  return program;
}

void check_same(const Measures& a, const Measures& b) {
  CHECK(a.length == b.length);
  CHECK(a.of_actor == b.of_actor);
  CHECK(a.busy == b.busy);
  CHECK(a.critical_path == b.critical_path);
  CHECK(a.last == b.last);
}

// Checks that the program with `left_out` periods fewer is worth the whole; returns whether it
// recurs.
bool jumps(const std::function<Program(std::int64_t periods)>& program_of, std::int64_t periods,
           std::int64_t left_out, Period period = Period::makespan) {
  auto shortened = program_of(periods - left_out);
  shortened.leave_out(left_out);
  const auto trace = run(shortened);
  const auto recurrence = find_recurrence(shortened, trace);
  if (!recurrence) return false;
  const auto measured = measure(shortened, trace, *recurrence, period);
  if (!measured) return false;
  const auto whole = program_of(periods);
  const auto played = run(whole);
  CHECK(recurrence->whole.finish == played.finish);
  check_same(*measured, measure(whole, played, period));
  CHECK(utilisation(shortened, trace, &*recurrence) == utilisation(whole, played));
  CHECK(slowed(shortened, trace, &*recurrence) == slowed(whole, played));
  return true;
}

}  // namespace

TEST_CASE("six microbatches stand for a hundred, one of them for ninety-five") {
  auto even = two_stages(6, 30, 30);
  even.leave_out(94);
  const auto trace = run(even);
  CHECK(trace.finish == 30 + 10 + 6 * 30);
  const auto found = find_recurrence(even, trace);
  REQUIRE(found);
  CHECK(found->times == 94);
  CHECK(found->period == 30);
  CHECK(found->whole.finish == 30 + 10 + 100 * 30);
  CHECK(found->times_of(found->last.op) == 95);
  CHECK(found->times_of(found->end.op) == 1);
  const auto measured = measure(even, trace, *found);
  REQUIRE(measured);
  CHECK(measured->length == 3040);
  CHECK(measured->busy == std::vector<Picoseconds>{3000, 3000});
  CHECK(measured->of_actor[1].on[message] == 10);
  CHECK(measured->of_actor[1].idle == 30);
}

TEST_CASE("nothing recurs where one actor falls behind another for ever") {
  // A microbatch takes 20 on the first stage and 30 on the second.
  auto uneven = two_stages(6, 20, 30);
  uneven.leave_out(94);
  CHECK(!find_recurrence(uneven, run(uneven)));
}

TEST_CASE("nothing recurs while a host that is ahead is being caught up with") {
  // Issuing takes longer than computing, and the first pass is long, so the host is ahead at first.
  const auto late_host = [](std::int64_t periods) {
    Program program;
    const auto first = program.add_template(pass_of(10'000));
    const auto rest = program.add_template(pass_of(20, 25));
    const std::array<Participant, 1> who{{{ActorId{0}}}};
    program.add_pass(first, who);
    for (std::int64_t m = 0; m < periods; ++m) {
      program.mark();
      program.add_pass(rest, who);
    }
    return program;
  };
  CHECK(!jumps(late_host, 1000, 990));
  // Once the host holds up the device, each period takes as long as issuing.
  CHECK(jumps(late_host, 10'000, 100));
  // A host that stays ahead holds up no device.
  const auto quick_host = [](std::int64_t periods) { return two_stages(periods, 30, 30, 3); };
  CHECK(jumps(quick_host, 100, 80));
}

TEST_CASE(
    "a host that makes only the last pass wait must be far ahead for periods to be left out") {
  // The last pass takes 690 to issue: after seven periods of 100 it waits for its host, after fifty
  // for the device.
  const auto slow_end = [](std::int64_t periods) {
    Program program;
    const auto often = program.add_template(pass_of(100, 10));
    const auto last = program.add_template(pass_of(5, 690));
    const std::array<Participant, 1> who{{{ActorId{0}}}};
    for (std::int64_t m = 0; m < periods; ++m) {
      program.mark();
      program.add_pass(often, who);
    }
    program.add_pass(last, who);
    return program;
  };
  CHECK(!jumps(slow_end, 17, 10));
  CHECK(jumps(slow_end, 100, 50));
}

TEST_CASE("the actor that a first collective waited for ends last, however much is left out") {
  const auto begins_together = [](std::int64_t periods) {
    Program program;
    const auto late = program.add_template(pass_of(30)), pass = program.add_template(pass_of(10));
    const std::array<Participant, 1> one{{{ActorId{1}}}};
    const auto before = program.event(program.add_pass(late, one));
    const std::array<Participant, 2> both{{{ActorId{0}}, {ActorId{1}, {before, no_event}}}};
    const auto met = program.add_collective(Lane::data, 5, message, both);
    const std::array<Participant, 2> then{{{ActorId{0}, {program.event(met, 0), no_event}},
                                           {ActorId{1}, {program.event(met, 1), no_event}}}};
    program.add_pass(pass, then);
    const std::array<Participant, 2> who{{{ActorId{0}}, {ActorId{1}}}};
    for (std::int64_t m = 0; m < periods; ++m) {
      program.mark();
      program.add_pass(pass, who);
    }
    return program;
  };
  CHECK(jumps(begins_together, 40, 30));
}

TEST_CASE("nothing recurs for an actor that ends before the periods left out would begin") {
  // Collectives of the second actor pile up behind a long one, so that its passes are long over.
  const auto piled_up = [](std::int64_t periods) {
    Program program;
    const auto pass = program.add_template(pass_of(100)), half = program.add_template(pass_of(50));
    const std::array<Participant, 1> first{{{ActorId{0}}}}, second{{{ActorId{1}}}};
    auto previous = program.event(program.add_pass(pass, first));
    program.add_collective(Lane::data, 470, message, second);
    program.add_pass(half, second);
    auto met = no_event;
    for (std::int64_t m = 0; m < periods; ++m) {
      program.mark();
      const auto passed = program.event(program.add_pass(pass, first));
      const std::array<Participant, 1> behind{
          {{ActorId{1}, {std::exchange(previous, passed), no_event}}}};
      const auto computed = program.event(program.add_pass(half, behind));
      const std::array<Participant, 1> sums{{{ActorId{1}, {computed, no_event}}}};
      met = program.event(program.add_collective(Lane::data, 100, message, sums));
    }
    program.mark();
    program.add_pass(pass, first);
    const std::array<Participant, 1> last{{{ActorId{1}, {met, no_event}}}};
    program.add_pass(half, last);
    return program;
  };
  CHECK(!jumps(piled_up, 5, 1));
}

TEST_CASE("nothing recurs while memory grows") {
  const auto keeps = [](std::int64_t bytes) {
    return [bytes](std::int64_t periods) {
      Program program;
      auto body = pass_of(10);
      body.held = bytes;
      const auto pass = program.add_template(body);
      const std::array<Participant, 1> who{{{ActorId{0}}}};
      for (std::int64_t m = 0; m < periods; ++m) {
        program.mark();
        program.add_pass(pass, who);
      }
      return program;
    };
  };
  CHECK(!jumps(keeps(1), 50, 40));
  // There is no period either where no op comes behind the last mark.
  const auto marked_end = [&](std::int64_t periods) {
    auto program = keeps(0)(periods);
    program.mark();
    return program;
  };
  CHECK(!jumps(marked_end, 50, 40));
  CHECK(jumps(keeps(0), 50, 40));
}

TEST_CASE("nothing recurs where the last ops wait for ops before the first period") {
  const auto waits_for = [](bool first) {
    return [first](std::int64_t periods) {
      Program program;
      const auto body = program.add_template(pass_of(5));
      const std::array<Participant, 1> who{{{ActorId{0}}}};
      auto event = program.event(program.add_pass(body, who));
      for (std::int64_t m = 0; m < periods; ++m) {
        program.mark();
        const auto latest = program.event(program.add_pass(body, who));
        if (!first) event = latest;
      }
      const std::array<Participant, 1> last{{{ActorId{0}, {event, no_event}}}};
      program.add_pass(body, last);
      return program;
    };
  };
  CHECK(!jumps(waits_for(true), 50, 40));
  CHECK(jumps(waits_for(false), 50, 40));
}

TEST_CASE("nothing recurs while an op from before the first period still goes on") {
  // The last op needs the lane of a collective that is longer than a few periods.
  const auto begins_with = [](Picoseconds duration) {
    return [duration](std::int64_t periods) {
      Program program;
      const auto body = program.add_template(pass_of(5));
      const std::array<Participant, 1> who{{{ActorId{0}}}};
      program.add_collective(Lane::data, duration, message, who);
      auto latest = no_event;
      for (std::int64_t m = 0; m < periods; ++m) {
        program.mark();
        latest = program.event(program.add_pass(body, who));
      }
      const std::array<Participant, 1> behind{{{ActorId{0}, {latest, no_event}}}};
      program.add_collective(Lane::data, 7, message, behind);
      return program;
    };
  };
  CHECK(!jumps(begins_with(1000), 500, 490));
  CHECK(jumps(begins_with(20), 500, 490));
}

TEST_CASE("time may recur only after several periods of the program") {
  // Quick and slow passes take turns.
  const auto alternating = [](std::int64_t periods) {
    Program program;
    const auto quick = program.add_template(pass_of(10)), slow = program.add_template(pass_of(50));
    EventId before = no_event, last = no_event;
    for (std::int64_t m = 0; m < periods; ++m) {
      program.mark();
      const std::array<Participant, 1> who{{{ActorId{0}, {before, no_event}}}};
      const auto passed = program.event(program.add_pass(m % 2 == 0 ? quick : slow, who));
      before = std::exchange(last, passed);
    }
    return program;
  };
  CHECK(jumps(alternating, 100, 80));
  CHECK(!jumps(alternating, 100, 81));
}

namespace {

// A program whose periods have the same random ops, some of which share links, and whose end is
// random.
class Periodic {
 public:
  explicit Periodic(unsigned seed) : random_(seed) {
    for (int i = 0; i < 3; ++i) durations_.push_back(pick(1, 40));
    meets_ = pick(0, 2) == 0;
    drains_ = pick(0, 3) == 0;
    issue_ = pick(0, 4);
    actors_ = pick(1, 3);
    ops_ = pick(1, 6);
    for (int i = 0; i < ops_; ++i) drawn_.push_back(draw());
    for (int i = 0; i < 4; ++i) ending_.push_back(draw());
  }

  Program operator()(std::int64_t periods) const {
    Program program;
    const auto link = program.add_link(1e12);
    for (const auto duration : durations_) {
      auto body = pass_of(duration, issue_);
      body.steps.push_back({Lane::tensor, meets_, message, 0, issue_, duration / 2});
      body.steps.push_back({Lane::compute, false, forward, 1, issue_, duration});
      body.drains = drains_;
      program.add_template(body);
    }
    const auto traffic = program.add_traffic({{{link, 1}}, 20.0, 1e12});
    std::vector<EventId> latest(static_cast<std::size_t>(actors_), no_event);
    const auto add = [&](const Drawn& op) { this->add(program, op, latest, traffic); };
    for (std::int64_t m = 0; m < periods; ++m) {
      program.mark();
      for (const auto& op : drawn_) add(op);
    }
    for (const auto& op : ending_) add(op);
    return program;
  }

 private:
  struct Drawn {
    int kind, body, actor, other;
    bool waits, shares;
  };
  int pick(int least, int most) { return std::uniform_int_distribution<int>(least, most)(random_); }
  Drawn draw() {
    const int actor = pick(0, actors_ - 1);
    return {pick(0, 3),     pick(0, 2),     actor, (actor + pick(1, 2)) % actors_,
            pick(0, 2) > 0, pick(0, 1) == 0};
  }
  void add(Program& program, const Drawn& op, std::vector<EventId>& latest,
           std::uint32_t traffic) const {
    const auto at = [&](int actor) -> EventId& { return latest[static_cast<std::size_t>(actor)]; };
    const ActorId actor{static_cast<std::uint32_t>(op.actor)};
    const ActorId other{static_cast<std::uint32_t>(op.other)};
    const auto after = op.waits ? at(op.other) : no_event;
    const std::array<Participant, 1> who{{{actor, {after, no_event}}}};
    if (op.kind <= 1) {
      at(op.actor) = program.event(program.add_pass(TemplateId(op.body), who));
    } else if (op.kind == 2) {
      const auto sent = program.add_transfer(op.waits ? Op::Kind::transfer : Op::Kind::blocking, 3,
                                             message, {actor, {at(op.actor), no_event}}, other);
      if (op.shares) program.send_over_links(sent, traffic);
      at(op.other) = program.event(sent, 1);
    } else {
      const auto met = program.add_collective(Lane::data, 7, message, who);
      if (op.shares) program.send_over_links(met, traffic);
      if (op.waits) at(op.actor) = program.event(met);
    }
  }

  std::mt19937 random_;
  std::vector<Picoseconds> durations_;
  bool meets_, drains_;
  Picoseconds issue_;
  int actors_, ops_;
  std::vector<Drawn> drawn_, ending_;
};

}  // namespace

TEST_CASE("a program with periods left out is worth the whole program, for random programs") {
  int jumped = 0;
  const auto seeds = 4000u / tests::fewer;
  for (unsigned seed = 0; seed < seeds; ++seed) {
    INFO("seed " << seed);
    const Periodic program(seed);
    const auto period = seed % 2 == 0 ? Period::makespan : Period::spans;
    jumped += jumps(program, 60, 36, period) ? 1 : 0;
  }
  CHECK(jumped > static_cast<int>(seeds / 5));
}

}  // namespace recurrence_spec

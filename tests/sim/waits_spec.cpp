// SPDX-License-Identifier: Apache-2.0
// When actors were idle, and the events that held others back.
#include <array>

#include "sim/measures.hpp"
#include "tests/catch.hpp"

namespace waits_spec {

using namespace sim;

namespace {

constexpr Activity computing = 0, sending = 1, reducing = 2;

EventId pass(Program& program, std::uint32_t actor, Picoseconds duration,
             std::array<EventId, 2> after = {no_event, no_event}) {
  const auto body =
      program.add_template({.steps = {{.activity = computing, .duration = duration}}});
  const Participant who{ActorId{actor}, after};
  return program.event(program.add_pass(body, {&who, 1}));
}

// Adds a transfer and returns its arrival.
EventId send(Program& program, std::uint32_t from, std::uint32_t to, Picoseconds duration,
             EventId after) {
  return program.event(program.add_transfer(Op::Kind::transfer, duration, sending,
                                            {ActorId{from}, {after, no_event}}, ActorId{to}),
                       1);
}

struct Run {
  Trace trace;
  Waits waits;
  Measures measures;
};

Run run_of(const Program& program) {
  Run found{run(program), {}, {}};
  found.measures = measure(program, found.trace, Period::makespan, &found.waits);
  return found;
}

}  // namespace

// actor 0  AA BBBBBB        sends A's result 2-5, B's 8-11
// actor 1  ..~~~C..~~~D     idle 0-2 and 6-8, not while its own message travels
TEST_CASE("an actor is idle where neither work nor a message of its own is under way") {
  Program program;
  const auto a = pass(program, 0, 2);
  const auto first = send(program, 0, 1, 3, a);
  const auto b = pass(program, 0, 6);
  const auto second = send(program, 0, 1, 3, b);
  const auto c = pass(program, 1, 1, {first, no_event});
  const auto d = pass(program, 1, 1, {second, no_event});
  const auto found = run_of(program);
  REQUIRE(found.waits.idle.size() == 3);
  const auto& end = found.waits.idle[0];
  const auto& early = found.waits.idle[1];
  const auto& late = found.waits.idle[2];
  CHECK(early.start == 0);
  CHECK(early.end == 2);
  CHECK(early.until == c);
  CHECK(late.start == 6);
  CHECK(late.end == 8);
  CHECK(late.until == d);
  CHECK(end.actor == ActorId{0});  // actor 0 is done at 8, the step at 12
  CHECK(end.start == 8);
  CHECK(end.end == 12);
  CHECK(end.until == no_event);
  CHECK(found.measures.of_actor[1].idle == 4);
  CHECK(found.measures.of_actor[1].on[sending] == 6);
}

TEST_CASE("a message that waits for its turn on the send lane is held back by the one before it") {
  Program program;
  const auto a = pass(program, 0, 1);
  const auto long_one = send(program, 0, 1, 10, a);
  const auto b = pass(program, 0, 1);
  const auto short_one = send(program, 0, 1, 1, b);
  const auto c = pass(program, 1, 1, {short_one, no_event});
  const auto found = run_of(program);
  const auto cause = [&](EventId event) {
    return held_back_by(program, found.trace, found.waits.op_of, found.waits.lane_predecessor,
                        event);
  };
  CHECK(cause(c) == short_one);
  CHECK(cause(short_one) == EventId{static_cast<std::uint32_t>(long_one) - 1});  // the send event
  CHECK(cause(a) == no_event);
  // The critical path is the whole step: one computing, eleven sending, one computing.
  CHECK(found.measures.critical_path.on[sending] == 11);
  CHECK(found.measures.critical_path.on[computing] == 2);
  CHECK(found.measures.critical_path.host == 0);
  Picoseconds length = 0;
  for (const auto& stretch : found.waits.critical_path) length += stretch.end - stretch.start;
  CHECK(length == found.trace.finish);
}

// Actor 1 waits for a collective from 1 to 4 and for a message from 2 to 6.
TEST_CASE("an instant at which a collective and a message go on counts once") {
  Program program;
  const auto before = pass(program, 0, 1);
  const std::array<Participant, 2> both{Participant{ActorId{0}, {before, no_event}},
                                        Participant{ActorId{1}}};
  const auto reduced = program.add_collective(Lane::data, 3, reducing, both);
  const auto arrival = send(program, 0, 1, 4, pass(program, 0, 1));
  pass(program, 1, 1, {arrival, program.event(reduced, 1)});
  const auto found = run_of(program);
  const auto& spent = found.measures.of_actor[1];
  CHECK(spent.on[reducing] == 3);
  CHECK(spent.on[sending] == 2);
  CHECK(spent.idle == 1);
  CHECK(spent.total() == found.trace.finish);
}

// compute  AAAAABBBB    tensor  .....aaa    nothing waits for the exchange at A's end
TEST_CASE("a pass is held back by the one before it, though that still exchanges when it begins") {
  Program program;
  const auto exchanging = program.add_template(
      {.steps = {{.activity = computing, .duration = 5},
                 {.lane = Lane::tensor, .activity = sending, .joins = 0, .duration = 3}}});
  const Participant who{ActorId{0}};
  const auto a = program.event(program.add_pass(exchanging, {&who, 1}));
  const auto b = pass(program, 0, 4);
  const auto found = run_of(program);
  REQUIRE(found.trace.start[static_cast<std::uint32_t>(b)] == 5);
  REQUIRE(found.trace.end[static_cast<std::uint32_t>(a)] == 8);
  CHECK(held_back_by(program, found.trace, found.waits.op_of, found.waits.lane_predecessor, b) ==
        a);
  REQUIRE(found.waits.critical_path.size() == 2);
  CHECK(found.waits.critical_path[0].event == b);
  CHECK(found.waits.critical_path[1].event == a);
  CHECK(found.waits.critical_path[1].start == 0);
  CHECK(found.waits.critical_path[1].end == 5);
}

}  // namespace waits_spec

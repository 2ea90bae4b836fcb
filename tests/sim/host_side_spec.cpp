// SPDX-License-Identifier: Apache-2.0
// Work on the host's side that a pass waits for, or does not.
#include <array>

#include "sim/engine.hpp"
#include "sim/measures.hpp"
#include "tests/catch.hpp"

namespace host_side_spec {

using namespace sim;

namespace {

constexpr Activity computing = 0, sending = 1, copying = 2;

// Actor 0 computes until 10, then copies; actor 1 computes until 20 and sends until 22. Then actor
// 0 computes once more, when the message is there and, perhaps, the copy.
//   0  ██████████ copy……
//   1  ████████████████████ →   0 ██████████
Spent waiting(Picoseconds copy, bool names_it) {
  Program program;
  const auto body = [&](Picoseconds ticks) {
    return program.add_template({.steps = {{.activity = computing, .duration = ticks}}});
  };
  const auto ten = body(10), twenty = body(20);
  const Participant first{ActorId{0}}, second{ActorId{1}};
  const auto done = program.event(program.add_pass(ten, {&first, 1}));
  const Participant out{ActorId{0}, {done, no_event}};
  const auto copied =
      program.event(program.add_collective(Lane::offload, copy, copying, {&out, 1}));
  const auto made = program.event(program.add_pass(twenty, {&second, 1}));
  const auto sent = program.add_transfer(Op::Kind::latency, 2, sending,
                                         {ActorId{1}, {made, no_event}}, ActorId{0});
  const Participant last{ActorId{0}, {program.event(sent, 1), names_it ? copied : no_event}};
  program.add_pass(ten, {&last, 1});
  return measure(program, run(program)).of_actor[0];
}

}  // namespace

TEST_CASE("only the part of a wait beyond all other waits is exposed") {
  const auto hidden = waiting(6, true);
  CHECK(hidden.on[copying] == 0);
  CHECK(hidden.on[sending] == 2);
  CHECK(hidden.idle == 10);

  const auto exposed = waiting(15, true);  // the copy ends at 25
  CHECK(exposed.on[copying] == 3);
  CHECK(exposed.on[sending] == 2);
  CHECK(exposed.idle == 10);
  CHECK(exposed.total() == 35);

  const auto nobodys = waiting(15, false);
  CHECK(nobodys.on[copying] == 0);
  CHECK(nobodys.total() == 32);
}

TEST_CASE("a copy that outlasts everything is exposed at the end") {
  const auto spent = waiting(30, false);  // the copy takes from 10 to 40
  CHECK(spent.on[copying] == 8);
  CHECK(spent.total() == 40);
}

TEST_CASE("copies out and copies back run side by side, each kind in order") {
  Program program;
  const Participant who{ActorId{0}};
  for (const auto lane : {Lane::offload, Lane::fetch, Lane::offload, Lane::fetch})
    program.add_collective(lane, 10, copying, {&who, 1});
  const auto trace = run(program);
  CHECK(trace.end == std::vector<Picoseconds>{10, 10, 20, 20});
}

}  // namespace host_side_spec

// SPDX-License-Identifier: Apache-2.0
// Runs that overlap: each actor begins again when it has ended itself.
#include "sim/measures.hpp"
#include "tests/catch.hpp"

namespace spans_spec {

using namespace sim;

namespace {

struct Two {
  Program program;
  EventId add(std::uint32_t actor, Picoseconds duration, Activity activity,
              std::array<EventId, 2> after = {no_event, no_event}) {
    const auto body =
        program.add_template({.steps = {{.activity = activity, .duration = duration}}});
    const Participant who{ActorId{actor}, after};
    return program.event(program.add_pass(body, {&who, 1}));
  }
  EventId send(std::uint32_t from, std::uint32_t to, EventId after, Picoseconds duration) {
    return program.event(program.add_transfer(Op::Kind::transfer, duration, 5,
                                              {ActorId{from}, {after, no_event}}, ActorId{to}),
                         1);
  }
};

}  // namespace

TEST_CASE("the longest span of overlapping runs counts, from its own start to its own end") {
  // 0: |--10--|           |-4-|        0 .. 10, 25 .. 29
  // 1:          |---12---|            12 .. 24
  Two two;
  const auto first = two.add(0, 10, 0);
  const auto there = two.send(0, 1, first, 2);
  const auto middle = two.add(1, 12, 1, {there, no_event});
  const auto back = two.send(1, 0, middle, 1);
  two.add(0, 4, 2, {back, no_event});
  const auto trace = run(two.program);
  const auto measures = measure(two.program, trace, Period::spans);
  CHECK(measures.length == 29);
  CHECK(measures.last == ActorId{0});
  CHECK(measures.of_actor[0].on[0] == 10);
  CHECK(measures.of_actor[0].idle + measures.of_actor[0].on[5] == 15);
  CHECK(measures.of_actor[1].on[1] == 12);
  CHECK(measures.of_actor[1].idle == 17);  // idle until the next run
  CHECK(measures.critical_path.total() == 29);
}

TEST_CASE("an actor that begins late is measured from its beginning, and so is its path") {
  // 0: |--10--|
  // 1:          |---12---| |-3-|   from 12 to 27
  Two two;
  const auto first = two.add(0, 10, 0);
  const auto there = two.send(0, 1, first, 2);
  const auto middle = two.add(1, 12, 1, {there, no_event});
  two.add(1, 3, 2, {middle, no_event});
  const auto trace = run(two.program);
  CHECK(measure(two.program, trace).length == 27);
  const auto measures = measure(two.program, trace, Period::spans);
  CHECK(measures.length == 15);
  CHECK(measures.last == ActorId{1});
  CHECK(measures.of_actor[0].idle == 5);
  CHECK(measures.of_actor[1].idle == 0);
  CHECK(measures.critical_path.on[0] == 0);
  CHECK(measures.critical_path.on[1] == 12);
  CHECK(measures.critical_path.total() == 15);
}

}  // namespace spans_spec

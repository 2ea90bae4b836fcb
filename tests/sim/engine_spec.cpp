// SPDX-License-Identifier: Apache-2.0
#include <random>

#include "sim/engine.hpp"
#include "sim/measures.hpp"
#include "sim/pass_matrix.hpp"
#include "tests/catch.hpp"

namespace engine_spec {

using namespace sim;

namespace {

constexpr Activity compute = 0, comm = 1, wire = 2;

Participant on(std::uint32_t actor, EventId after = no_event) {
  return {ActorId{actor}, {after, no_event}};
}

TemplateId pass_of(Program& program, Picoseconds duration) {
  return program.add_template({.steps = {{.duration = duration}}});
}

// A random pass of compute and collectives, some beside computation, with host launches.
Template random_template(std::mt19937& random, int steps) {
  const auto pick = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); };
  Template body;
  body.drains = pick(3) == 0;
  for (int i = 0; i < steps; ++i) {
    Step step{.issue = pick(40), .duration = pick(100)};
    if (i > 0 && pick(3) == 0) {
      step.lane = Lane::tensor;
      step.rendezvous = true;
      step.activity = comm;
    }
    if (i > 0 && (step.rendezvous || pick(3) == 0)) step.joins = pick(i);
    body.steps.push_back(step);
  }
  return body;
}

// A program of random passes of groups of actors, with transfers and collectives between them.
Program random_program(std::mt19937& random) {
  const auto pick = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); };
  Program program;
  const int actors = 1 + pick(4);
  std::vector<TemplateId> bodies;
  for (int i = 0; i < 3; ++i)
    bodies.push_back(program.add_template(random_template(random, 1 + pick(8))));
  std::vector<EventId> events;
  const auto some_event = [&] {
    return events.empty() || pick(2) == 0
               ? no_event
               : events[static_cast<std::size_t>(pick(static_cast<int>(events.size())))];
  };
  for (int i = 0; i < 40; ++i) {
    std::vector<Participant> who;
    for (int a = 0; a < actors; ++a)
      if (pick(2) == 0) who.push_back(on(static_cast<std::uint32_t>(a), some_event()));
    if (who.empty()) who.push_back(on(0, some_event()));
    switch (pick(4)) {
      case 0: {
        const auto kinds = {Op::Kind::transfer, Op::Kind::blocking, Op::Kind::latency};
        const auto to = ActorId{static_cast<std::uint32_t>(pick(actors))};
        const auto op =
            program.add_transfer(*(kinds.begin() + pick(3)), pick(200), wire, who.front(), to);
        events.push_back(program.event(op, 1));
        break;
      }
      case 1:
        events.push_back(program.event(program.add_collective(Lane::data, pick(200), comm, who)));
        break;
      default:
        events.push_back(
            program.event(program.add_pass(bodies[static_cast<std::size_t>(pick(3))], who)));
    }
  }
  return program;
}

}  // namespace

TEST_CASE("passes of one actor run one after the other") {
  Program program;
  const auto body = pass_of(program, 10);
  const auto who = on(0);
  program.add_pass(body, {&who, 1});
  program.add_pass(body, {&who, 1});
  const auto trace = run(program);
  CHECK(trace.start == std::vector<Picoseconds>{0, 10});
  CHECK(trace.end == std::vector<Picoseconds>{10, 20});
  CHECK(trace.finish == 20);
}

TEST_CASE("a pass waits for its input from another actor") {
  //  actor 0: |0 pass 10| ──transfer 5──▶ actor 1: |15 pass 25|
  Program program;
  const auto body = pass_of(program, 10);
  const auto first = on(0);
  const auto sent = program.event(program.add_pass(body, {&first, 1}));
  const auto arrival =
      program.event(program.add_transfer(Op::Kind::transfer, 5, wire, on(0, sent), ActorId{1}), 1);
  const auto second = on(1, arrival);
  program.add_pass(body, {&second, 1});
  const auto trace = run(program);
  CHECK(trace.finish == 25);
}

TEST_CASE("a blocking transfer occupies the sender's compute lane, a latency nothing") {
  const auto [kind, next] = GENERATE(table<Op::Kind, Picoseconds>(
      {{Op::Kind::blocking, 15}, {Op::Kind::transfer, 10}, {Op::Kind::latency, 10}}));
  Program program;
  const auto body = pass_of(program, 10);
  const auto who = on(0);
  const auto done = program.event(program.add_pass(body, {&who, 1}));
  program.add_transfer(kind, 5, wire, on(0, done), ActorId{1});
  const auto op = program.add_pass(body, {&who, 1});
  CHECK(run(program).start[static_cast<std::uint32_t>(program.event(op))] == next);
}

TEST_CASE("transfers of one sender queue on its send lane") {
  Program program;
  program.add_transfer(Op::Kind::transfer, 5, wire, on(0), ActorId{1});
  program.add_transfer(Op::Kind::transfer, 5, wire, on(0), ActorId{2});
  CHECK(run(program).finish == 10);
}

TEST_CASE("a rendezvous begins when the last of its actors is ready") {
  //  actor 0: compute 10, collective 3, compute 10     actor 1: enters 20 later
  Program program;
  const auto late = pass_of(program, 20);
  const auto body = program.add_template(
      {.steps = {{.duration = 10},
                 {.lane = Lane::tensor, .rendezvous = true, .joins = 0, .duration = 3},
                 {.joins = 1, .duration = 10}}});
  const auto one = on(1);
  program.add_pass(late, {&one, 1});
  const std::vector<Participant> both{on(0), on(1)};
  const auto op = program.add_pass(body, both);
  for (auto detail : {Detail::templates, Detail::every_step}) {
    const auto trace = run(program, detail);
    CHECK(trace.end[static_cast<std::uint32_t>(program.event(op, 0))] == 43);
    CHECK(trace.end[static_cast<std::uint32_t>(program.event(op, 1))] == 43);
  }
}

TEST_CASE("the host's launches hide behind the device until the device waits for the host") {
  // Three kernels of 10 are launched every 4, so the second and third launches are hidden.
  Program program;
  Template body{.steps = std::vector<Step>(3, Step{.issue = 4, .duration = 10})};
  const auto eager = program.add_template(body);
  body.drains = true;
  const auto drained = program.add_template(body);
  const auto who = on(0);
  program.add_pass(eager, {&who, 1});    // runs 4 … 34
  program.add_pass(eager, {&who, 1});    // host was done at 12: runs 34 … 64
  program.add_pass(drained, {&who, 1});  // host waits until 64: runs 68 … 98
  const auto trace = run(program);
  CHECK(trace.start == std::vector<Picoseconds>{4, 34, 68});
  CHECK(trace.finish == 98);
}

TEST_CASE("a pass played as a template ends in the same picosecond as played step by step") {
  const auto seed = GENERATE(range(0u, 300u));
  std::mt19937 random(seed);
  const auto program = random_program(random);
  const auto quick = run(program, Detail::templates);
  const auto slow = run(program, Detail::every_step);
  CHECK(quick.start == slow.start);
  CHECK(quick.end == slow.end);
  CHECK(quick.finish == slow.finish);
}

TEST_CASE("on the compute lane a pass takes the time that its matrix has for that lane") {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    const auto body = random_template(random, 1 + round % 9);
    const auto matrix = matrix_of(body);
    const auto longest =
        std::max(matrix.alone[to_compute][from_compute], matrix.joined[to_compute][from_compute]);
    CHECK(on_compute_lane(body) == std::max<Picoseconds>(0, longest));
  }
}

TEST_CASE("no op starts before its predecessors have ended") {
  const auto seed = GENERATE(range(0u, 100u));
  std::mt19937 random(seed);
  const auto program = random_program(random);
  const auto trace = run(program);
  for (const auto& op : program.ops())
    for (auto event = op.first; event < op.first + op.count; ++event)
      for (auto earlier : program.participants()[event].after)
        if (earlier != no_event)
          CHECK(trace.start[event] >= trace.end[static_cast<std::uint32_t>(earlier)]);
}

TEST_CASE("every picosecond of every actor is accounted for once, and so is the critical path") {
  const auto seed = GENERATE(range(0u, 300u));
  std::mt19937 random(seed);
  const auto program = random_program(random);
  const auto trace = run(program);
  const auto measures = measure(program, trace);
  for (const auto& spent : measures.of_actor) {
    CHECK(spent.total() == trace.finish);
    CHECK(spent.host >= 0);
    CHECK(spent.idle >= 0);
    for (auto on_activity : spent.on) CHECK(on_activity >= 0);
  }
  CHECK(measures.critical_path.total() == trace.finish);
}

TEST_CASE("exposed communication is the part that computation does not cover") {
  // A pass computes 10, then has a collective of 8 beside compute of 5, so 3 of the collective are
  // exposed.
  Program program;
  const auto body = program.add_template(
      {.steps = {
           {.activity = compute, .duration = 10},
           {.lane = Lane::tensor, .rendezvous = true, .activity = comm, .joins = 0, .duration = 8},
           {.activity = compute, .duration = 5},
           {.activity = compute, .joins = 1, .duration = 2}}});
  const auto who = on(0);
  program.add_pass(body, {&who, 1});
  const auto measures = measure(program, run(program));
  CHECK(measures.of_actor[0].on[compute] == 17);
  CHECK(measures.of_actor[0].on[comm] == 3);
  CHECK(spent_alone(program.templates()[0]).total() == 20);
}

TEST_CASE("waiting is the transfer's while it is under way and idle before") {
  // Actor 1 waits 10 for actor 0's pass and 5 for the transfer.
  Program program;
  const auto body = pass_of(program, 10);
  const auto who = on(0);
  const auto done = program.event(program.add_pass(body, {&who, 1}));
  const auto arrival =
      program.event(program.add_transfer(Op::Kind::transfer, 5, wire, on(0, done), ActorId{1}), 1);
  const auto next = on(1, arrival);
  program.add_pass(body, {&next, 1});
  const auto measures = measure(program, run(program));
  CHECK(measures.of_actor[1].idle == 10);
  CHECK(measures.of_actor[1].on[wire] == 5);
  CHECK(measures.of_actor[1].on[compute] == 10);
  CHECK(measures.of_actor[0].idle == 15);
  CHECK(measures.critical_path.on[compute] == 20);
  CHECK(measures.critical_path.on[wire] == 5);
  CHECK(measures.last == ActorId{1});
}

TEST_CASE("memory is the largest prefix sum of the bytes that passes hold, in program order") {
  Program program;
  const auto forward = program.add_template({.steps = {{}}, .held = 10, .peak = 13});
  const auto backward = program.add_template({.steps = {{}}, .held = -10, .peak = 4});
  const auto who = on(0);
  for (auto body : {forward, forward, backward, backward}) program.add_pass(body, {&who, 1});
  const auto held = memory_held(program).front();
  CHECK(held.peak == 24);  // 20 held, and 4 while the first backward runs
  CHECK(held.held_at_peak == 20);
  CHECK(held.left == 0);
}

TEST_CASE("a program refuses ops that could not be played") {
  Program program;
  CHECK_THROWS_WITH(program.add_template({}), "a pass needs at least one step");
  CHECK_THROWS_WITH(program.add_template({.steps = {{.joins = 0}}}),
                    "a step can only wait for steps before it");
  CHECK_THROWS_WITH(program.add_template({.steps = {{.lane = Lane::data}}}),
                    "the steps of a pass run on the compute or the tensor lane");
  CHECK_THROWS_WITH(program.add_template({.steps = {{.duration = -1}}}),
                    "a step cannot take negative time");
  const auto body = pass_of(program, 1);
  const auto unknown = on(0, EventId{7});
  CHECK_THROWS_WITH(program.add_pass(body, {&unknown, 1}),
                    "an op can only wait for events already added");
  CHECK_THROWS_WITH(program.add_pass(TemplateId{9}, {}), "a pass needs a template already added");
  CHECK_THROWS_WITH(program.add_pass(body, {}), "an op needs an actor");
  CHECK_THROWS_WITH(program.add_transfer(Op::Kind::pass, 1, 0, on(0), ActorId{1}),
                    "a transfer is a transfer, blocking or latency op");
}

TEST_CASE("among actors that leave a collective together, the one that it waited for ends last") {
  Program program;
  const auto brief = program.add_template({.steps = {{.duration = 3}}});
  const auto slow = program.add_template({.steps = {{.duration = 8}}});
  const auto pass = [&](TemplateId body, std::uint32_t actor) {
    const Participant who{ActorId{actor}, {no_event, no_event}};
    return program.event(program.add_pass(body, {&who, 1}));
  };
  const std::vector<Participant> all{{ActorId{0}, {pass(brief, 0), no_event}},
                                     {ActorId{1}, {pass(slow, 1), no_event}},
                                     {ActorId{2}, {pass(brief, 2), no_event}}};
  program.add_collective(Lane::data, 2, 1, all);
  const auto measures = measure(program, run(program));
  CHECK(measures.last == ActorId{1});
  CHECK(measures.of_actor[1].idle == 0);
  CHECK(measures.of_actor[0].idle + measures.of_actor[0].on[1] == 7);
}

}  // namespace engine_spec

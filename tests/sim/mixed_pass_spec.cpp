// SPDX-License-Identifier: Apache-2.0
// Passes whose actors run bodies of their own.
#include <random>

#include "sim/measures.hpp"
#include "tests/catch.hpp"

namespace mixed_pass_spec {

using namespace sim;

namespace {

constexpr Activity compute = 0, comm = 1;

Participant on(std::uint32_t actor, EventId after = no_event) {
  return {ActorId{actor}, {after, no_event}};
}

// A body that computes, meets for a collective, and computes.
Template body_of(Picoseconds kernel, Picoseconds collective) {
  return {.steps = {{.activity = compute, .duration = kernel},
                    {.lane = Lane::tensor,
                     .rendezvous = true,
                     .activity = comm,
                     .joins = 0,
                     .duration = collective},
                    {.activity = compute, .joins = 1, .duration = kernel}}};
}

class Random {
 public:
  explicit Random(unsigned seed) : random_(seed) {}
  int pick(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }

  Template body(int steps, bool meets) {
    Template body;
    body.drains = pick(3) == 0;
    for (int i = 0; i < steps; ++i) {
      Step step{.issue = pick(40), .duration = pick(100)};
      if (i > 0 && pick(3) == 0) {
        step.lane = Lane::tensor;
        step.rendezvous = meets;
        step.activity = comm;
      }
      if (i > 0 && (step.rendezvous || pick(3) == 0)) step.joins = pick(i);
      body.steps.push_back(step);
    }
    return body;
  }
  // The same body on a device of another speed.
  Template other(Template body) {
    for (auto& step : body.steps) {
      step.issue = pick(40);
      step.duration = pick(100);
    }
    return body;
  }

  std::mt19937 random_;
};

// A program of passes of two or three actors with bodies of their own, in two structures.
Program random_program(unsigned seed, bool meets, bool separate) {
  Random random(seed);
  Program program;
  std::vector<std::vector<TemplateId>> alike(2);
  for (auto& bodies : alike) {
    const auto first = random.body(1 + random.pick(6), meets);
    bodies.push_back(program.add_template(first));
    for (int i = 0; i < 2; ++i) bodies.push_back(program.add_template(random.other(first)));
  }
  std::vector<EventId> events{no_event};
  for (int i = 0; i < 25; ++i) {
    const auto& choice = alike[static_cast<std::size_t>(random.pick(2))];
    std::vector<Participant> who;
    std::vector<TemplateId> bodies;
    const auto count = 2 + static_cast<std::uint32_t>(random.pick(2));
    for (std::uint32_t a = 0; a < count; ++a) {
      const auto after = static_cast<std::size_t>(random.pick(static_cast<int>(events.size())));
      who.push_back(on(a, events[after]));
      bodies.push_back(choice[static_cast<std::size_t>(random.pick(3))]);
    }
    if (separate)
      for (std::uint32_t a = 0; a < count; ++a) program.add_pass(bodies[a], {&who[a], 1});
    else
      program.add_pass(bodies, who);
    for (std::uint32_t a = 0; a < count; ++a)
      events.push_back(EventId{static_cast<std::uint32_t>(events.size() - 1)});
  }
  return program;
}

}  // namespace

TEST_CASE("a slow member holds its group up at the rendezvous, and only there") {
  //   fast: |0 compute 10|    |20 collective 25|25 compute 35|
  //   slow: |0 compute    20| |20 collective 25|25 compute    45|
  Program program;
  const std::vector bodies{program.add_template(body_of(10, 5)),
                           program.add_template(body_of(20, 3))};
  const std::vector who{on(0), on(1)};
  program.add_pass(bodies, who);
  for (auto detail : {Detail::templates, Detail::every_step}) {
    const auto trace = run(program, detail);
    CHECK(trace.end == std::vector<Picoseconds>{35, 45});
    CHECK(trace.finish == 45);
  }
  const auto measures = measure(program, run(program));
  CHECK(measures.of_actor[0].on[compute] == 20);
  CHECK(measures.of_actor[0].on[comm] == 5);
  CHECK(measures.of_actor[0].host == 10);  // it waited for its partner
  CHECK(measures.of_actor[0].idle == 10);
  CHECK(measures.of_actor[1].on[compute] == 40);
  CHECK(measures.of_actor[1].on[comm] == 5);
  CHECK(measures.critical_path.on[compute] == 40);
  CHECK(measures.critical_path.on[comm] == 5);
}

TEST_CASE("the time that a member waits depends on its partner") {
  // A member computes for 10 and then meets for 1: a partner like itself, one that computes for 20,
  // and one for 30.
  Program program;
  std::vector<TemplateId> bodies;
  for (Picoseconds kernel : {10, 20, 30}) {
    auto body = body_of(kernel, 1);
    body.steps.back().duration = 0;
    bodies.push_back(program.add_template(body));
  }
  std::vector who{on(0), on(1)};
  for (auto partner : bodies) {
    const auto op = program.add_pass(std::vector{bodies.front(), partner}, who);
    who = {on(0, program.event(op, 0)), on(1, program.event(op, 1))};
  }
  const auto trace = run(program);
  CHECK(trace.finish == 11 + 21 + 31);
  const auto spent = measure(program, trace).of_actor[0];
  CHECK(spent.on[compute] == 30);
  CHECK(spent.on[comm] == 3);
  CHECK(spent.host == 10 + 20);
}

TEST_CASE("where all bodies are equal, the pass is an ordinary one") {
  Program program;
  const auto body = program.add_template(body_of(10, 3));
  const std::vector who{on(0), on(1)};
  program.add_pass(body, who);
  program.add_pass(std::vector{body, body}, who);
  CHECK(program.ops()[1].bodies == one_body);
  CHECK(program.ops()[1].body == program.ops()[0].body);
}

TEST_CASE("equal lists of bodies are kept once, and name each participant's own") {
  Program program;
  const auto a = program.add_template(body_of(10, 3)), b = program.add_template(body_of(20, 3));
  const std::vector who{on(0), on(1)};
  for (int i = 0; i < 3; ++i) program.add_pass(std::vector{a, b}, who);
  program.add_pass(std::vector{b, a}, who);
  program.add_pass(b, who);
  const auto& ops = program.ops();
  CHECK(ops[0].bodies == ops[2].bodies);
  CHECK(ops[0].bodies != ops[3].bodies);
  CHECK(program.body_of(ops[2], 0) == a);
  CHECK(program.body_of(ops[2], 1) == b);
  CHECK(program.body_of(ops[3], 0) == b);
  CHECK(program.body_of(ops[4], 1) == b);
}

TEST_CASE(
    "mixed passes give the same instants in either detail, and every picosecond counts once") {
  const auto seed = GENERATE(range(0u, 200u));
  const auto program = random_program(seed, true, false);
  const auto quick = run(program, Detail::templates), slow = run(program, Detail::every_step);
  CHECK(quick.start == slow.start);
  CHECK(quick.end == slow.end);
  const auto measures = measure(program, quick);
  for (const auto& spent : measures.of_actor) {
    CHECK(spent.total() == quick.finish);
    CHECK(spent.host >= 0);
    CHECK(spent.idle >= 0);
  }
  CHECK(measures.critical_path.total() == quick.finish);
}

TEST_CASE("without a rendezvous, a mixed pass is a pass of each actor") {
  const auto seed = GENERATE(range(0u, 100u));
  const auto mixed = random_program(seed, false, false), apart = random_program(seed, false, true);
  const auto trace = run(mixed), expected = run(apart);
  CHECK(trace.start == expected.start);
  CHECK(trace.end == expected.end);
  const auto measures = measure(mixed, trace), alone = measure(apart, expected);
  CHECK(measures.of_actor == alone.of_actor);
  CHECK(measures.busy == alone.busy);
}

TEST_CASE("a member holds the bytes of its own body") {
  Program program;
  const std::vector bodies{program.add_template({.steps = {{}}, .held = 10, .peak = 13}),
                           program.add_template({.steps = {{}}, .held = 20, .peak = 21})};
  const std::vector who{on(0), on(1)};
  program.add_pass(bodies, who);
  const auto held = memory_held(program);
  CHECK(held[0].peak == 13);
  CHECK(held[0].left == 10);
  CHECK(held[1].peak == 21);
  CHECK(held[1].left == 20);
}

TEST_CASE("a mixed pass needs a body for each actor, alike but for time and memory") {
  Program program;
  const auto body = body_of(10, 3);
  const auto first = program.add_template(body);
  const auto refuses = [&](const Template& other) {
    const std::vector who{on(0), on(1)};
    CHECK_THROWS_WITH(
        program.add_pass(std::vector{first, program.add_template(other)}, who),
        "bodies of one pass may differ only in the time and the memory that they take");
  };
  const std::vector who{on(0), on(1)};
  CHECK_THROWS_WITH(program.add_pass(std::vector{first}, who),
                    "a pass needs a body for each of its actors");
  CHECK_THROWS_WITH(program.add_pass(std::vector<TemplateId>{}, {}), "an op needs an actor");
  CHECK_THROWS_WITH(program.add_pass(std::vector{first, TemplateId{77}}, who),
                    "a pass needs a template already added");
  auto other = body;
  other.drains = true;
  refuses(other);
  other = body;
  other.steps.pop_back();
  refuses(other);
  other = body;
  other.steps[1].lane = Lane::compute;
  refuses(other);
  other = body;
  other.steps[1].rendezvous = false;
  refuses(other);
  other = body;
  other.steps[2].joins = 0;
  refuses(other);
  other = body;
  other.steps[2].activity = comm;
  refuses(other);
}

}  // namespace mixed_pass_spec

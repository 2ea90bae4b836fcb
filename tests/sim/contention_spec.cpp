// SPDX-License-Identifier: Apache-2.0
// Ops that share links: by pencil, and against the engine without sharing.
#include <random>

#include "sim/contention.hpp"
#include "sim/measures.hpp"
#include "tests/catch.hpp"

namespace contention_spec {

using namespace sim;

namespace {

constexpr double gigabyte = 1e9;
constexpr Picoseconds second = 1'000'000'000'000;

Participant on(std::uint32_t actor, EventId after = no_event) {
  return {ActorId{actor}, {after, no_event}};
}

// Adds a collective of one actor that sends `bytes` over the links.
OpId send(Program& program, std::uint32_t actor, double bytes, std::vector<Traffic::Use> links,
          double cap = 10 * gigabyte, EventId after = no_event, Picoseconds fixed = 0) {
  const auto who = on(actor, after);
  const auto op = program.add_collective(Lane::data, fixed, 1, {&who, 1});
  program.send_over_links(op, program.add_traffic({std::move(links), bytes, cap}));
  return op;
}

Picoseconds end_of(const Program& program, const Trace& trace, OpId op) {
  return trace.end[static_cast<std::uint32_t>(program.event(op))];
}

}  // namespace

TEST_CASE("alone, traffic takes its fixed part and its bytes over its rate") {
  Program program;
  const auto nic = program.add_link(10 * gigabyte);
  const auto op = send(program, 0, 20 * gigabyte, {{nic}}, 10 * gigabyte, no_event, 5);
  CHECK(end_of(program, run(program), op) == 2 * second + 5);
}

TEST_CASE("two rings over one NIC take twice as long") {
  Program program;
  const auto nic = program.add_link(10 * gigabyte);
  const auto a = send(program, 0, 10 * gigabyte, {{nic}});
  const auto b = send(program, 1, 10 * gigabyte, {{nic}});
  const auto trace = run(program);
  CHECK(end_of(program, trace, a) == 2 * second);
  CHECK(end_of(program, trace, b) == 2 * second);
  CHECK(utilisation(program, trace) == std::vector<double>{1.0});
}

TEST_CASE("an oversubscribed spine slows only the ops that cross it") {
  //   actor 0 ── nic 0 (10) ──┐
  //   actor 1 ── nic 1 (10) ──┴── spine (10)        actor 2 ── nic 2 (10), same leaf
  Program program;
  std::vector<LinkId> nic;
  for (int i = 0; i < 3; ++i) nic.push_back(program.add_link(10 * gigabyte));
  const auto spine = program.add_link(10 * gigabyte);
  const auto a = send(program, 0, 10 * gigabyte, {{nic[0]}, {spine}});
  const auto b = send(program, 1, 10 * gigabyte, {{nic[1]}, {spine}});
  const auto c = send(program, 2, 10 * gigabyte, {{nic[2]}});
  const auto trace = run(program);
  CHECK(end_of(program, trace, a) == 2 * second);
  CHECK(end_of(program, trace, b) == 2 * second);
  CHECK(end_of(program, trace, c) == 1 * second);
}

TEST_CASE("a transfer slows a reduction only while both last, and ops behind them start later") {
  // The reduction sends 20 GB and the transfer 5 GB from 0 on over a NIC of 10 GB/s. They take 5
  // GB/s each until 1 s, then the reduction alone sends 15 GB at 10 GB/s until 2.5 s.
  Program program;
  const auto nic = program.add_link(10 * gigabyte);
  const auto reduction = send(program, 0, 20 * gigabyte, {{nic}});
  const auto transfer = program.add_transfer(Op::Kind::transfer, 0, 2, on(0), ActorId{1});
  program.send_over_links(transfer, program.add_traffic({{{nic}}, 5 * gigabyte, 10 * gigabyte}));
  const auto body = program.add_template({.steps = {{.duration = second}}});
  const auto next = on(1, program.event(transfer, 1));
  const auto pass = program.add_pass(body, {&next, 1});
  const auto trace = run(program);
  CHECK(end_of(program, trace, transfer) == 1 * second);
  CHECK(end_of(program, trace, pass) == 2 * second);
  CHECK(end_of(program, trace, reduction) == 5 * second / 2);
}

TEST_CASE("traffic that loads a link twice gets half of it") {
  Program program;
  const auto nic = program.add_link(10 * gigabyte);
  const auto op = send(program, 0, 10 * gigabyte, {{nic, 2}});
  CHECK(end_of(program, run(program), op) == 2 * second);
}

TEST_CASE("where traffic never meets, ops last as long as on an idle network") {
  const auto seed = GENERATE(range(0u, 50u));
  std::mt19937 random(seed);
  const auto pick = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); };
  Program program, idle;  // equal, with durations in place of traffic
  for (auto* each : {&program, &idle})
    each->add_template({.steps = {{.issue = 3, .duration = 1000}}});
  std::vector<EventId> events{no_event};
  for (int i = 0; i < 30; ++i) {
    const auto actor = static_cast<std::uint32_t>(pick(3));
    const auto who =
        on(actor, events[static_cast<std::size_t>(pick(static_cast<int>(events.size())))]);
    if (pick(2) == 0) {
      events.push_back(program.event(program.add_pass(TemplateId{0}, {&who, 1})));
      idle.add_pass(TemplateId{0}, {&who, 1});
    } else {
      // Each op has a link of its own, so that its traffic meets no other.
      const auto link = program.add_link((1 + pick(8)) * gigabyte);
      const auto op =
          send(program, actor, 1e3 * pick(100), {{link}}, 4 * gigabyte, who.after[0], pick(500));
      events.push_back(program.event(op));
      idle.add_collective(Lane::data,
                          idle_duration(program, program.ops()[static_cast<std::size_t>(op)]), 1,
                          {&who, 1});
    }
  }
  const auto shared = run(program), alone = run(idle);
  // Both round a completion up to the next picosecond, once for each op along a chain.
  for (std::size_t event = 0; event < alone.end.size(); ++event)
    CHECK(std::abs(alone.end[event] - shared.end[event]) <= 30);
  CHECK(shared.steps == alone.steps);
}

TEST_CASE("sharing never ends a run before the idle network would, and adds up") {
  const auto seed = GENERATE(range(0u, 100u));
  std::mt19937 random(seed + 500);
  const auto pick = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); };
  Program program;
  std::vector<LinkId> links;
  for (int i = 0; i < 3; ++i) links.push_back(program.add_link((1 + pick(4)) * gigabyte));
  std::vector<OpId> ops;
  for (int i = 0; i < 12; ++i)
    ops.push_back(send(program, static_cast<std::uint32_t>(i), 1e6 * (1 + pick(50)),
                       {{links[static_cast<std::size_t>(pick(3))]}}, gigabyte, no_event,
                       pick(1000)));
  const auto trace = run(program);
  for (auto op : ops)
    CHECK(end_of(program, trace, op) + 1 >=
          idle_duration(program, program.ops()[static_cast<std::size_t>(op)]));
  for (double share : utilisation(program, trace)) CHECK(share <= 1 + 1e-9);
  for (const auto& spent : measure(program, trace).of_actor) CHECK(spent.total() == trace.finish);
}

TEST_CASE("links and traffic that make no sense are refused") {
  Program program;
  CHECK_THROWS_WITH(program.add_link(0), "a link needs a bandwidth above zero");
  CHECK_THROWS_WITH(program.add_traffic({}), "traffic needs a link to cross");
  CHECK_THROWS_WITH(program.add_traffic({{{LinkId{0}}}, 1, 1}),
                    "traffic can only cross links already added");
  const auto link = program.add_link(1);
  CHECK_THROWS_WITH(program.add_traffic({{{link}}, 1, 0}),
                    "traffic needs bytes and a rate above zero");
  const auto who = on(0);
  const auto op = program.add_pass(program.add_template({.steps = {{}}}), {&who, 1});
  CHECK_THROWS_WITH(program.send_over_links(op, 0),
                    "only collectives and transfers send traffic already added");
}

}  // namespace contention_spec

// SPDX-License-Identifier: Apache-2.0
// The ops that slow other ops down.
#include <map>
#include <random>
#include <tuple>

#include "sim/contention.hpp"
#include "tests/catch.hpp"

namespace slowed_spec {

using namespace sim;

namespace {

constexpr double gigabyte = 1e9;
constexpr Picoseconds second = 1'000'000'000'000;

// Adds a collective of one actor that sends `bytes` over the links.
OpId send(Program& program, std::uint8_t kind, std::uint32_t actor, double bytes,
          std::vector<Traffic::Use> links, double cap = 10 * gigabyte, EventId after = no_event) {
  const Participant who{ActorId{actor}, {after, no_event}};
  const auto op = program.add_collective(Lane::data, 0, 1, {&who, 1}, {kind});
  program.send_over_links(op, program.add_traffic({std::move(links), bytes, cap}));
  return op;
}

// A program of ops that need `alone` picoseconds each, with a trace that the test makes.
struct Drawn {
  Program program;
  Trace trace;

  void op(std::uint8_t kind, std::uint32_t actor, Picoseconds alone,
          std::vector<Traffic::Use> links, Picoseconds start, Picoseconds end) {
    send(program, kind, actor, static_cast<double>(alone), std::move(links), 1e12);
    trace.start.push_back(start);
    trace.end.push_back(end);
  }
};

// Whether link b counts before link a where demand is equal: it has more traffic of the first kind
// in which they differ.
bool later(const std::map<std::uint8_t, double>& a, const std::map<std::uint8_t, double>& b) {
  for (int kind = 0; kind < 256; ++kind) {
    const auto of = [&](const auto& weights) {
      const auto found = weights.find(static_cast<std::uint8_t>(kind));
      return found == weights.end() ? 0.0 : found->second;
    };
    if (of(a) != of(b)) return of(a) < of(b);
  }
  return false;
}

// The losses by brute force: every pair of ops on every link.
std::vector<Slowed> obvious(const Program& program, const Trace& trace) {
  using Weights = std::map<std::uint8_t, double>;
  std::map<std::tuple<int, int, int>, std::map<LinkId, Picoseconds>> charged;  // lost, took, actor
  const auto times_on = [&](std::size_t i, LinkId link) {
    std::int64_t times = 0;
    for (const auto& use : program.traffic()[program.ops()[i].traffic].links)
      if (use.link == link) times += use.times;
    return times;
  };
  for (std::size_t i = 0; i < program.ops().size(); ++i) {
    const auto& traffic = program.traffic()[program.ops()[i].traffic];
    const auto length = trace.end[i] - trace.start[i];
    const auto lost = length - static_cast<Picoseconds>(traffic.bytes);
    double most = 0, demand = 0;
    Weights heaviest;
    LinkId where{};
    for (std::uint32_t l = 0; l < program.links().size(); ++l) {
      if (times_on(i, LinkId{l}) == 0) continue;
      Weights weights;
      double sum = 0, all = 0;
      for (std::size_t j = 0; j < program.ops().size(); ++j) {
        const auto times = times_on(j, LinkId{l}) - (i == j);
        const auto both =
            std::min(trace.end[i], trace.end[j]) - std::max(trace.start[i], trace.start[j]);
        if (both > 0) all += static_cast<double>(times_on(j, LinkId{l}) * both);
        if (times == 0 || both <= 0) continue;
        weights[program.labels()[j].kind] += static_cast<double>(times * both);
        sum += static_cast<double>(times * both);
      }
      all /= program.links()[l];
      if (sum == 0 || all < demand) continue;
      if (all == demand && !later(heaviest, weights)) continue;
      demand = all;
      most = sum;
      heaviest = weights;
      where = LinkId{l};
    }
    if (lost <= 0 || most == 0) continue;
    auto top = heaviest.begin();
    for (auto k = heaviest.begin(); k != heaviest.end(); ++k)
      if (k->second > top->second) top = k;
    auto rest = lost;
    const auto actor = static_cast<int>(program.participants()[i].actor);
    const int of = program.labels()[i].kind;
    for (const auto& [by, weight] : heaviest) {
      if (by == top->first) continue;
      const auto share = static_cast<Picoseconds>(static_cast<double>(lost) * (weight / most));
      if (share > 0) charged[{of, by, actor}][where] += share;
      rest -= share;
    }
    charged[{of, top->first, actor}][where] += rest;
  }
  std::map<std::pair<int, int>, Slowed> worst;
  for (const auto& [who, links] : charged) {
    const auto [of, by, actor] = who;
    Slowed sum{static_cast<std::uint8_t>(of), static_cast<std::uint8_t>(by), {}, 0};
    Picoseconds most = 0;
    for (const auto& [link, lost] : links) {
      sum.lost += lost;
      if (lost > most) sum.where = link;
      most = std::max(most, lost);
    }
    const auto known = worst.try_emplace({of, by}, sum).first;
    if (sum.lost > known->second.lost) known->second = sum;
  }
  std::vector<Slowed> found;
  for (const auto& [pair, slowed] : worst) found.push_back(slowed);
  std::ranges::stable_sort(found, std::greater<>(), &Slowed::lost);
  return found;
}

}  // namespace

TEST_CASE("two ops that share a link lose to each other the time that each waits for the other") {
  // Ops of 20 GB and 5 GB share 10 GB/s: 5 GB/s each until 1 s, then one alone until 2.5 s. Each
  // loses half a second.
  Program program;
  const auto nic = program.add_link(10 * gigabyte);
  send(program, 2, 0, 20 * gigabyte, {{nic}});
  send(program, 1, 1, 5 * gigabyte, {{nic}});
  CHECK(slowed(program, run(program)) ==
        std::vector<Slowed>{{1, 2, nic, second / 2}, {2, 1, nic, second / 2}});
}

TEST_CASE("an op that loads a link four times loses three quarters of its time to its own kind") {
  Program program;
  const auto nic = program.add_link(10 * gigabyte);
  send(program, 7, 0, 10 * gigabyte, {{nic, 4}});
  CHECK(slowed(program, run(program)) == std::vector<Slowed>{{7, 7, nic, 3 * second}});
}

TEST_CASE("an op that has its links to itself loses to no other, however narrow they are") {
  Program program;
  send(program, 1, 0, 10 * gigabyte, {{program.add_link(2 * gigabyte)}});
  const auto first = send(program, 1, 1, 10 * gigabyte, {{program.add_link(10 * gigabyte)}});
  send(program, 1, 1, 10 * gigabyte, {{LinkId{1}}}, 10 * gigabyte, program.event(first));
  CHECK(slowed(program, run(program)).empty());
}

TEST_CASE("a loss is divided by how long the others were there, and how many they were") {
  //  |0            kind 1, needs 3           10|    loses 7, to 2 and to 2 x 1: half and half,
  //  |0 kind 2 2|        |5 kind 3, twice 6|        and the odd one to the first
  Drawn drawn;
  drawn.program.add_link(1e12);
  drawn.op(1, 0, 3, {{LinkId{0}}}, 0, 10);
  drawn.op(2, 1, 2, {{LinkId{0}}}, 0, 2);
  drawn.op(3, 2, 1, {{LinkId{0}, 2}}, 5, 6);
  CHECK(slowed(drawn.program, drawn.trace) ==
        std::vector<Slowed>{{1, 2, LinkId{0}, 4}, {1, 3, LinkId{0}, 3}});
}

TEST_CASE("a loss is charged on the link most in demand, and the actor that lost most is shown") {
  // Actor 0 crosses links 0 and 1 and loses 6: other traffic takes 2 picoseconds on link 0, 5 on
  // link 1.
  Drawn drawn;
  for (int i = 0; i < 2; ++i) drawn.program.add_link(1e12);
  drawn.op(1, 0, 4, {{LinkId{0}}, {LinkId{1}}}, 0, 10);
  drawn.op(2, 1, 2, {{LinkId{0}}}, 0, 2);
  drawn.op(2, 2, 5, {{LinkId{1}}}, 5, 10);
  CHECK(slowed(drawn.program, drawn.trace) == std::vector<Slowed>{{1, 2, LinkId{1}, 6}});
  // Actor 3 loses 4 on link 0, twice.
  for (const Picoseconds from : {20, 30}) {
    drawn.op(1, 3, 1, {{LinkId{0}}}, from, from + 5);
    drawn.op(2, 1, 5, {{LinkId{0}}}, from, from + 5);
  }
  CHECK(slowed(drawn.program, drawn.trace) == std::vector<Slowed>{{1, 2, LinkId{0}, 8}});
}

TEST_CASE("a sweep finds the losses that a look at every pair finds") {
  const auto seed = GENERATE(range(0u, 200u));
  std::mt19937 random(seed);
  const auto pick = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); };
  Drawn drawn;
  for (const double capacity : {1e12, 2e12, 1e12}) drawn.program.add_link(capacity);
  for (int i = 0; i < 40; ++i) {
    std::vector<Traffic::Use> uses;
    for (auto hops = 1 + pick(3); hops > 0; --hops)
      uses.push_back(
          {LinkId{static_cast<std::uint32_t>(pick(3))}, 1 + static_cast<std::uint32_t>(pick(3))});
    const Picoseconds alone = pick(50), start = pick(500);
    drawn.op(static_cast<std::uint8_t>(pick(4)), static_cast<std::uint32_t>(pick(4)), alone, uses,
             start, start + alone + pick(100));
  }
  CHECK(slowed(drawn.program, drawn.trace) == obvious(drawn.program, drawn.trace));
}

TEST_CASE("k groups alike lose as much as one of them whose traffic counts k times") {
  // Group g has two actors and two NICs of its own (links 1 and 2 of group 0); all cross the spine,
  // link 0.
  const auto seed = GENERATE(range(0u, 100u));
  std::mt19937 random(seed);
  const auto pick = [&](std::uint32_t n) {
    return std::uniform_int_distribution<std::uint32_t>(0, n - 1)(random);
  };
  const auto groups = 2 + pick(4);
  Program folded, full;
  const double spine = gigabyte * (1 + pick(20));
  folded.add_link(spine);
  full.add_link(spine);
  for (int nic = 0; nic < 2; ++nic) folded.add_link(4 * gigabyte);
  for (std::uint32_t nic = 0; nic < 2 * groups; ++nic) full.add_link(4 * gigabyte);
  for (int i = 0; i < 12; ++i) {
    const auto kind = static_cast<std::uint8_t>(pick(3));
    const auto actor = pick(2), nic = pick(2);
    const double bytes = 1e6 * (1 + pick(20));
    const bool crosses = pick(3) > 0;
    const auto route = [&](std::uint32_t group, std::uint32_t times) {
      std::vector<Traffic::Use> uses{{LinkId{1 + 2 * group + nic}}};
      if (crosses) uses.push_back({LinkId{0}, times});
      return uses;
    };
    send(folded, kind, actor, bytes, route(0, groups), 3 * gigabyte);
    for (std::uint32_t group = 0; group < groups; ++group)
      send(full, kind, 2 * group + actor, bytes, route(group, 1), 3 * gigabyte);
  }
  CHECK(slowed(folded, run(folded)) == slowed(full, run(full)));
}

}  // namespace slowed_spec

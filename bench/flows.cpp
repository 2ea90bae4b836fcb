// SPDX-License-Identifier: Apache-2.0
// Flows on a fat tree of 1,024 hosts, as collectives and expert traffic ask them of the network
// model. Other simulators need this CPU time for these very problems on one core of a machine of
// two: SimGrid 3.32 needs 105 s for the skewed all-to-all of 128 ranks and 43 s for the equal one
// of 256, LogGOPSim (no contention) 9.9 s for the ring.
#include "sim/flows/flows.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace {

using Links = std::vector<std::uint32_t>;
using Ranks = std::vector<std::uint32_t>;  // host of each rank

// Three tiers of switches with 16 ports, 8 hosts to an edge switch, 8 edge switches to a pod. The
// destination chooses the way up (D-mod-k), and the way down is the same for all.
struct FatTree {
  static constexpr std::uint32_t half = 8, hosts = 1024;
  static constexpr double bandwidth = 25e9;  // bytes/s of every link

  // Blocks of links: from hosts up, down to hosts, then per switch the eight to the tier above and
  // the eight from it.
  enum Block : std::uint32_t { host_up, host_down, edge_up, edge_down, pod_up, pod_down, blocks };

  static std::uint32_t link(Block block, std::uint32_t index) { return block * hosts + index; }
  static std::vector<double> capacities() { return std::vector<double>(blocks * hosts, bandwidth); }

  static Links route(std::uint32_t from, std::uint32_t to) {
    const auto edge = from / half, last_edge = to / half;
    const auto pod = edge / half, last_pod = last_edge / half;
    const auto plane = to % half, spine = to / half % half;
    Links way{link(host_up, from)};
    if (edge != last_edge) way.push_back(link(edge_up, edge * half + plane));
    if (pod != last_pod) {
      way.push_back(link(pod_up, (pod * half + plane) * half + spine));
      way.push_back(link(pod_down, (last_pod * half + plane) * half + spine));
    }
    if (edge != last_edge) way.push_back(link(edge_down, last_edge * half + plane));
    way.push_back(link(host_down, to));
    return way;
  }
};

Ranks neighbours(std::uint32_t count) {
  Ranks ranks(count);
  std::iota(ranks.begin(), ranks.end(), 0u);
  return ranks;
}

Ranks scattered(std::uint32_t count) {
  auto ranks = neighbours(FatTree::hosts);
  std::shuffle(ranks.begin(), ranks.end(), std::mt19937(1));
  ranks.resize(count);
  return ranks;
}

struct Message {
  Links links;
  double bytes;
};

// Every rank sends every other one a megabyte, or a lognormal number of bytes around it.
std::vector<Message> all_to_all(const Ranks& ranks, double sigma) {
  std::mt19937 random(42);
  std::lognormal_distribution<double> size(0.0, sigma);
  std::vector<Message> messages;
  for (const auto from : ranks)
    for (const auto to : ranks)
      if (from != to)
        messages.push_back({FatTree::route(from, to), sigma > 0 ? 1e6 * size(random) : 1e6});
  return messages;
}

// The timed part makes paths and flows; the network and the routes are made before.
void play(benchmark::State& state, const std::vector<Message>& messages) {
  const auto capacities = FatTree::capacities();
  std::int64_t completions = 0;
  for (auto _ : state) {
    sim::SharedNetwork network(capacities);
    network.reserve(messages.size(), 6 * messages.size(), messages.size());
    for (const auto& message : messages) network.start(network.path(message.links), message.bytes);
    while (const auto next = network.next_completion()) {
      network.advance_to_completion(*next);
      ++completions;
    }
    state.counters["makespan_us"] = static_cast<double>(network.now()) * 1e-6;
  }
  state.counters["flows"] = static_cast<double>(messages.size());
  state.counters["solves"] =
      static_cast<double>(completions) / static_cast<double>(state.iterations());
}

void skewed_all_to_all(benchmark::State& state) {
  play(state, all_to_all(neighbours(static_cast<std::uint32_t>(state.range(0))), 1.0));
}
void skewed_all_to_all_scattered(benchmark::State& state) {
  play(state, all_to_all(scattered(static_cast<std::uint32_t>(state.range(0))), 1.0));
}
void equal_all_to_all(benchmark::State& state) {
  play(state, all_to_all(neighbours(static_cast<std::uint32_t>(state.range(0))), 0.0));
}

// A ring has 2 (n - 1) steps; a rank sends its next message when the one before has arrived.
void ring_all_reduce(benchmark::State& state) {
  constexpr std::uint32_t ranks = FatTree::hosts, steps = 2 * (ranks - 1);
  const auto capacities = FatTree::capacities();
  for (auto _ : state) {
    sim::SharedNetwork network(capacities);
    std::vector<sim::PathId> paths;
    for (std::uint32_t r = 0; r < ranks; ++r)
      paths.push_back(network.path(FatTree::route(r, (r + 1) % ranks)));
    std::vector<std::uint32_t> sender, sent(ranks, 0);
    const auto send = [&](std::uint32_t rank) {
      if (sent[rank]++ == steps) return;
      network.start(paths[rank], 1e6);
      sender.push_back(rank);
    };
    for (std::uint32_t r = 0; r < ranks; ++r) send(r);
    while (const auto next = network.next_completion())
      for (const auto& done : network.advance_to_completion(*next))
        send((sender[static_cast<std::uint32_t>(done.flow)] + 1) % ranks);
    state.counters["messages"] = static_cast<double>(sender.size());
    state.counters["makespan_us"] = static_cast<double>(network.now()) * 1e-6;
  }
}

// The same ring with one rank for all of them.
void ring_all_reduce_class(benchmark::State& state) {
  constexpr std::uint32_t steps = 2 * (FatTree::hosts - 1);
  for (auto _ : state) {
    sim::SharedNetwork network(std::vector(6, FatTree::bandwidth));
    const auto path = network.path(std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5});
    for (std::uint32_t step = 0; step < steps; ++step) {
      network.start(path, 1e6);
      network.advance_to_completion(*network.next_completion());
    }
    state.counters["makespan_us"] = static_cast<double>(network.now()) * 1e-6;
  }
}

}  // namespace

BENCHMARK(skewed_all_to_all)->Arg(32)->Arg(64)->Arg(128)->Unit(benchmark::kMillisecond);
BENCHMARK(skewed_all_to_all_scattered)->Arg(64)->Arg(128)->Unit(benchmark::kMillisecond);
BENCHMARK(equal_all_to_all)->Arg(64)->Arg(128)->Arg(256)->Unit(benchmark::kMillisecond);
BENCHMARK(ring_all_reduce)->Unit(benchmark::kMillisecond);
BENCHMARK(ring_all_reduce_class)->Unit(benchmark::kMillisecond);

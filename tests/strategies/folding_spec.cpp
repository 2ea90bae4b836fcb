// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <random>
#include <set>
#include <string>

#include "strategies/colours.hpp"
#include "strategies/folding.hpp"
#include "tests/catch.hpp"
#include "tests/strategies/small_world.hpp"

namespace folding_spec {

using namespace strategies;
using tests::cluster_of, tests::one_copy;

namespace {

// The links that a rank's flow crosses, by name: "2*nic0.0:out nic0.0:in".
std::string crossed(const Folding& folding, FlowKind kind, std::int64_t rank) {
  std::set<std::string> names;
  for (const auto& [link, times] : folding.uses(kind, rank))
    names.insert((times > 1 ? std::to_string(times) + "*" : "") +
                 folding.ports().name(folding.links()[static_cast<std::size_t>(link)].port));
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : " ") + name;
  return text;
}

std::vector<Colours::Colour> colours_of(std::size_t vertices,
                                        const std::vector<std::pair<int, int>>& edges) {
  Colours graph;
  for (std::size_t v = 0; v < vertices; ++v) graph.add({0});
  for (const auto& [a, b] : edges)
    graph.join(static_cast<Colours::Vertex>(a), static_cast<Colours::Vertex>(b), 0, 0);
  return graph.stable();
}

}  // namespace

TEST_CASE("a path is coloured by the distance from its ends") {
  CHECK(colours_of(5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}}) ==
        std::vector<Colours::Colour>{0, 1, 2, 1, 0});
}

TEST_CASE("vertices of a ring cannot be told apart, unless one is marked") {
  Colours ring, marked;
  for (std::uint64_t v = 0; v < 6; ++v) {
    ring.add({1});
    marked.add({v == 2 ? 7ull : 1ull});
  }
  for (std::uint32_t v = 0; v < 6; ++v) {
    ring.join(v, (v + 1) % 6, 1, 2);
    marked.join(v, (v + 1) % 6, 0, 0);
  }
  CHECK(ring.stable() == std::vector<Colours::Colour>(6, 0));
  CHECK(marked.stable() == std::vector<Colours::Colour>{0, 1, 2, 1, 0, 3});
}

TEST_CASE("colours are equitable: alike vertices have as many neighbours of every colour") {
  std::mt19937 random(GENERATE(range(0u, 50u)));
  const auto upto = [&](std::uint32_t most) {
    return std::uniform_int_distribution<std::uint32_t>(0, most)(random);
  };
  const auto count = 2 + upto(30);
  Colours graph;
  std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> edges;
  for (std::uint32_t v = 0; v < count; ++v) graph.add({upto(1), 5});
  for (auto e = upto(60); e > 0; --e) {
    const auto a = upto(count - 1), b = upto(count - 1), kind = upto(1);
    graph.join(a, b, kind, kind + 2);
    edges.emplace_back(a, b, kind);
    edges.emplace_back(b, a, kind + 2);
  }
  const auto colours = graph.stable();
  std::map<std::uint32_t, std::map<std::pair<std::uint32_t, std::uint32_t>, int>> first;
  for (std::uint32_t v = 0; v < count; ++v) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, int> around;
    for (const auto& [from, to, kind] : edges)
      if (from == v) ++around[{kind, colours[to]}];
    CHECK(first.try_emplace(colours[v], around).first->second == around);
  }
}

TEST_CASE("two rings over one NIC load it twice") {
  const auto cluster = cluster_of(32, 8, 4);
  const Folding folding(Placement({.tensor = 8, .data = 4}), cluster, one_copy, Ranks::folded);
  CHECK(folding.representative().size() == 1);
  CHECK(folding.multiplicity().front() == 32);
  CHECK(crossed(folding, FlowKind::ring, 0) == "2*nic0.0:in 2*nic0.0:out");
}

TEST_CASE("every rank on its own, each ring loads every NIC that it uses once") {
  const auto cluster = cluster_of(32, 8, 4);
  const Folding folding(Placement({.tensor = 8, .data = 4}), cluster, one_copy, Ranks::full);
  CHECK(folding.representative().size() == 32);
  CHECK(crossed(folding, FlowKind::ring, 5) ==
        "nic0.2:in nic0.2:out nic1.2:in nic1.2:out nic2.2:in nic2.2:out nic3.2:in nic3.2:out");
}

TEST_CASE("pipeline neighbours send over the NICs of their nodes") {
  const auto cluster = cluster_of(16);
  const Folding folding(Placement({.tensor = 8, .pipeline = 2}), cluster, one_copy, Ranks::folded);
  CHECK(folding.representative() == std::vector<std::int64_t>{0, 8});
  CHECK(crossed(folding, FlowKind::onward, 0) == "nic0.0:out nic1.0:in");
  CHECK(crossed(folding, FlowKind::back, 8) == "nic0.0:in nic1.0:out");
  CHECK(crossed(folding, FlowKind::ring, 0).empty());
  for (const auto& link : folding.links()) CHECK(link.alike == 8);
}

TEST_CASE("states sharded within nodes are summed by as many rings as a node has members") {
  const auto cluster = cluster_of(32);
  const Folding folding(Placement({.tensor = 2, .data = 16}), cluster, 4, Ranks::folded);
  CHECK(crossed(folding, FlowKind::ring, 0) == "nic0.0:in nic0.0:out");
  CHECK(crossed(folding, FlowKind::inside, 0) == "gpu0.nvlink:in gpu0.nvlink:out");
}

// Sixteen replicas of two tensor-parallel ranks: four of a group lie on a node, so two groups of
// two do, and one of eight on two nodes. The ring of eight has four channels, one for each NIC that
// its four ranks of a node are next to: all but one of a node's hops carry three of these.
TEST_CASE("shard groups that are parts of nodes, or whole nodes, have rings of their own") {
  const auto cluster = cluster_of(32);
  const auto folding = [&](std::int64_t shards) {
    return Folding(Placement({.tensor = 2, .data = 16}), cluster, shards, Ranks::folded);
  };
  CHECK(crossed(folding(2), FlowKind::inside, 0) == "gpu0.nvlink:in gpu0.nvlink:out");
  CHECK(crossed(folding(2), FlowKind::ring, 0) ==
        "gpu0.nvlink:in gpu0.nvlink:out nic0.0:in nic0.0:out");
  CHECK(crossed(folding(8), FlowKind::inside, 0) ==
        "3*gpu0.nvlink:in 3*gpu0.nvlink:out nic0.0:in nic0.0:out");
  CHECK(crossed(folding(8), FlowKind::ring, 0) == "nic0.0:in nic0.0:out");
  CHECK(crossed(folding(1), FlowKind::inside, 0).empty());
  CHECK(crossed(folding(16), FlowKind::ring, 0) == crossed(folding(one_copy), FlowKind::ring, 0));
}

TEST_CASE("a straggler splits its own neighbourhood and nothing else") {
  auto cluster = cluster_of(8 * 4 * 1024);
  cluster.stragglers = {{{8 * 1024 + 3}, 1.5}};
  const Placement placement({.tensor = 8, .pipeline = 4, .data = 1024});
  const Folding folding(placement, cluster, one_copy, Ranks::folded);
  // The straggler's stage is split into itself, its tensor group, and the rest of its replica's
  // ranks by their place.
  CHECK(folding.ranks().size() == 2 * 8 * 4);
  CHECK(folding.actor_of(8 * 1024 + 3) != folding.actor_of(8 * 1024 + 4));
  CHECK(folding.actor_of(8 * 1024 + 4) == folding.actor_of(8 * 1024 + 5));
  CHECK(folding.actor_of(8 * 1024 + 8) == folding.actor_of(8 * 1024 + 8 * 700));
  CHECK(folding.actor_of(8 * 1024) != folding.actor_of(8 * 1024 + 8));
  std::int64_t all = 0;
  for (const auto many : folding.multiplicity()) all += many;
  CHECK(all == placement.ranks());
}

TEST_CASE("a second kind of node is a second kind of rank") {
  auto cluster = cluster_of(64);
  cluster.others.push_back({cluster.node, 4});
  const Folding folding(Placement({.tensor = 8, .data = 8}), cluster, one_copy, Ranks::folded);
  CHECK(folding.multiplicity() == std::vector<std::int64_t>{32, 32});
}

}  // namespace folding_spec

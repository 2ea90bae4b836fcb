// SPDX-License-Identifier: Apache-2.0
// Flows that meet no other, and flows that meet others later.
#include <map>
#include <random>

#include "sim/flows/flows.hpp"
#include "tests/catch.hpp"
#include "tests/sim/advance.hpp"

namespace flows_alone_spec {

using namespace sim;

namespace {

using Uses = std::vector<LinkUse>;

// A network in which, if `crowded`, every flow finds another on its path that has nothing to send,
// so that none is ever alone.
class Network {
 public:
  Network(std::span<const double> capacities, bool crowded)
      : network_(capacities), crowded_(crowded) {}

  void start(int name, const Uses& uses, double cap, double bytes, std::int64_t count) {
    const auto path = network_.path(uses, cap);
    if (crowded_) network_.start(path, 0);
    names_[network_.start(path, bytes, count)] = name;
  }
  // The flows that leave until `to`, with their times.
  std::vector<std::pair<SharedNetwork::Ticks, int>> advance(SharedNetwork::Ticks to) {
    std::vector<std::pair<SharedNetwork::Ticks, int>> left;
    for (const auto& [when, flow] : tests::advance(network_, to))
      if (names_.contains(flow)) left.emplace_back(when, names_[flow]);
    return left;
  }
  SharedNetwork& operator*() { return network_; }

 private:
  SharedNetwork network_;
  bool crowded_;
  std::map<FlowId, int> names_;
};

}  // namespace

TEST_CASE("a flow that was alone shares from when another comes, and keeps its bytes until then") {
  // Both flows cross link 0 (10), the first also link 1 (6): it has 6 B/s for 3 s, then both have 5
  // B/s. By then the first has sent 18 of 48 B and needs 6 s more; the second has sent 30 of 50 B
  // after these, and needs 2 s alone.
  SharedNetwork network(std::vector{10.0, 6.0}, 1);
  const auto first = network.start(network.path(Uses{{0}, {1}}), 48);
  CHECK(network.rate(first) == 6.0);
  CHECK(network.load(0) == 6.0);
  CHECK(network.next_completion() == 8);
  tests::advance(network, 3);
  const auto second = network.start(network.path(Uses{{0}}), 50);
  CHECK(network.rate(first) == 5.0);
  CHECK(network.rate(second) == 5.0);
  CHECK(network.load(0) == 10.0);
  CHECK(network.next_completion() == 9);
  CHECK(tests::advance(network, 9).front().flow == first);
  CHECK(network.next_completion() == 11);
}

TEST_CASE("a class alone on a link that it loads twice loads it twice for each of its flows") {
  SharedNetwork network(std::vector{12.0, 100.0}, 1);
  const auto three = network.start(network.path(Uses{{0, 2}, {1}}), 8, 3);
  CHECK(network.rate(three) == 2.0);
  CHECK(network.load(0) == 12.0);
  CHECK(network.load(1) == 6.0);
  CHECK(network.next_completion() == 4);
}

TEST_CASE("alone or not, flows leave in the same tick") {
  const auto seed = GENERATE(range(0u, 300u));
  std::mt19937 random(seed);
  const auto pick = [&](std::size_t n) {
    return std::uniform_int_distribution<std::uint32_t>(0,
                                                        static_cast<std::uint32_t>(n) - 1)(random);
  };
  std::vector<double> capacities(4 + pick(30));
  for (auto& capacity : capacities) capacity = 1e9 * (pick(2) == 0 ? 8 : 1 + pick(20));
  Network lone(capacities, false), crowded(capacities, true);
  int flows = 0;
  for (int event = 0; event < 100; ++event) {
    for (auto n = pick(3); n > 0; --n) {
      Uses uses;
      for (auto hops = 1 + pick(3); hops > 0; --hops)
        uses.push_back({pick(capacities.size()), 1 + pick(2)});
      const double cap = pick(3) == 0 ? 1e8 * (1 + pick(20)) : uncapped;
      const double bytes = 1e3 * pick(30);
      const std::int64_t count = 1 + pick(2);
      for (auto* network : {&lone, &crowded}) network->start(flows, uses, cap, bytes, count);
      ++flows;
    }
    // Networks move on to random instants, and to those at which a flow leaves.
    auto to = (*lone).now() + pick(1'000'000);
    if (const auto next = (*lone).next_completion(); next && pick(2) == 0) to = *next;
    REQUIRE(lone.advance(to) == crowded.advance(to));
    for (std::uint32_t link = 0; link < capacities.size(); ++link)
      REQUIRE_THAT((*lone).load(link), Catch::Matchers::WithinRel((*crowded).load(link), 1e-12));
  }
}

TEST_CASE("one completion at a time, not later than one has time for") {
  SharedNetwork network(std::vector{10.0}, 1);
  const auto path = network.path(Uses{{0}});
  const auto a = network.start(path, 10), b = network.start(path, 30);
  CHECK(network.advance_to_completion(1).empty());
  CHECK(network.now() == 1);
  REQUIRE(network.advance_to_completion(100).size() == 1);
  CHECK(network.now() == 2);
  CHECK(network.rate(a) == 0);
  REQUIRE(network.advance_to_completion(4).size() == 1);
  CHECK(network.rate(b) == 0);
  CHECK(network.advance_to_completion(7).empty());
  CHECK(network.now() == 7);
  CHECK_THROWS_WITH(network.advance_to_completion(6), "time does not go back");
}

}  // namespace flows_alone_spec

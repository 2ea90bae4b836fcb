// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <numeric>
#include <random>

#include "sim/flows/flows.hpp"
#include "tests/catch.hpp"
#include "tests/sim/advance.hpp"
#include "tests/sim/fair_share.hpp"
#include "tests/sim/finish_times.hpp"

namespace flows_spec {

using namespace sim;
using tests::finish_times;
using tests::NetworkFlow;

namespace {

using Ticks = SharedNetwork::Ticks;
using Links = std::vector<std::uint32_t>;
using Catch::Matchers::WithinRel;

struct Live {
  FlowId id;
  Links links;
  double cap, bytes;
  std::int64_t count;
  Ticks start;
};

// Random flows on a random network, and the rates that the slow oracle gives to those under way.
class Playground {
 public:
  explicit Playground(unsigned seed) : random_(seed) {
    // The capacities are few, so that links often fill together.
    capacities.resize(1 + pick(12));
    for (auto& c : capacities) c = 1e9 * (pick(2) == 0 ? 8.0 : 1.0 + static_cast<double>(pick(20)));
    network.emplace(capacities, 1e9);
  }
  std::size_t pick(std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_);
  }
  void start() {
    Links links(capacities.size());
    std::iota(links.begin(), links.end(), 0u);
    std::shuffle(links.begin(), links.end(), random_);
    links.resize(1 + pick(std::min<std::size_t>(links.size(), 5)));
    if (pick(5) == 0) links.push_back(links.front());
    const double cap = pick(3) == 0 ? 1e8 * static_cast<double>(1 + pick(20)) : uncapped;
    const double bytes = 1e6 * static_cast<double>(1 + pick(30));
    const auto count = static_cast<std::int64_t>(1 + pick(3));
    const auto id = network->start(network->path(links, cap), bytes, count);
    live.push_back({id, links, cap, bytes, count, network->now()});
  }
  std::vector<double> oracle() const {
    std::vector<std::vector<std::size_t>> routes;
    std::vector<double> caps;
    std::vector<std::int64_t> counts;
    for (const auto& flow : live) {
      routes.emplace_back(flow.links.begin(), flow.links.end());
      caps.push_back(flow.cap);
      counts.push_back(flow.count);
    }
    return oracle::fair_share(capacities, routes, caps, counts);
  }
  bool as_the_oracle_says() {
    const auto rates = oracle();
    for (std::size_t f = 0; f < live.size(); ++f)
      if (std::abs(network->rate(live[f].id) / rates[f] - 1) > 1e-11) return false;
    return true;
  }

  std::vector<double> capacities;
  std::optional<SharedNetwork> network;
  std::vector<Live> live;

 private:
  std::mt19937 random_;
};

}  // namespace

TEST_CASE("two flows over one link take twice as long") {
  const std::vector<double> capacity{10.0};
  CHECK(finish_times(capacity, std::vector<NetworkFlow>{{{0}, 100}})[0] == 10.0);
  const auto finish = finish_times(capacity, std::vector<NetworkFlow>{{{0}, 100}, {{0}, 100}});
  CHECK(finish == std::vector{20.0, 20.0});
}

TEST_CASE("a flow that leaves gives its share to those that stay") {
  // A link of 10 B/s has a flow of 100 B and, from second 4 on, one of 30 B. The first is alone
  // until 4 and sends 40 B. Then both have 5 B/s, so the second needs 6 s. 30 B are left of the
  // first, which it sends alone in 3 s.
  const auto finish =
      finish_times(std::vector{10.0}, std::vector<NetworkFlow>{{{0}, 100}, {{0}, 30, 4.0}});
  CHECK(finish == std::vector{13.0, 10.0});
}

TEST_CASE("an oversubscribed spine slows only the traffic that crosses it") {
  // Hosts a, b, c are under one leaf, d, e, f under another; NICs have 10, and the spine 10. Flows
  // from a to d and from b to e cross the spine (link 6); c sends to its neighbour a.
  const std::vector<double> capacity{10, 10, 10, 10, 10, 10, 10};
  const auto finish = finish_times(
      capacity, std::vector<NetworkFlow>{{{0, 6, 3}, 100}, {{1, 6, 4}, 100}, {{2, 5}, 100}});
  CHECK(finish == std::vector{20.0, 20.0, 10.0});
}

TEST_CASE("a capped flow leaves the rest of the link to the others") {
  const auto finish =
      finish_times(std::vector{10.0}, std::vector<NetworkFlow>{{{0}, 20, 0, 2.0}, {{0}, 80}});
  CHECK(finish == std::vector{10.0, 10.0});
}

TEST_CASE("a class of four flows is four flows") {
  const auto one_class = finish_times(
      std::vector{10.0}, std::vector<NetworkFlow>{{{0}, 10, 0, uncapped, 4}, {{0}, 20}});
  CHECK(one_class == std::vector{5.0, 6.0});
}

TEST_CASE("a link that a path crosses three times gives a third each time") {
  SharedNetwork network(std::vector{12.0, 100.0}, 1000);
  const auto flow = network.start(network.path(std::vector<LinkUse>{{0, 3}, {1, 1}}), 8);
  CHECK(network.rate(flow) == 4.0);
  CHECK(network.load(0) == 12.0);
  CHECK(network.load(1) == 4.0);
  CHECK(network.next_completion() == 2000);
}

TEST_CASE("the same links in any order, and the same cap, are one path") {
  SharedNetwork network(std::vector{12.0, 100.0});
  const auto path = network.path(Links{0, 1});
  CHECK(network.path(Links{1, 0}) == path);
  CHECK(network.path(std::vector<LinkUse>{{1, 1}, {0, 1}}) == path);
  CHECK(network.path(Links{0, 1}, 3.0) != path);
  CHECK(network.path(Links{0, 1, 1}) != path);
}

TEST_CASE("completions come by time, then in order of start, and are rounded up to a tick") {
  SharedNetwork network(std::vector{3.0, 3.0}, 1);
  const auto a = network.start(network.path(Links{0}), 10);  // in 3.33 s
  const auto b = network.start(network.path(Links{1}), 11);  // in 3.67 s
  const auto c = network.start(network.path(Links{1}, 1.0), 0);
  const auto at_once = tests::advance(network, 0);
  REQUIRE(at_once.size() == 1);
  CHECK(at_once[0] == SharedNetwork::Completion{0, c});
  CHECK(network.next_completion() == 4);
  const auto done = tests::advance(network, 9);
  REQUIRE(done.size() == 2);
  CHECK(done[0] == SharedNetwork::Completion{4, a});
  CHECK(done[1] == SharedNetwork::Completion{4, b});
  CHECK(network.now() == 9);
  CHECK_FALSE(network.next_completion());
  CHECK(network.rate(a) == 0);
  CHECK(network.load(0) == 0);
}

TEST_CASE("after every arrival and departure the rates are those of a full solution") {
  const auto seed = GENERATE(range(0u, 300u));
  Playground play(seed);
  for (int event = 0; event < 120; ++event) {
    if (play.live.empty() || play.pick(2) == 0) {
      for (auto n = play.pick(4); n < 4; ++n) play.start();
    } else {
      for (const auto& done : tests::advance(*play.network, *play.network->next_completion()))
        std::erase_if(play.live, [&](const Live& flow) { return flow.id == done.flow; });
    }
    REQUIRE(play.as_the_oracle_says());
  }
}

TEST_CASE("no link carries more than it can, and a cap or a full link holds every flow") {
  const auto seed = GENERATE(range(0u, 200u));
  Playground play(seed);
  for (int flow = 0; flow < 40; ++flow) play.start();
  auto& network = *play.network;
  std::vector<double> load(play.capacities.size(), 0.0), fastest(load);
  for (const auto& flow : play.live)
    for (const auto link : flow.links) {
      load[link] += network.rate(flow.id) * static_cast<double>(flow.count);
      fastest[link] = std::max(fastest[link], network.rate(flow.id));
    }
  for (std::uint32_t link = 0; link < load.size(); ++link) {
    CHECK(load[link] <= play.capacities[link] * (1 + 1e-12));
    if (load[link] > 0) CHECK_THAT(network.load(link), WithinRel(load[link], 1e-12));
  }
  for (const auto& flow : play.live)
    CHECK((network.rate(flow.id) >= flow.cap * (1 - 1e-12) ||
           std::ranges::any_of(flow.links, [&](auto link) {
             return load[link] >= play.capacities[link] * (1 - 1e-11) &&
                    network.rate(flow.id) >= fastest[link] * (1 - 1e-11);
           })));
}

TEST_CASE("every byte that starts arrives") {
  const auto seed = GENERATE(range(0u, 50u));
  Playground play(seed);
  auto& network = *play.network;
  std::map<FlowId, double> carried;
  for (int event = 0; event < 100 || !play.live.empty(); ++event) {
    if (event < 100 && (play.live.empty() || play.pick(2) == 0)) play.start();
    // Rates hold until the next event, so the bytes until then are their sum.
    const auto before = network.now();
    std::map<FlowId, double> rates;
    for (const auto& flow : play.live) rates[flow.id] = network.rate(flow.id);
    const auto done = tests::advance(network, *network.next_completion());
    for (const auto& [flow, rate] : rates)
      carried[flow] += rate * static_cast<double>(network.now() - before) * 1e-9;
    for (const auto& [when, id] : done) {
      const auto flow = std::ranges::find(play.live, id, &Live::id);
      REQUIRE(flow != play.live.end());
      CHECK(std::abs(carried[id] - flow->bytes) <
            100.0);  // a nanosecond at up to 20 GB/s per event
      play.live.erase(flow);
    }
  }
}

TEST_CASE("a symmetric network, folded into one link of each kind, gives the same ticks") {
  // The full network has links of a few kinds, each as often as there are places on a ring, and one
  // link for all. A flow that starts at one place starts at every place, over links some places on,
  // so all places are alike.
  const auto seed = GENERATE(range(0u, 300u));
  std::mt19937 random(seed);
  const auto pick = [&](std::size_t n) {
    return std::uniform_int_distribution<std::uint32_t>(0,
                                                        static_cast<std::uint32_t>(n) - 1)(random);
  };
  const auto places = 2 + pick(12), kinds = 1 + pick(6), common = kinds * places;
  std::vector<double> one, all;
  for (std::uint32_t kind = 0; kind < kinds; ++kind) {
    one.push_back(1e9 * (1 + pick(4)));
    all.insert(all.end(), places, one.back());
  }
  all.push_back(1e9 * (1 + pick(50)));
  one.push_back(all.back());

  SharedNetwork folded(one), full(all);
  std::map<FlowId, FlowId> folded_of;
  const auto start = [&] {
    std::vector<LinkUse> route;
    for (auto hops = 1 + pick(4); hops > 0; --hops) route.push_back({pick(kinds), 1});
    std::vector<std::uint32_t> shifts;
    for (std::size_t hop = 0; hop < route.size(); ++hop) shifts.push_back(pick(places));
    const bool crosses = pick(4) == 0;
    const double bytes = 1'000 + pick(5) * 777, cap = pick(4) == 0 ? 1e8 * (1 + pick(9)) : uncapped;
    for (std::uint32_t place = 0; place < places; ++place) {
      Links links;
      for (std::size_t hop = 0; hop < route.size(); ++hop)
        links.push_back(route[hop].link * places + (place + shifts[hop]) % places);
      if (crosses) links.push_back(common);
      folded_of[full.start(full.path(links, cap), bytes)] =
          FlowId{static_cast<std::uint32_t>(folded_of.size() / places)};
    }
    if (crosses) route.push_back({kinds, places});
    folded.start(folded.path(route, cap), bytes);
  };
  for (int event = 0; event < 60; ++event) {
    for (auto flows = pick(4); flows > 0; --flows) start();
    const auto when = folded.next_completion();
    REQUIRE(when == full.next_completion());
    if (!when) continue;
    std::vector<FlowId> from_full, from_folded;
    for (const auto& done : tests::advance(full, *when)) from_full.push_back(folded_of[done.flow]);
    for (const auto& done : tests::advance(folded, *when))
      from_folded.insert(from_folded.end(), places, done.flow);
    REQUIRE(from_full == from_folded);
  }
}

TEST_CASE("a thousand flows that all become faster at once still share their link") {
  // A thousand senders of 2^40 B/s each have a flow over one common link of 2^40 B/s, and 4,095
  // flows of their own that end together. A flow gets 2^28 B/s before, 2^40 / 1000 after.
  constexpr std::uint32_t senders = 1000, common = senders;
  SharedNetwork network(std::vector<double>(senders + 1, 0x1p40));
  std::vector<FlowId> crossing;
  for (std::uint32_t sender = 0; sender < senders; ++sender) {
    crossing.push_back(network.start(network.path(Links{sender, common}), 0x1p60));
    network.start(network.path(Links{sender}), 0x1p28, 4095);
  }
  CHECK(network.rate(crossing.front()) == 0x1p28);
  CHECK(network.load(common) == 1000 * 0x1p28);
  CHECK(tests::advance(network, *network.next_completion()).size() == senders);
  for (const auto flow : crossing) CHECK_THAT(network.rate(flow), WithinRel(0x1p40 / 1000, 1e-12));
  CHECK_THAT(network.load(common), WithinRel(0x1p40, 1e-12));
}

TEST_CASE("impossible networks and flows are refused") {
  CHECK_THROWS_WITH(SharedNetwork(std::vector{1.0, 0.0}),
                    "a link must have a finite capacity above zero");
  CHECK_THROWS_WITH(SharedNetwork(std::vector{1e12, 1.0}),
                    "capacities must be within a factor 2^36 of one another");
  SharedNetwork network(std::vector{1.0});
  CHECK_THROWS_WITH(network.path(Links{}), "a path must cross at least one link");
  CHECK_THROWS_WITH(network.path(Links{1}), "a path crosses an unknown link");
  CHECK_THROWS_WITH(network.path(Links{0}, 0), "a cap must be above zero");
  CHECK_THROWS_WITH(network.path(std::vector<LinkUse>{{0, 0}}),
                    "a path loads each of its links at least once");
  const auto path = network.path(Links{0});
  CHECK_THROWS_WITH(network.start(path, -1),
                    "a flow must have bytes, at least zero and not too many to count");
  CHECK_THROWS_WITH(network.start(path, 1, 0), "a flow must stand for at least one");
  CHECK_THROWS_WITH(network.start(PathId{7}, 1), "a flow must have a path of its network");
  CHECK_THROWS_WITH(network.start(path, 1, std::int64_t{1} << 31),
                    "a link can carry at most 2^31 - 1 flows");
  tests::advance(network, 5);
  CHECK_THROWS_WITH(tests::advance(network, 4), "time does not go back");
  CHECK_THROWS_WITH(network.load(1), "there is no such link");
  CHECK_THROWS_WITH(finish_times(std::vector{1.0}, std::vector<NetworkFlow>{{{0}, 1, -1.0}}),
                    "a flow must not start before time zero");
}

}  // namespace flows_spec

// SPDX-License-Identifier: Apache-2.0
// The ranks and nodes that tokens reach, and how unequally ranks are loaded.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "plans/expert_loads.hpp"
#include "plans/routing.hpp"
#include "tests/catch.hpp"

namespace routing_spec {

using namespace strategies;
using model::Moe;

namespace {

Routing grouped(std::int64_t groups, std::int64_t top_groups) {
  return {.locality = Locality::group_limited, .groups = groups, .top_groups = top_groups};
}

unsigned ones(unsigned count) { return (1u << count) - 1; }

// The mean number of parts hit, by counting every set of groups, and every set of experts in them.
double hit_by_counting(unsigned experts, unsigned top_k, unsigned groups, unsigned top_groups,
                       unsigned parts) {
  const unsigned size = experts / groups, width = experts / parts;
  double hit = 0, sets = 0;
  for (unsigned chosen = 0; chosen < 1u << groups; ++chosen) {
    if (std::popcount(chosen) != static_cast<int>(top_groups)) continue;
    unsigned open = 0;
    for (unsigned g = 0; g < groups; ++g)
      if (chosen >> g & 1) open |= ones(size) << (g * size);
    for (unsigned token = 0; token < 1u << experts; ++token) {
      if (std::popcount(token) != static_cast<int>(top_k) || (token & ~open) != 0) continue;
      ++sets;
      for (unsigned part = 0; part < parts; ++part)
        hit += (token >> (part * width) & ones(width)) != 0;
    }
  }
  return hit / sets;
}

double neighbours_by_counting(std::int64_t experts, std::int64_t top_k, std::int64_t parts) {
  double hit = 0;
  const auto width = experts / parts;
  for (std::int64_t token = 0; token < experts; ++token) {
    std::vector<bool> reached(static_cast<std::size_t>(parts));
    for (std::int64_t i = 0; i < top_k; ++i)
      reached[static_cast<std::size_t>((token * top_k + i) % experts / width)] = true;
    hit += static_cast<double>(std::ranges::count(reached, true));
  }
  return hit / static_cast<double>(experts);
}

// The least load of the fullest rank, over all ways to hold equally many experts.
double least_by_trying(const std::vector<double>& shares, std::size_t ranks) {
  std::vector<std::size_t> rank_of;
  for (std::size_t i = 0; i < shares.size(); ++i) rank_of.push_back(i / (shares.size() / ranks));
  double least = 1;
  do {
    std::vector<double> held(ranks, 0);
    for (std::size_t i = 0; i < shares.size(); ++i) held[rank_of[i]] += shares[i];
    least = std::min(least, std::ranges::max(held));
  } while (std::ranges::next_permutation(rank_of).found);
  return least * static_cast<double>(ranks);
}

Routing histogram(std::vector<double> shares) {
  return {.skew = Skew::histogram, .shares = std::move(shares)};
}

Routing power_law(double exponent, double spread = 10'000) {
  return {.skew = Skew::power_law, .exponent = exponent, .spread = spread};
}

}  // namespace

TEST_CASE("tokens limited to groups of experts reach so many parts on the average") {
  const auto top_k = GENERATE(1u, 2u, 3u), top_groups = GENERATE(1u, 2u, 3u);
  const auto [experts, groups] =
      GENERATE(std::pair(12u, 4u), std::pair(12u, 3u), std::pair(8u, 4u));
  const auto parts = GENERATE(1u, 2u, 3u, 4u, 6u);
  if (experts % parts != 0 || top_groups * (experts / groups) < top_k) return;
  CHECK(parts_hit({.experts = experts, .top_k = top_k}, grouped(groups, top_groups), parts) ==
        Approx(hit_by_counting(experts, top_k, groups, top_groups, parts)));
}

TEST_CASE("all groups of experts are no limit") {
  const Moe deepseek{.experts = 256, .top_k = 8};
  for (const double parts : {1.0, 2.0, 8.0, 32.0, 64.0, 256.0})
    CHECK(parts_hit(deepseek, grouped(8, 8), parts) == Approx(parts_hit(deepseek, {}, parts)));
}

TEST_CASE("4 of 8 groups on 8 nodes are at most 4 nodes; any experts would be on 5.3") {
  const Moe deepseek{.experts = 256, .top_k = 8};
  // A token misses a node of a chosen group with probability C(96, 8) / C(128, 8).
  double missed = 1;
  for (int i = 0; i < 8; ++i) missed *= (96.0 - i) / (128.0 - i);
  CHECK(parts_hit(deepseek, grouped(8, 4), 8) == Approx(4 * (1 - missed)));
  CHECK(parts_hit(deepseek, grouped(8, 4), 8) == Approx(3.63).margin(0.01));
  CHECK(parts_hit(deepseek, {}, 8) == Approx(5.3).margin(0.05));
  CHECK(parts_hit(deepseek, grouped(8, 1), 8) == Approx(1));
}

TEST_CASE("a gate of neighbours reaches the ranks between which its experts lie") {
  CHECK(parts_hit({.experts = 256, .top_k = 8}, {.locality = Locality::neighbours}, 64) == 2);
  CHECK(parts_hit({.experts = 256, .top_k = 8}, {.locality = Locality::neighbours}, 8) == 1);
  const auto experts = GENERATE(4, 6, 12, 24), top_k = GENERATE(1, 2, 3, 4);
  for (int parts = 1; parts <= experts; ++parts)
    if (experts % parts == 0)
      CHECK(parts_hit({.experts = experts, .top_k = top_k}, {.locality = Locality::neighbours},
                      parts) == Approx(neighbours_by_counting(experts, top_k, parts)));
}

TEST_CASE("experts share all token copies, and none sees a token twice") {
  const Moe moe{.experts = 4, .top_k = 2};
  CHECK(expert_shares(moe, {}) == std::vector{0.25, 0.25, 0.25, 0.25});
  const auto shares = expert_shares(moe, histogram({4, 3, 2, 1}));
  for (std::size_t i = 0; i < 4; ++i)
    CHECK(shares[i] == Approx(0.4 - 0.1 * static_cast<double>(i)));
  // An expert can have at most half of the copies; the others keep their proportions.
  CHECK(expert_shares(moe, histogram({18, 1, 1, 2})) == std::vector{0.5, 0.125, 0.125, 0.25});
  for (const double exponent : {0.0, 0.5, 1.0, 1.2, 2.0}) {
    const auto law = expert_shares({.experts = 256, .top_k = 8}, power_law(exponent));
    CHECK(std::accumulate(law.begin(), law.end(), 0.0) == Approx(1));
    CHECK(std::ranges::is_sorted(law, std::greater<>()));
    CHECK(law.front() <= 0.125 * (1 + 1e-12));
  }
}

TEST_CASE("the fullest rank has the most popular experts that stand together") {
  const Moe moe{.experts = 4, .top_k = 2};
  const auto loads = expert_loads(moe, histogram({4, 3, 2, 1}), 2);
  CHECK(loads.fullest == 1.4);
  CHECK(loads.own == 1);
  CHECK(loads.quantiles == std::array{1.4, 1.4, 1.4, 1.4});
  CHECK(expert_loads(moe, histogram({4, 3, 2, 1}), 1).fullest == 1);
  CHECK(expert_loads(moe, histogram({7, 7, 7, 7}), 4).fullest == 1);
}

TEST_CASE("token copies that an expert has no room for are dropped") {
  const Moe moe{.experts = 4, .top_k = 2, .capacity_factor = 1.2};
  const auto loads = expert_loads(moe, histogram({4, 3, 2, 1}), 2);  // each has room for 0.3
  CHECK(loads.dropped == Approx(0.1));
  CHECK(loads.own == 0.9);
  CHECK(loads.fullest == 1.2);
}

TEST_CASE("experts that are padded to their capacity have it as their load, and drop as many") {
  Moe moe{.experts = 4, .top_k = 2, .capacity_factor = 1.2, .pad_to_capacity = true};
  const auto loads = expert_loads(moe, histogram({4, 3, 2, 1}), 2);
  CHECK(loads.dropped == Approx(0.1));
  CHECK(loads.own == 1.2);
  CHECK(loads.fullest == 1.2);
  CHECK(loads.quantiles == std::array{1.2, 1.2, 1.2, 1.2});
  moe.imbalance = 3;
  CHECK(expert_loads(moe, {}, 2).fullest == 1.2);
  moe.capacity_factor.reset();  // without room of their own they have their tokens
  CHECK(expert_loads(moe, {}, 2).fullest == 3);
}

TEST_CASE("experts placed greedily even out the ranks") {
  const std::vector shares{0.4, 0.3, 0.2, 0.1};
  const auto placed = place_experts(shares, 2);
  CHECK(placed.rank_of == std::vector<std::int64_t>{0, 1, 1, 0});
  CHECK(placed.fullest == Approx(1));
  CHECK(placed.bound == Approx(1));
  auto routing = histogram({4, 3, 2, 1});
  routing.placement = ExpertPlacement::greedy;
  CHECK(expert_loads({.experts = 4, .top_k = 2}, routing, 2).fullest == 1);
}

TEST_CASE("no placement beats the bound, and the greedy one is within a third of the best") {
  std::mt19937 random(5);
  std::exponential_distribution<double> popularity;
  for (int i = 0; i < 60; ++i) {
    const std::size_t ranks = i % 2 == 0 ? 2 : 4, experts = 8;
    std::vector<double> shares(experts);
    for (auto& share : shares) share = popularity(random);
    const double all = std::accumulate(shares.begin(), shares.end(), 0.0);
    for (auto& share : shares) share /= all;
    const auto best = least_by_trying(shares, ranks);
    const auto placed = place_experts(shares, static_cast<std::int64_t>(ranks));
    CHECK(placed.bound <= best * (1 + 1e-12));
    CHECK(placed.fullest >= best * (1 - 1e-12));
    CHECK(placed.fullest <= best * 4 / 3);
  }
}

TEST_CASE("a steeper or wider power law, and more ranks, fill the fullest rank no less") {
  const Moe moe{.experts = 64, .top_k = 4};
  for (const std::int64_t ranks : {2, 8, 32}) {
    double before = 1;
    for (const double spread : {1.0, 3.0, 30.0, 1000.0, 1e5}) {
      const auto loads = expert_loads(moe, power_law(1.2, spread), ranks);
      CHECK(loads.fullest >= before);
      CHECK(std::ranges::is_sorted(loads.quantiles));
      CHECK(expert_loads(moe, power_law(1.2, spread), 2 * ranks).fullest >= loads.fullest);
      before = loads.fullest;
    }
    before = 1;
    for (const double exponent : {0.0, 0.4, 0.8, 1.0, 1.2, 1.6})
      CHECK(std::exchange(before, expert_loads(moe, power_law(exponent), ranks).fullest) <=
            expert_loads(moe, power_law(exponent), ranks).fullest);
  }
}

TEST_CASE("quantiles of a power law load ranks as numbers drawn from it do") {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> below;
  const auto [ranks, mean] = GENERATE(std::pair(8, 1.87), std::pair(32, 4.0));
  double drawn = 0;
  const int layers = 400;
  for (int layer = 0; layer < layers; ++layer) {
    std::vector<double> popular(256);
    for (auto& one : popular) one = std::pow(1 + below(random) * (std::pow(1e4, -0.2) - 1), -5);
    double most = 0, all = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      const auto each = 256 / ranks;
      const double held =
          std::accumulate(popular.begin() + rank * each, popular.begin() + (rank + 1) * each, 0.0);
      most = std::max(most, held), all += held;
    }
    drawn += most / all * ranks / layers;
  }
  const auto loads = expert_loads({.experts = 256, .top_k = 8}, power_law(1.2), ranks);
  CHECK(loads.fullest == Approx(drawn).epsilon(0.05));
  CHECK(loads.fullest == Approx(mean).epsilon(0.05));
}

TEST_CASE("no placement gets below the most popular expert beside the least popular ones") {
  const auto placed = place_experts(std::vector{0.7, 0.1, 0.1, 0.1}, 2);
  CHECK(placed.fullest == Approx(1.6));  // (0.7 + 0.1) · 2
  CHECK(placed.bound == Approx(1.6));
}

}  // namespace routing_spec

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <random>

#include "search/solvers/frontier.hpp"
#include "tests/catch.hpp"

namespace frontier_spec {

using namespace search;

namespace {

using Options = std::vector<Price>;

Price add(Price a, const Price& b) {
  a.kept += b.kept;
  a.forward += b.forward;
  a.backward += b.backward;
  a.weight += b.weight;
  a.transient = std::max(a.transient, b.transient);
  return a;
}

// The frontier by brute force: every combination of options, and every pair of these compared.
Options brute_force(const std::vector<Options>& layers) {
  Options all{{}};
  for (const auto& options : layers) {
    Options longer;
    for (const auto& price : all)
      for (const auto& option : options) longer.push_back(add(price, option));
    all = longer;
  }
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  Options best;
  for (const auto& price : all)
    if (std::ranges::none_of(
            all, [&](const Price& other) { return other != price && no_worse(other, price); }))
      best.push_back(price);
  return best;
}

// Random options that differ in `axes` of the four coordinates beside `kept`.
Options random_options(std::mt19937& random, int axes) {
  const auto draw = [&](int most) {
    return static_cast<std::int64_t>(random() % static_cast<unsigned>(most + 1));
  };
  Options options;
  for (std::int64_t count = 1 + draw(3); count > 0; --count)
    options.push_back(
        {draw(6), axes > 1 ? draw(5) : 3, draw(9), axes > 2 ? draw(3) : 1, axes > 3 ? draw(4) : 0});
  return options;
}

Options points(const Frontiers& pool, FrontierId id) {
  return {pool.points(id).begin(), pool.points(id).end()};
}

}  // namespace

TEST_CASE("a frontier of one layer leaves out options that are no better in anything") {
  Frontiers pool;
  // The options keep all, keep half, recompute all, and keep all but run slower.
  const Options options{{8, 1, 2, 0, 0}, {4, 1, 3, 0, 0}, {0, 1, 4, 0, 2}, {8, 1, 3, 0, 0}};
  const auto id = pool.of(options);
  CHECK(points(pool, id) == Options{options[2], options[1], options[0]});
  CHECK(pool.within(id, -1) == 0);
  CHECK(pool.within(id, 4) == 2);
  CHECK(pool.within(id, 1000) == 3);
}

TEST_CASE("two layers that keep 4 or recompute in 1 make three points") {
  Frontiers pool;
  const Options options{{4, 1, 2, 0, 0}, {0, 1, 3, 0, 0}};
  const auto layer = pool.of(options);
  const auto both = pool.sum(layer, layer);
  CHECK(points(pool, both) == Options{{0, 2, 6, 0, 0}, {4, 2, 5, 0, 0}, {8, 2, 4, 0, 0}});
  CHECK(pool.choices(both, 0) == std::vector<Choice>{{1, 1}, {1, 1}});
}

TEST_CASE("sums hold the points that trying every combination finds, and their choices") {
  std::mt19937 random(1);
  for (int trial = 0; trial < 300; ++trial) {
    Frontiers pool;
    std::vector<Options> layers;
    auto row = pool.nothing();
    for (int layer = 0, count = 1 + trial % 5; layer < count; ++layer) {
      layers.push_back(random_options(random, 1 + trial / 5 % 4));
      row = pool.sum(row, pool.of(layers.back()));
    }
    REQUIRE(points(pool, row) == brute_force(layers));
    for (std::size_t point = 0; point < pool.points(row).size(); ++point) {
      const auto choices = pool.choices(row, point);
      REQUIRE(choices.size() == layers.size());
      Price sum;
      for (std::size_t layer = 0; layer < layers.size(); ++layer)
        sum = add(sum, layers[layer][static_cast<std::size_t>(choices[layer].option)]);
      REQUIRE(sum == pool.points(row)[point]);
    }
  }
}

TEST_CASE("a checkpointed segment stands beside its layers one by one") {
  Frontiers pool;
  const Options layer{{10, 2, 4, 0, 0}, {2, 2, 6, 0, 8}};  // keep all, or keep the input
  const Options segment{{2, 4, 12, 0, 16}};                // two layers that keep one input
  const auto single = pool.of(layer);
  const std::vector<FrontierId> ways{pool.sum(single, single), pool.of(segment, 2)};
  const auto row = pool.either(ways);
  CHECK(points(pool, row) ==
        Options{{2, 4, 12, 0, 16}, {4, 4, 12, 0, 8}, {12, 4, 10, 0, 8}, {20, 4, 8, 0, 0}});
  CHECK(pool.choices(row, 0) == std::vector<Choice>{{2, 0}});
  CHECK(pool.choices(row, 1) == std::vector<Choice>{{1, 1}, {1, 1}});
}

TEST_CASE("a row with a layer that cannot be run has no points") {
  Frontiers pool;
  const Options layer{{1, 1, 1, 1, 0}};
  CHECK(pool.points(pool.sum(pool.of(layer), pool.of({}))).empty());
}

TEST_CASE("making a frontier is given up once that is asked for") {
  std::atomic<bool> stop = false;
  Frontiers pool(&stop);
  const auto layer = pool.of(Options{{.kept = 2, .forward = 1}, {.kept = 1, .forward = 2}});
  CHECK(pool.points(pool.sum(layer, layer)).size() == 3);
  stop = true;
  CHECK_THROWS_AS(pool.sum(layer, layer), Stopped);
}

}  // namespace frontier_spec

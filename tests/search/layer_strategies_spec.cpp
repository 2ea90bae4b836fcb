// SPDX-License-Identifier: Apache-2.0
// These tests fail if a capacity is off by one.
#include <functional>
#include <random>

#include "tests/catch.hpp"
#include "tests/search/layer_strategies.hpp"
#include "tests/search/oracle.hpp"

namespace layer_strategies_spec {

using namespace search;

namespace {

StrategyLayer layer_of(const std::string& text) {
  const auto parts = oracle::split(text, '|');
  StrategyLayer layer{oracle::numbers(parts[0]), oracle::numbers(parts[1]),
                      oracle::numbers(parts[2])};
  if (layer.switching.size() == 1) layer.switching.clear();
  return layer;
}

Picoseconds switching(const StrategyLayer& layer, std::size_t from, std::size_t to) {
  return layer.switching.empty() ? 0 : layer.switching[from * layer.time.size() + to];
}

void check_claims(const std::vector<StrategyLayer>& layers, ByteCount capacity,
                  const StrategyChoice& choice) {
  StrategyChoice sum;
  REQUIRE(choice.strategies.size() == layers.size());
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const auto s = static_cast<std::size_t>(choice.strategies[l]);
    sum.time += layers[l].time[s];
    sum.memory += layers[l].memory[s];
    if (l > 0)
      sum.time += switching(layers[l], static_cast<std::size_t>(choice.strategies[l - 1]), s);
  }
  CHECK(sum.time == choice.time);
  CHECK(sum.memory == choice.memory);
  CHECK(sum.memory <= capacity);
}

std::optional<Picoseconds> brute_force(const std::vector<StrategyLayer>& layers,
                                       ByteCount capacity) {
  std::optional<Picoseconds> best;
  const std::function<void(std::size_t, std::size_t, ByteCount, Picoseconds)> place =
      [&](std::size_t l, std::size_t before, ByteCount left, Picoseconds time) {
        if (left < 0) return;
        if (l == layers.size()) {
          if (!best || time < *best) best = time;
          return;
        }
        for (std::size_t s = 0; s < layers[l].time.size(); ++s)
          place(l + 1, s, left - layers[l].memory[s],
                time + layers[l].time[s] + (l > 0 ? switching(layers[l], before, s) : 0));
      };
  place(0, 0, capacity, 0);
  return best;
}

std::vector<StrategyLayer> random_layers(std::mt19937& random, std::size_t count,
                                         std::size_t strategies) {
  const auto draw = [&](unsigned most) { return static_cast<std::int64_t>(random() % (most + 1)); };
  std::vector<StrategyLayer> layers(count);
  for (auto& layer : layers) {
    for (std::size_t s = 0; s < strategies; ++s) {
      layer.memory.push_back(draw(9));
      layer.time.push_back(draw(30));
    }
    for (std::size_t s = 0; s < strategies * strategies; ++s)
      layer.switching.push_back(s % (strategies + 1) == 0 ? 0 : draw(8));
  }
  return layers;
}

}  // namespace

TEST_CASE("strategies of layers equal the known optima, those without memory included") {
  int rows = 0;
  for (const auto& cells : oracle::rows_of("layer_strategy.csv")) {
    INFO("instance " << cells[0]);
    std::vector<StrategyLayer> layers;
    for (const auto& layer : oracle::split(cells[5], ';')) layers.push_back(layer_of(layer));
    const auto capacity = std::stoll(cells[1]) - std::stoll(cells[2]);
    const auto choice = layer_strategies(layers, capacity);
    const auto optimum = oracle::optimum(cells[4]);
    REQUIRE(choice.has_value() == optimum.has_value());
    if (optimum) {
      CHECK(choice->time + std::stoll(cells[3]) == *optimum);
      check_claims(layers, capacity, *choice);
    }
    ++rows;
  }
  CHECK(rows == 82);
}

TEST_CASE("strategies equal trying all, and more memory is never slower") {
  std::mt19937 random(12);
  for (int trial = 0; trial < 200; ++trial) {
    const auto layers = random_layers(random, 1 + random() % 5, 1 + random() % 4);
    std::optional<Picoseconds> before;
    for (ByteCount capacity = 0; capacity < 40; capacity += 3) {
      const auto choice = layer_strategies(layers, capacity);
      const auto best = brute_force(layers, capacity);
      REQUIRE(choice.has_value() == best.has_value());
      if (!best) continue;
      REQUIRE(choice->time == *best);
      check_claims(layers, capacity, *choice);
      CHECK((!before || *before >= *best));
      before = best;
    }
  }
}

TEST_CASE("a thousand times the time and the bytes change nothing but the scale") {
  std::mt19937 random(13);
  for (int trial = 0; trial < 50; ++trial) {
    auto layers = random_layers(random, 12, 4);
    const auto small = layer_strategies(layers, 30);
    for (auto& layer : layers) {
      for (auto* list : {&layer.memory, &layer.time, &layer.switching})
        for (auto& value : *list) value *= 1'000'000'007;
    }
    const auto large = layer_strategies(layers, 30 * std::int64_t{1'000'000'007});
    REQUIRE(small.has_value() == large.has_value());
    if (small) CHECK(large->time == small->time * 1'000'000'007);
  }
}

TEST_CASE("layers must agree on how many strategies there are") {
  const std::vector<StrategyLayer> layers{{{1, 2}, {1, 2}, {}}, {{1}, {1}, {}}};
  CHECK_THROWS_WITH(layer_strategies(layers, 10),
                    "every layer needs a time and a memory for every strategy");
}

}  // namespace layer_strategies_spec
